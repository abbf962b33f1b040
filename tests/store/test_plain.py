"""The fast reader says what tomllib says, or nothing; what was read is written again as it was."""

import tomllib
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.origin import Origin
from mcptask.protocol.questions import Answer
from mcptask.store import format, plain
from mcptask.store.records import CallRecord, State, TaskRecord

NOON = datetime(2026, 9, 12, 12, tzinfo=UTC)
FULL = State(
    next_ref=4,
    tasks=(
        TaskRecord(
            ref=1,
            task_id='q"uote\\d',
            status="working",
            status_message="two\nlines\x1b, ünï \U0001f600",
            origin=Origin(command=("sh", "-c", 'exit "3"\\'), cwd="/x"),
            created_at=NOON,
            seen_at=NOON.replace(microsecond=120),
            tool_error=True,
            answered={"a-b": Answer("9f"), "c": Answer("3c", {"action": "accept"})},
        ),
        TaskRecord(ref=2, task_id="t", status="completed", origin=Origin(server="studio")),
    ),
    calls=(CallRecord(ref=3, tool="reflow", sent_at=NOON, extra={"mood": "ok", "n": -1.5}),),
    extra={"colour": "green", "own": {"x": 1}},
)
PLAIN = replace(
    FULL, calls=(replace(FULL.calls[0], extra={"mood": "ok"}),), extra={"colour": "green"}
)


def as_tomllib(text: str) -> object:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def agrees(text: str) -> bool:
    found = plain.read(text)
    return found is None or found.tables == as_tomllib(text)


def test_what_we_write_is_read_without_tomllib_and_says_the_same() -> None:
    text = format.dumps(PLAIN).decode()
    found = plain.read(text)
    assert found is not None
    assert found.tables == tomllib.loads(text)
    assert format.loads(text.encode()) == (PLAIN, [])
    assert format.loads(format.dumps(FULL)) == (FULL, [])


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\na = 2\n",
        "a = 01\n",
        "a = 2026-02-31T00:00:00Z\n",
        "a = 2026-02-01T24:00:00Z\n",
        'a = "\\x"\n',
        'a = ["x"]\n',
        'a = [\n    "x"\n',
        'a = [\n    "x",\n',
        'a = [\n    "\\q",\n]\n',
        "tasks = 1\n[[tasks]]\n",
        'tasks = [\n    "x",\n]\n[[tasks]]\n',
        "[[tasks]]\nquestions = 1\n[tasks.questions.a]\n",
        "[[tasks]]\n[tasks.questions.a]\n[tasks.questions.a]\n",
        "[tasks.questions.a]\n",
        "[[tasks]]\n[[calls]]\n[tasks.questions.a]\n",
        "[[tasks]]\n[tasks.other]\n",
        "[own]\nx = 1\n",
        "# a comment\n",
        "a = '''\n[[tasks]]\n'''\n",
        'a = """\n[[tasks]]\n"""\n',
        "a = 1\r\n",
        "a = \u0661\n",
    ],
)
def test_what_is_not_plain_is_left_to_tomllib(text: str) -> None:
    assert plain.read(text) is None


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "a = true\nb = false", "[[calls]]\n[[tasks]]\nref = 1\n[[calls]]\n", "7 = 0"],
)
def test_what_is_plain_is_read(text: str) -> None:
    found = plain.read(text)
    assert found is not None
    assert found.tables == tomllib.loads(text)


LINES = st.sampled_from(
    [
        *format.dumps(FULL).decode().splitlines(),
        *(
            "[[tasks]]",
            "[[calls]]",
            "[tasks.questions.a]",
            "[tasks]",
            "tasks = 7",
            "",
            "]",
            "a = [",
        ),
        *(
            '    "x",',
            '"""',
            "'''",
            "a = '''",
            'a = """',
            "# x",
            "ref = 1",
            "a.b = 1",
            'x = "\\u00e9"',
        ),
    ]
)


@given(st.lists(LINES, max_size=25))
def test_lines_in_any_order_are_read_as_tomllib_reads_them_or_not_at_all(lines: list[str]) -> None:
    assert agrees("\n".join(lines))


@given(st.integers(0, 2000), st.integers(0, 20), st.text(max_size=4))
def test_a_slip_of_the_hand_is_read_as_tomllib_reads_it_or_not_at_all(
    at: int, cut: int, put: str
) -> None:
    text = format.dumps(FULL).decode()
    assert agrees(text[:at] + put + text[at + cut :])


@given(st.text(max_size=20), st.text("abc[]=\"'\\#\n \t\r\x7f\x85\u2028é", max_size=12))
def test_any_text_that_is_written_comes_back(key: str, value: str) -> None:
    for extra in ({"v": value}, {"v": [value, "x"]}, {"v": {key or "k": value}}, {key: 1}):
        record = CallRecord(ref=1, extra=extra)
        state = State(next_ref=2, calls=(record,))
        known = {
            "ref",
            "tool",
            "server",
            "url",
            "command",
            "cwd",
            "protocol",
            "bearer_env",
            "sent_at",
        }
        if not known & {key} and not any("\ud800" <= c <= "\udfff" for c in key + value):
            assert format.loads(format.dumps(state)) == (state, [])


def test_what_did_not_change_is_written_as_it_was_there() -> None:
    text = format.dumps(PLAIN).decode().replace(" 12:00:00+00:00", "T12:00:00Z")
    before = format.loaded(text.encode())
    changed = replace(before.state.tasks[1], status="failed")
    after = replace(before.state, tasks=(before.state.tasks[0], changed))
    data, texts = format.written(after, before.texts)
    assert format.loads(data) == (after, [])
    assert "created_at = 2026-09-12T12:00:00Z" in data.decode()
    assert format.written(after, texts)[0] == data


def test_a_number_given_anew_is_written_anew() -> None:
    before = format.loaded(
        b'[[tasks]]\nref = 1\ntask_id = "a"\n[[tasks]]\nref = 1\ntask_id = "b"\n'
    )
    data, _ = format.written(before.state, before.texts)
    assert [task["ref"] for task in tomllib.loads(data.decode())["tasks"]] == [1, 2]


def test_one_record_of_a_persons_own_making_has_all_written_by_the_book() -> None:
    odd = replace(FULL.calls[0], extra={"x": [1, {"y": 2}]})
    data, texts = format.written(replace(FULL, calls=(odd,)), {})
    assert texts == {}
    assert format.loads(data) == (replace(FULL, calls=(odd,)), [])


def test_a_text_that_ends_in_the_middle_of_a_list_is_left_to_tomllib():
    text = format.dumps(PLAIN).decode()
    cut = text[: text.index("command = [") + len('command = [\n    "sh",\n')]
    assert plain.read(cut) is None
    assert plain.read(cut.rstrip()) is None
