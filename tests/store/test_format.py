import tomllib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.errors import StateError
from mcptask.origin import Origin
from mcptask.protocol.questions import Answer
from mcptask.store.format import Damaged, dumps, loads
from mcptask.store.records import LARGEST_INTEGER, CallRecord, State, TaskRecord

# Lone surrogates too, but not the private characters that stand for them in the file.
characters = st.characters() | st.characters(categories=["Cs"])
characters = characters.filter(lambda one: one < "\U0010d800")
anything = st.text(characters)
some_text = st.none() | anything
moments = st.none() | st.datetimes(timezones=st.just(UTC))
numbers = st.none() | st.integers(0, LARGEST_INTEGER)
origins = st.builds(
    Origin,
    server=some_text,
    url=some_text,
    command=st.lists(anything, max_size=3).map(tuple),
    cwd=some_text,
    bearer_env=some_text,
)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | anything,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(anything, inner, max_size=2),
    max_leaves=4,
)
responses = st.dictionaries(anything, values, max_size=2)
ledgers = st.dictionaries(anything, st.builds(Answer, some_text, st.none() | responses), max_size=3)
extras = st.dictionaries(
    st.sampled_from(["note", "x-y", "a key"]),
    st.integers(-9, 9)
    | st.text("ab\n")
    | st.lists(st.booleans(), max_size=2)
    | st.just({"a": {"b": 1}}),
    max_size=2,
)
tasks = st.builds(
    TaskRecord,
    ref=st.just(0),
    task_id=st.text(characters, min_size=1),
    origin=origins,
    protocol=some_text,
    tool=some_text,
    status=st.text(characters, min_size=1),
    status_message=some_text,
    created_at=moments,
    ttl_ms=numbers,
    poll_interval_ms=numbers,
    seen_at=moments,
    ended_at=moments,
    lost_at=moments,
    tool_error=st.none() | st.just(True),
    answered=ledgers,
    extra=extras,
)
calls = st.builds(
    CallRecord,
    ref=st.just(0),
    origin=origins,
    protocol=some_text,
    tool=some_text,
    sent_at=moments,
    extra=extras,
)


def numbered(task_list, call_list, extra):
    total = len(task_list) + len(call_list)
    refs = iter(range(1, total + 1))
    return State(
        next_ref=total + 1,
        tasks=tuple(replace(task, ref=next(refs)) for task in task_list),
        calls=tuple(replace(call, ref=next(refs)) for call in call_list),
        extra=extra,
    )


states = st.builds(numbered, st.lists(tasks, max_size=3), st.lists(calls, max_size=2), extras)


@settings(max_examples=15)
@given(states)
def test_every_state_survives_being_written_and_read(state):
    data = dumps(state)
    tomllib.loads(data.decode())
    assert loads(data) == (state, [])


def read(text):
    return loads(text.encode())


def written(state):
    return tomllib.loads(dumps(state).decode())


def rewritten(text):
    return written(read(text)[0])


def test_a_task_is_written_under_a_heading_as_people_would():
    call = CallRecord(
        ref=1,
        origin=Origin(server="s"),
        protocol="2026-07-28",
        tool="t",
        sent_at=datetime(2026, 9, 12, 9, 0, 0, 123456, UTC),
    )
    assert (
        dumps(State(next_ref=2, calls=(call,))).decode()
        == """\
version = 1
next_ref = 2

[[calls]]
ref = 1
server = "s"
protocol = "2026-07-28"
tool = "t"
sent_at = 2026-09-12 09:00:00.123456+00:00
"""
    )


def test_unknown_keys_survive_at_every_level():
    text = 'version = 1\nnext_ref = 9\nnew = "a"\n[[tasks]]\nref = 1\ntask_id = "t"\nstatus = "working"\n'
    text += "owner = {name = 'x', deep = [1, {a = 2}]}\n[[calls]]\nref = 2\nwhy = 1.5\n"
    assert rewritten(text) == tomllib.loads(text)


