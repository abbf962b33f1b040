from __future__ import annotations

import io
import json
import typing
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
import typing_extensions
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ConfigDict, TypeAdapter, ValidationError
from render_samples import APPROVE, HOSTILE, SUBJECT, Ticking, asking, task

from mcptask import errors
from mcptask.protocol.events import (
    Answered,
    Created,
    Ended,
    Heard,
    InputRequired,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.outcome import (
    Outcome,
    outcome_of_error,
    outcome_of_result,
    outcome_of_task,
)
from mcptask.render import contract
from mcptask.render.jsonlines import JsonLinesReporter, end_line
from mcptask.render.jsonout import document, documents, dump, event_line, line, list_document
from mcptask.render.report import Report, ServerInfo

SERVER = ServerInfo("studio", "https://studio.example/mcp", "2026-07-28")
RESULT = {"content": [{"type": "text", "text": "ok"}], "structuredContent": {"n": 1}, "_meta": {}}


def strict(kind: Any) -> Any:
    """The same type, refusing every key that it does not name and every conversion."""
    if typing.is_typeddict(kind):
        hints = {name: strict(hint) for name, hint in typing.get_type_hints(kind).items()}
        closed = typing_extensions.TypedDict(kind.__name__, hints)  # type: ignore[misc]
        closed.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[attr-defined]
        return closed
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is list:
        return list[strict(arguments[0])]  # type: ignore[misc]
    if arguments and any(typing.is_typeddict(argument) for argument in arguments):
        return typing.Union[tuple(map(strict, arguments))]  # noqa: UP007
    return kind


DOCUMENT = TypeAdapter(strict(contract.Document))
DOCUMENTS = TypeAdapter(strict(contract.Documents))
LISTED = TypeAdapter(strict(contract.ListDocument))
EVENT = TypeAdapter(strict(contract.TaskEventLine))

OUTCOMES: dict[str, Outcome] = {
    "completed": outcome_of_result(RESULT, task("completed", result=RESULT)),
    "answered at once": outcome_of_result(RESULT),
    "tool error": outcome_of_result({"isError": True, "content": []}, task("completed")),
    "working": outcome_of_task(task()),
    "status of a newer server": outcome_of_task(task("queued")),
    "asking": outcome_of_task(asking()),
    "failed": outcome_of_task(task("failed", error={"code": -32603, "message": "m", "data": 0})),
    "cancelled": outcome_of_task(task("cancelled")),
}


def all_errors(kind: type[errors.McptaskError] = errors.McptaskError) -> list[Any]:
    return [kind, *(child for each in kind.__subclasses__() for child in all_errors(each))]


def raised(kind: Any) -> errors.McptaskError:
    if kind is errors.RpcError:
        return errors.RpcError(-32050, "quota", data={"left": 0})
    if kind is errors.HttpRefused:
        return errors.HttpRefused("502", status=502)
    return typing.cast("errors.McptaskError", kind("message", hint="hint"))


@pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)
def test_every_outcome_makes_a_document_of_the_contract(outcome: Outcome) -> None:
    made = document(Report(outcome, SERVER, 7, "reflow_month", ("careful",)))
    DOCUMENT.validate_python(made)
    DOCUMENT.validate_json(dump(made))
    assert made["ok"] == (made["exitCode"] == 0)


@pytest.mark.parametrize("kind", all_errors())
def test_every_error_of_the_tree_makes_a_document_of_the_contract(kind: Any) -> None:
    made = document(Report(outcome_of_error(raised(kind), None)))
    DOCUMENT.validate_python(made)
    assert made["task"] is None
    assert made["server"] is None
    assert made["exitCode"] != 0


