"""How things end: outcome names and exit codes."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.errors import (
    AnswerNeeded,
    ExitCode,
    Interrupted,
    McptaskError,
    ProtocolError,
    RpcError,
    TaskLost,
    TimedOut,
    Unauthorized,
    Unreachable,
    UsageError,
)
from mcptask.protocol.outcome import (
    Problem,
    exit_code_of_many,
    first_text,
    outcome_of_error,
    outcome_of_result,
    outcome_of_task,
)
from mcptask.protocol.questions import Answer
from tests.protocol.fakes import QUESTION, RESULT, task

FAULTY = {"isError": True, "content": [{"type": "text", "text": "disk full"}]}


@pytest.mark.parametrize(
    ("status", "fields", "name", "exit_code"),
    [
        ("completed", {"result": RESULT}, "completed", 0),
        ("completed", {"result": FAULTY}, "tool_error", 1),
        ("completed", {}, "completed", 0),
        ("failed", {"error": {"code": -32603, "message": "boom"}}, "failed", 4),
        ("failed", {}, "failed", 4),
        ("cancelled", {}, "cancelled", 5),
        ("input_required", {"input_requests": {"room": QUESTION}}, "input_required", 3),
        ("working", {}, "working", 0),
        ("queued", {}, "queued", 0),
    ],
)
def test_a_snapshot_means_its_status_and_a_tool_that_failed_is_no_success(
    status: str, fields: dict[str, Any], name: str, exit_code: int
) -> None:
    outcome = outcome_of_task(task(status, **fields))
    assert (outcome.name, outcome.exit_code) == (name, exit_code)
    assert outcome.task == task(status, **fields)
    assert outcome.ok is (exit_code == 0)


def test_a_result_that_was_never_sent_is_not_made_up_a9_7() -> None:
    assert outcome_of_task(task("completed")).result is None


def test_a_tools_own_error_is_told_in_its_first_words() -> None:
    outcome = outcome_of_result(FAULTY)
    assert outcome.result is FAULTY
    assert outcome.error == Problem(kind="tool", message="disk full")


@pytest.mark.parametrize("content", [[], None, "text", [{"text": 5}, "text"], [{"text": ""}]])
def test_a_tool_error_without_words_still_has_a_message(content: Any) -> None:
    error = outcome_of_result({"isError": True, "content": content}).error
    assert error is not None
    assert error.message == "the tool reported an error"


def test_the_first_text_is_found_behind_other_blocks() -> None:
    blocks = [{"type": "image", "data": ""}, {"type": "text", "text": "a"}, {"text": "b"}]
    assert first_text({"content": blocks}) == "a"


@pytest.mark.parametrize("flag", [False, None, "true", 1])
def test_only_true_is_an_error_flag(flag: Any) -> None:
    assert outcome_of_result({"isError": flag}).ok


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"error": {"code": -32603, "message": "boom", "data": 1}}, -32603, "boom"),
        ({"error": {"code": True, "message": ""}, "status_message": "no disk"}, None, "no disk"),
        ({"error": {"code": "E1", "message": {"a": 1}}}, None, "{'a': 1}"),
        ({"status_message": "no disk"}, None, "no disk"),
        ({}, None, "the task failed"),
    ],
)
def test_a_failed_task_always_has_a_message_a9_7_t7(
    fields: dict[str, Any], code: int | None, message: str
) -> None:
    error = outcome_of_task(task("failed", **fields)).error
    assert error is not None
    assert (error.kind, error.code, error.message) == ("jsonrpc", code, message)


def test_only_questions_that_are_still_open_are_named_a12_4() -> None:
    asking = task("input_required", input_requests={"room": QUESTION, "fee": QUESTION})
    error = outcome_of_task(asking, {"fee": Answer()}).error
    assert error is not None
    assert error.data == {"inputRequests": {"room": QUESTION}}


@pytest.mark.parametrize(
    ("error", "name", "exit_code"),
    [
        (UsageError("?"), "usage", 2),
        (AnswerNeeded("?"), "input_required", 3),
        (RpcError(-32602, "no"), "protocol", 9),
        (TaskLost("?"), "lost", 6),
        (Unreachable("?"), "unreachable", 7),
        (Unauthorized("?"), "unauthorized", 8),
        (ProtocolError("?"), "protocol", 9),
        (McptaskError("?"), "internal", 70),
        (TimedOut("?"), "timeout", 124),
        (Interrupted("?"), "interrupted", 130),
        (Interrupted("?", signum=15), "interrupted", 143),
    ],
)
def test_every_error_has_an_outcome_and_an_exit_code_and_keeps_the_task(
    error: McptaskError, name: str, exit_code: int
) -> None:
    outcome = outcome_of_error(error, task())
    assert (outcome.name, outcome.exit_code, outcome.task) == (name, exit_code, task())
    assert outcome.error is not None
    assert outcome.error.code == (-32602 if isinstance(error, RpcError) else None)


@pytest.mark.parametrize(
    ("codes", "exit_code"),
    [
        ([], 0),
        ([0, 0], 0),
        ([0, 124], 124),
        ([124, 3], 3),
        ([3, 5], 5),
        ([5, 1], 1),
        ([1, 4], 4),
        ([4, 6], 6),
        ([6, 7], 7),
        ([7, 8], 8),
        ([8, 9], 9),
        ([0, 70], 70),
        ([2, 0], 2),
    ],
)
def test_of_several_the_gravest_decides_and_one_the_table_lacks_is_no_success(
    codes: list[int], exit_code: int
) -> None:
    assert exit_code_of_many(map(ExitCode, codes)) == exit_code