def test_a_field_of_the_wrong_type_reads_as_not_given_and_survives_until_there_is_a_value():
    text = """
[[tasks]]
ref = 1
task_id = "t"
status = 5
ttl_ms = "long"
poll_interval_ms = -1
created_at = "2026-09-12"
seen_at = 2026-09-12
answered = ["a", 1]
server = {name = "studio"}
command = "uvx"
"""
    state, warnings = read(text)
    (task,) = state.tasks
    assert warnings == []
    assert (task.status, task.ttl_ms, task.poll_interval_ms) == ("unknown", None, None)
    assert (task.created_at, task.seen_at, task.answered) == (None, None, {})
    assert task.origin == Origin()
    original = tomllib.loads(text)["tasks"][0]
    assert rewritten(text)["tasks"][0] == original | {"status": "unknown"}
    mended = State(tasks=(replace(task, ttl_ms=7),))
    assert written(mended)["tasks"][0]["ttl_ms"] == 7


def test_moments_without_a_zone_count_as_utc_and_impossible_ones_are_left_alone():
    text = '[[tasks]]\nref = 1\ntask_id = "t"\nseen_at = 2026-09-12T09:00:00\n'
    text += "created_at = 0001-01-01T00:00:00+10:00\nended_at = 2026-09-12T09:00:00-02:00\n"
    (task,) = read(text)[0].tasks
    assert task.seen_at == datetime(2026, 9, 12, 9, tzinfo=UTC)
    assert task.ended_at == datetime(2026, 9, 12, 11, tzinfo=UTC)
    assert task.created_at is None
    assert rewritten(text)["tasks"][0]["created_at"].utcoffset() == timedelta(hours=10)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[[tasks]]\nref = 1\n", "number 1 has no usable task_id"),
        ('[[tasks]]\ntask_id = "a"\n[[tasks]]\ntask_id = ""\n', "number 2 has no usable task_id"),
        ("[[tasks]]\ntask_id = 5\n", "no usable task_id"),
        ("tasks = 3\n", "tasks is not a list"),
        ("calls = [1]\n", "calls is not a list"),
        ('version = "1"\n', "version is '1'"),
        ("version = true\n", "version is True"),
        ("version = 0\n", "version is 0"),
    ],
)
def test_a_file_of_another_shape_is_damaged(text, problem):
    with pytest.raises(Damaged, match=problem):
        read(text)


def test_a_newer_version_is_refused():
    with pytest.raises(StateError, match="newer mcptask") as caught:
        read("version = 2\n")
    assert "upgrade" in caught.value.hint


def test_numbers_that_are_there_twice_or_not_at_all_are_given_anew_in_file_order():
    text = "next_ref = 3\n"
    for ref in ("ref = 5", "ref = 2", "ref = 5", "ref = 'x'", "ref = 0", f"ref = {10**19}"):
        text += f'[[tasks]]\n{ref}\ntask_id = "{ref[-1]}"\n'
    text += "[[calls]]\nref = 2\n"
    state, warnings = read(text)
    assert [task.ref for task in state.tasks] == [5, 2, 6, 7, 8, 9]
    assert [call.ref for call in state.calls] == [10]
    assert state.next_ref == 11
    assert len(warnings) == 5
    assert warnings[0] == "number 5 is there twice: the later one is 6 now"
    assert read(text) == (state, warnings)


def test_the_next_number_is_never_one_that_is_taken():
    assert read('next_ref = 1\n[[tasks]]\nref = 4\ntask_id = "t"\n')[0].next_ref == 5
    assert read("next_ref = -1\n")[0].next_ref == 1
    assert read(f"next_ref = {10**30}\n")[0].next_ref == 1


def test_an_integer_beyond_64_bits_is_no_duration_and_survives():
    text = f'next_ref = 2\n[[tasks]]\nref = 1\ntask_id = "t"\nttl_ms = {10**30}\n'
    (task,) = read(text)[0].tasks
    assert task.ttl_ms is None
    assert rewritten(text)["tasks"][0]["ttl_ms"] == 10**30