def test_the_contract_refuses_missing_unknown_and_wrong_keys() -> None:
    made: dict[str, Any] = {**document(Report(OUTCOMES["working"], SERVER, 7))}
    for wrong in (
        {key: value for key, value in made.items() if key != "ref"},
        {**made, "more": 1},
        {**made, "exitCode": "0"},
        {**made, "error": {"kind": "oops", "message": "", "code": None, "data": 1, "hint": None}},
    ):
        with pytest.raises(ValidationError):
            DOCUMENT.validate_python(wrong)


def test_the_document_is_the_one_that_the_contract_shows() -> None:
    made = document(Report(OUTCOMES["completed"], SERVER, 7, "reflow_month", ("careful",)))
    assert made == {
        "mcptask": 1,
        "ok": True,
        "outcome": "completed",
        "exitCode": 0,
        "server": {
            "name": "studio",
            "endpoint": "https://studio.example/mcp",
            "protocolVersion": "2026-07-28",
        },
        "ref": 7,
        "task": task("completed").raw,
        "result": RESULT,
        "error": None,
        "warnings": ["careful"],
    }


def test_the_questions_still_open_are_in_the_error_as_they_were_sent() -> None:
    made = document(Report(OUTCOMES["asking"], SERVER, 7))
    assert made["error"] is not None
    assert made["error"]["data"] == {"inputRequests": {"approve": APPROVE}}
    assert made["exitCode"] == 3


def test_several_reports_make_one_document_with_the_exit_code_of_the_command() -> None:
    made = documents([Report(OUTCOMES["completed"]), Report(OUTCOMES["failed"])], 4)
    DOCUMENTS.validate_python(made)
    assert (made["ok"], made["exitCode"], len(made["tasks"])) == (False, 4, 2)


def test_the_list_document_is_typed_too() -> None:
    server: contract.ServerBody = {"name": None, "endpoint": "e", "protocolVersion": None}
    record: contract.RecordBody = {
        "ref": 7,
        "taskId": "t",
        "server": server,
        "tool": None,
        "status": "working",
        "statusMessage": None,
        "outcome": None,
        "createdAt": None,
        "seenAt": None,
        "ttlMs": None,
        "pollIntervalMs": None,
        "answered": [],
    }
    call: contract.CallBody = {"ref": None, "server": server, "tool": "t", "sentAt": "now"}
    LISTED.validate_python(list_document([record], [call]))


# ── writing ──────────────────────────────────────────────────────────────────────────────────────

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_what_came_in_goes_out(value: Any) -> None:
    assert json.loads(dump(value)) == value
    assert json.loads(line(value)) == value


@given(JSON)
def test_json_is_printable_ascii_and_a_json_line_is_one_line(value: Any) -> None:
    assert all(character == "\n" or " " <= character <= "~" for character in dump(value))
    assert all(" " <= character <= "~" for character in line(value))


def test_control_characters_and_lone_surrogates_are_escaped_and_kept() -> None:
    assert line("\x7f\x9b\x1b\u202e\ud800") == r'"\u007f\u009b\u001b\u202e\ud800"'


def test_numbers_beyond_a_float_stay_json() -> None:
    value = json.loads('[1e999, -1e999, 12345678901234567890, 1.0, "Infinity NaN"]')
    assert line(value) == '[1e999, -1e999, 12345678901234567890, 1.0, "Infinity NaN"]'
    assert line({'"NaN': float("nan")}) == '{"\\"NaN": null}'


def test_nesting_too_deep_to_indent_is_written_compactly(monkeypatch: pytest.MonkeyPatch) -> None:
    written = json.dumps

    def shallow(value: Any, *, indent: int | None, **how: Any) -> str:
        if indent:
            raise RecursionError
        return written(value, **how)

    monkeypatch.setattr("mcptask.render.jsonout.json.dumps", shallow)
    assert dump({"a": [1]}) == '{"a": [1]}'


def test_any_mapping_is_an_object() -> None:
    assert line({"a": MappingProxyType({"b": 1})}) == '{"a": {"b": 1}}'


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError):
        line(object())


