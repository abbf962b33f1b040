from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from render_samples import APPROVE, asking, task

from mcptask import errors
from mcptask.protocol.outcome import (
    Outcome,
    outcome_of_error,
    outcome_of_result,
    outcome_of_task,
)
from mcptask.render import contract
from mcptask.render.jsonout import document, documents, dump, line, list_document
from mcptask.render.report import Report, ServerInfo
from tests.e2e.documents import DOCUMENT, DOCUMENTS, LISTED

SERVER = ServerInfo("studio", "https://studio.example/mcp", "2026-07-28")
RESULT = {"content": [{"type": "text", "text": "ok"}], "structuredContent": {"n": 1}, "_meta": {}}


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


LOGIN = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://x.example/"}}
SEVERAL = {"login": LOGIN, "approve": APPROVE, "roots": {"method": "roots/list"}}


@pytest.mark.parametrize(
    ("requests", "update"),
    [
        ({"approve": APPROVE}, {"approve": "mcptask update 7 action=waitlist"}),
        (
            SEVERAL,
            {
                "login": "mcptask update 7 --key login --accept",
                "approve": "mcptask update 7 --key approve action=waitlist",
                "roots": "mcptask update 7 --responses '{\"roots\": …}'",
            },
        ),
    ],
)
def test_open_questions_are_in_the_error_as_they_were_sent_with_the_line_for_each_a12_11(
    requests: Any, update: Any
) -> None:
    outcome = outcome_of_task(asking(**requests))
    made = document(Report(outcome, SERVER, 7))
    assert made["exitCode"] == 3
    assert made["error"] is not None
    assert made["error"]["data"] == {"inputRequests": requests, "update": update}
    assert outcome.error is not None
    assert outcome.error.data == {"inputRequests": requests}  # the report itself is as it was


def test_the_line_finds_a_task_that_is_not_stored() -> None:
    made = document(Report(OUTCOMES["asking"], SERVER, None, where="-s https://x.example/mcp"))
    assert made["error"] is not None
    line = "mcptask update tsk_8f21c0ffee action=waitlist -s https://x.example/mcp"
    assert made["error"]["data"]["update"] == {"approve": line}


def test_before_there_is_a_task_each_question_has_its_line_for_a_file_of_answers() -> None:
    data = {"inputRequests": {"approve": APPROVE}}
    made = document(Report(outcome_of_error(errors.AnswerNeeded("it asks", data=data))))
    assert made["error"] is not None
    entry = 'approve = { action = "waitlist|refund|keep" }'
    assert made["error"]["data"] == {**data, "answers": {"approve": entry}}


def test_an_error_of_the_server_stays_as_it_was_sent_whatever_is_in_it() -> None:
    data = {"inputRequests": {"approve": APPROVE}}
    foreign = outcome_of_task(task("failed", error={"code": 1, "message": "m", "data": data}))
    made = document(Report(foreign, SERVER, 7))
    assert made["error"] is not None
    assert made["error"]["data"] == data


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
    call: contract.CallBody = {
        "ref": None,
        "server": server,
        "tool": "t",
        "sentAt": "now",
        "hint": "look",
    }
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
    written = json.JSONEncoder.iterencode

    def shallow(encoder: json.JSONEncoder, value: Any, one_shot: bool = False) -> Iterator[str]:
        if encoder.indent:
            raise RecursionError
        return written(encoder, value, one_shot)

    monkeypatch.setattr("mcptask.render.jsonout.json.JSONEncoder.iterencode", shallow)
    assert dump({"a": [1]}) == '{"a": [1]}'


def test_any_mapping_is_an_object() -> None:
    assert line({"a": MappingProxyType({"b": 1})}) == '{"a": {"b": 1}}'


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError):
        line(object())
