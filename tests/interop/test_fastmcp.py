"""The real CLI against FastMCP's tasks, over HTTP and stdio: the contract as a script sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.interop.conftest import Cli
from tests.interop.programs import Program

pytestmark = pytest.mark.interop

MOVED = {"month": "2026-09", "moved": 138, "unresolved": 4}
TOOLS = ["reflow_month", "failing", "broken", "ask", "slow", "ask_first", "quick"]

Front = tuple[str, str]


def text_of(document: dict[str, Any]) -> str:
    return "".join(block.get("text", "") for block in document["result"]["content"])


# ── over both transports, in one process ─────────────────────────────────────────────────────────


def test_a_task_is_followed_to_its_result(mcptask: Cli, front: Front) -> None:
    run = mcptask("call", "reflow_month", "month=2026-09", "seconds=2", "--wait", "--json", *front)
    assert run.rc == 0, run
    document = run.json
    assert (document["mcptask"], document["ok"], document["exitCode"]) == (1, True, 0)
    assert document["outcome"] == "completed"
    assert document["error"] is None
    assert document["ref"] == 1
    assert document["server"]["protocolVersion"] == "2026-07-28"
    assert document["task"]["status"] == "completed"
    assert document["result"]["structuredContent"] == MOVED


def test_the_document_shows_what_the_server_sent_untouched(mcptask: Cli, front: Front) -> None:
    run = mcptask("call", "reflow_month", "month=2026-09", "seconds=0", "--wait", "--json", *front)
    task = run.json["task"]
    assert task["ttlMs"] == 900000
    assert task["pollIntervalMs"] == 1000
    assert task["createdAt"].endswith("+00:00")
    assert task["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "Studio"


def test_without_a_terminal_progress_is_lines_on_stderr_and_the_result_is_alone_on_stdout(
    mcptask: Cli, front: Front
) -> None:
    run = mcptask("call", "reflow_month", "month=2026-09", "seconds=3", "--wait", *front)
    assert run.rc == 0, run
    assert "of 142 bookings" in run.stderr
    assert "bookings" not in run.stdout
    assert '"moved":138' in run.stdout.replace(" ", "")
    assert "\x1b" not in run.stdout + run.stderr


def test_the_events_begin_with_created_and_end_with_the_whole_document(
    mcptask: Cli, front: Front
) -> None:
    run = mcptask("call", "reflow_month", "month=2026-09", "seconds=3", "--wait", "--jsonl", *front)
    events = run.events
    assert events[0]["event"] == "created"
    assert events[-1]["event"] == "ended"
    assert "status" in [event["event"] for event in events]
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
    assert len({event["taskId"] for event in events}) == 1
    assert MOVED in [value.get("structuredContent") for value in dicts_in(events[-1])]


def dicts_in(value: Any) -> list[dict[str, Any]]:
    """Every object inside a JSON value: cli.md leaves open where `ended` carries the document."""
    if isinstance(value, list):
        return [found for item in value for found in dicts_in(item)]
    if isinstance(value, dict):
        return [value, *(found for item in value.values() for found in dicts_in(item))]
    return []


def test_a_tool_that_fails_is_a_completed_task_and_exit_1(mcptask: Cli, front: Front) -> None:
    run = mcptask("call", "failing", "--wait", "--json", *front)
    assert run.rc == 1, run
    document = run.json
    assert (document["ok"], document["outcome"]) == (False, "tool_error")
    assert document["task"]["status"] == "completed"
    assert document["result"]["isError"] is True
    assert document["error"]["kind"] == "tool"
    assert "the ledger is closed" in text_of(document)


def test_a_protocol_error_in_the_task_is_failed_and_exit_4(mcptask: Cli, front: Front) -> None:
    run = mcptask("call", "broken", "--wait", "--json", *front)
    assert run.rc == 4, run
    document = run.json
    assert (document["ok"], document["outcome"]) == (False, "failed")
    assert document["result"] is None
    error = document["error"]
    assert (error["kind"], error["code"], error["data"]) == ("jsonrpc", -32050, {"limit": 3})
    assert "quota exceeded" in error["message"]


def test_a_tool_that_answers_at_once_makes_no_task(mcptask: Cli, front: Front) -> None:
    run = mcptask("call", "quick", "name=01234", "--json", *front)
    assert run.rc == 0, run
    assert run.json["task"] is None
    assert text_of(run.json) == "Hello, 01234!"
    assert mcptask("list", "--json").json["tasks"] == []


def test_a_question_with_nobody_to_answer_is_exit_3_and_is_shown(
    mcptask: Cli, front: Front
) -> None:
    run = mcptask("call", "ask", "--wait", "--json", *front)
    assert run.rc == 3, run
    document = run.json
    assert (document["ok"], document["outcome"]) == (False, "input_required")
    assert document["error"]["kind"] == "input"
    (question,) = document["error"]["data"]["inputRequests"].values()
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"].startswith("4 bookings fit nowhere")


def test_a_tool_that_asks_before_it_answers_gets_its_answers_from_a_file_a8_4(
    mcptask: Cli, front: Front, tmp_path: Path
) -> None:
    answers = tmp_path / "answers.toml"
    answers.write_text('who = { text = "Kim \u00e9" }\nwhy = { text = "paint" }\n', "utf-8")
    run = mcptask("call", "ask_first", "room=a", "--answers", str(answers), "--json", *front)
    assert run.rc == 0, run
    assert text_of(run.json) == "a: Kim \u00e9 because paint"
    answers.write_text('who = "decline"\n')
    run = mcptask("call", "ask_first", "room=a", "--answers", str(answers), "--json", *front)
    assert (run.rc, text_of(run.json)) == (0, "a stays as it is")
    run = mcptask("call", "ask_first", "room=a", "--json", *front)
    assert (run.rc, list(run.json["error"]["data"]["inputRequests"])) == (3, ["who"])


def test_tools_lists_what_the_server_offers_and_their_arguments(mcptask: Cli, front: Front) -> None:
    listed = mcptask("tools", *front)
    assert listed.rc == 0, listed
    assert [name for name in TOOLS if name not in listed.stdout] == []
    one = mcptask("tools", "reflow_month", *front)
    assert one.rc == 0, one
    assert "month" in one.stdout
    assert "seconds" in one.stdout


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["reflow_mont", "month=2026-09"], "reflow_month"),
        (["reflow_month", "moth=2026-09"], "month"),
        (["reflow_month"], "month"),
        (["slow", "seconds=soon"], "number"),
    ],
    ids=["unknown tool", "unknown argument", "missing argument", "wrong type"],
)
def test_a_bad_call_is_refused_before_it_is_sent(
    mcptask: Cli, url: str, argv: list[str], said: str
) -> None:
    run = mcptask("call", *argv, "--json", "--server", url)
    assert run.rc == 2, run
    assert run.json["error"]["kind"] == "usage"
    assert said in run.json["error"]["message"] + (run.json["error"]["hint"] or "")
    assert mcptask("list", "--json").json["tasks"] == []


# ── over HTTP: the task outlives the process that started it ─────────────────────────────────────


def started(mcptask: Cli, url: str, *argv: str) -> str:
    """Starts a task and leaves it running; its id, which must be all that is on stdout."""
    run = mcptask("call", *argv, "--server", url)
    assert run.rc == 0, run
    task_id = run.stdout.rstrip("\n")
    assert len(task_id) == 43, run
    return task_id


def test_a_task_left_running_is_found_again_by_a_new_process(mcptask: Cli, url: str) -> None:
    task_id = started(mcptask, url, "reflow_month", "month=2026-09", "seconds=3")
    first = mcptask("get", "1", "--json").json
    assert first["task"]["status"] == "working"
    run = mcptask("watch", "--json", "--", task_id)  # an id may begin with a dash
    assert run.rc == 0, run
    assert run.json["task"]["taskId"] == task_id
    assert run.json["result"]["structuredContent"] == MOVED


def test_a_question_is_answered_from_another_process(mcptask: Cli, url: str) -> None:
    assert mcptask("call", "ask", "--wait", "--server", url).rc == 3
    run = mcptask("update", "last", "action=refund", "limit=2", "--wait", "--json")
    assert run.rc == 0, run
    assert text_of(run.json) == "bookings: {'action': 'refund', 'limit': 2}"


def test_a_declined_question_lets_the_task_decide(mcptask: Cli, url: str) -> None:
    assert mcptask("call", "ask", "--wait", "--server", url).rc == 3
    run = mcptask("update", "last", "--decline", "--wait", "--json")
    assert run.rc == 0, run
    assert text_of(run.json) == "left as it is"


@pytest.mark.parametrize("answer", ["action=burn", "limit=2", "colour=red"])
def test_an_answer_that_the_question_does_not_allow_is_not_sent(
    mcptask: Cli, url: str, answer: str
) -> None:
    assert mcptask("call", "ask", "--wait", "--server", url).rc == 3
    assert mcptask("update", "last", answer).rc == 2
    assert mcptask("get", "last", "--json").json["task"]["status"] == "input_required"


def test_cancel_waits_for_the_state_that_really_came(mcptask: Cli, url: str) -> None:
    started(mcptask, url, "slow")
    run = mcptask("cancel", "last", "--wait", "--json")
    assert run.rc == 5, run
    assert run.json["outcome"] == "cancelled"
    assert run.json["task"]["status"] == "cancelled"
    assert mcptask("get", "last", "--exit-status").rc == 5


def test_cancel_without_waiting_is_a_request_that_was_sent(mcptask: Cli, url: str) -> None:
    started(mcptask, url, "slow")
    assert mcptask("cancel", "last").rc == 0


def test_an_id_that_the_server_does_not_know_is_lost(mcptask: Cli, url: str) -> None:
    run = mcptask("get", "no-such-task-at-all", "--json", "--server", url)
    assert run.rc == 6, run
    document = run.json
    assert (document["ok"], document["outcome"]) == (False, "lost")
    assert document["error"]["kind"] == "lost"


def test_running_out_of_patience_leaves_the_task_running(mcptask: Cli, url: str) -> None:
    mcptask("call", "slow", "--server", url)
    run = mcptask("watch", "last", "--timeout", "1", "--json")
    assert run.rc == 124, run
    assert run.json["error"]["kind"] == "timeout"
    assert mcptask("get", "last", "--json").json["task"]["status"] == "working"
    assert mcptask("cancel", "last", "--wait").rc == 5


def test_an_ended_task_is_told_again_when_its_server_is_gone(
    mcptask: Cli, own_server: Program
) -> None:
    started(mcptask, own_server.url, "reflow_month", "month=2026-09", "seconds=0")
    assert mcptask("watch", "last").rc == 0
    own_server.stop()
    run = mcptask("get", "last", "--json")
    assert run.rc == 0, run
    assert run.json["result"]["structuredContent"] == MOVED


def test_a_server_that_is_gone_is_unreachable_and_its_task_has_not_failed(
    mcptask: Cli, own_server: Program
) -> None:
    started(mcptask, own_server.url, "slow")
    own_server.stop()
    run = mcptask("get", "last", "--json")
    assert run.rc == 7, run
    assert run.json["error"]["kind"] == "unreachable"
    (record,) = mcptask("list", "--json").json["tasks"]
    assert "working" in record.values()


def test_a_server_that_forgot_its_tasks_has_lost_them(mcptask: Cli, own_server: Program) -> None:
    started(mcptask, own_server.url, "slow")
    own_server.stop()
    own_server.start()
    run = mcptask("watch", "last", "--json")
    assert run.rc == 6, run
    assert run.json["error"]["kind"] == "lost"


# ── over stdio: these tasks live in memory and die with the process ──────────────────────────────


def test_a_task_left_in_a_stdio_server_is_lost_and_the_text_says_so(
    mcptask: Cli, stdio: Front
) -> None:
    assert mcptask("call", "slow", *stdio).rc == 0
    run = mcptask("get", "last")
    assert run.rc == 6, run
    assert run.stdout == ""
    assert "no longer knows" in run.stderr
    assert mcptask("get", "last", "--json").json["error"]["kind"] == "lost"


def test_a_task_that_ended_over_stdio_is_told_again_without_its_server(
    mcptask: Cli, stdio: Front
) -> None:
    command = ("reflow_month", "month=2026-09", "seconds=0", "--wait", *stdio)
    assert mcptask("call", *command).rc == 0
    run = mcptask("get", "last", "--json")
    assert run.rc == 0, run
    assert run.json["result"]["structuredContent"] == MOVED