# ── events ───────────────────────────────────────────────────────────────────────────────────────

AT = datetime(2026, 9, 12, 9, 0, 5, 120_000, tzinfo=UTC)
EVENTS: dict[str, tuple[TaskEvent, dict[str, Any]]] = {
    "created": (Created(task()), {"tool": "reflow_month", "server": "studio"}),
    "status": (
        StatusChanged(task(message="m"), 9.0),
        {"status": "working", "statusMessage": "m", "task": task().raw},
    ),
    "input_required": (
        InputRequired(asking(), {"approve": APPROVE}),
        {"inputRequests": {"approve": APPROVE}},
    ),
    "answered": (Answered(("approve",)), {"keys": ["approve"]}),
    "retrying": (
        Retrying("refused", 2, 108.0, float("inf")),
        {
            "reason": "refused",
            "attempt": 2,
            "retryAt": "2026-09-12T09:00:13.120Z",
            "giveUpAt": None,
        },
    ),
    "reconnected": (Reconnected(72.5), {"awayMs": 72500}),
    "warning": (Warned("careful"), {"message": "careful"}),
}


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_its_line(name: str) -> None:
    event, expected = EVENTS[name]
    made = event_line(3, AT, SUBJECT, event, now=100.0)
    assert made is not None
    EVENT.validate_python(made)
    head = {"mcptask": 1, "event": name, "seq": 3, "at": "2026-09-12T09:00:05.120Z"}
    assert made.items() >= {**head, "ref": 7, "taskId": "tsk_8f21c0ffee"}.items()
    assert {key: made[key] for key in expected} == expected


def test_an_answer_without_news_gives_no_line() -> None:
    assert event_line(1, AT, SUBJECT, Heard(task(), 9.0)) is None
    assert event_line(1, AT, SUBJECT, Listening(push=True, why="it does", next_poll=110.0)) is None


def test_json_lines_are_flushed_numbered_and_end_with_the_document() -> None:
    flushed: list[str] = []

    class Stream(io.StringIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())

    stream, ticking = Stream(), Ticking()
    reporter = JsonLinesReporter(stream, ticking.clock, io.StringIO())
    reporter.show(SUBJECT, Created(task()))
    reporter.show(SUBJECT, Heard(task(), 9.0))
    reporter.show(SUBJECT, StatusChanged(task(message=HOSTILE), 9.0))
    reporter.show(SUBJECT, Ended(OUTCOMES["completed"]))
    report = Report(OUTCOMES["completed"], SERVER, 7, "reflow_month")
    reporter.end(report)
    reporter.close()
    stream.write(end_line(documents([report], 0), reporter.printed + 1, ticking.wall()))
    lines = [json.loads(each) for each in stream.getvalue().splitlines()]
    for each in lines:
        EVENT.validate_python(each)
    assert [each["event"] for each in lines] == ["created", "status", "ended", "ended"]
    assert [each["seq"] for each in lines] == [1, 2, 3, 4]
    assert lines[2]["document"] == document(report)
    assert lines[2]["taskId"] == "tsk_8f21c0ffee"
    assert lines[3]["document"]["tasks"] == [document(report)]
    assert lines[1]["statusMessage"] == HOSTILE
    assert [text.count("\n") for text in flushed] == [1, 2, 3]


def test_a_remark_is_for_people_and_never_among_the_json_lines() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    reporter = JsonLinesReporter(stdout, Ticking().clock, stderr)
    reporter.note(f"warning: {HOSTILE}")
    reporter.tick()
    assert (stdout.getvalue(), reporter.printed, reporter.stays) == ("", 0, False)
    assert stderr.getvalue().startswith("warning: ")
    assert stderr.getvalue()[:-1].isprintable()


def test_a_reader_that_went_away_is_not_hidden() -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        JsonLinesReporter(Broken(), Ticking().clock, io.StringIO()).end(Report(OUTCOMES["working"]))
