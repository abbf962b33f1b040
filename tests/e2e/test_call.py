"""`mcptask call`: what a person and a script get from it."""

import json
from pathlib import Path

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    TOOL,
    Json,
    Scripted,
    asking,
    completed,
    created,
    now,
    result,
    tool_result,
)


def test_a_call_left_running_prints_the_id_alone_and_says_how_to_come_back(
    on_server: Cli, server: Scripted
) -> None:
    ran = on_server("call", "job", "month=2026-09")
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert f"Task 1 is working on {server.name}" in ran.err
    assert "mcptask watch 1" in ran.err


def test_a_waited_call_prints_the_result_on_stdout_and_its_progress_on_stderr(
    on_server: Cli, server: Scripted
) -> None:
    said = "Reflowing 96 of 142 bookings"
    server.on("tasks/get", now("working", statusMessage=said), completed())
    ran = on_server("call", "job", "month=2026-09", "--wait")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert f"job on {server.name} is task 1 ({ID})" in ran.err
    assert f"working · {said}" in ran.err
    assert all(line.startswith("mcptask: ") for line in ran.err.splitlines())


def test_a_call_that_is_answered_at_once_leaves_no_record(on_server: Cli, server: Scripted) -> None:
    server.on("tools/call", result(**tool_result("done")))
    assert on_server("call", "job", "month=x").out == "done\n"
    ran = on_server("call", "job", "month=x", "--json").document
    assert (ran["task"], ran["ref"], ran["outcome"]) == (None, None, "completed")
    assert on_server("list", "--json").listed == {"mcptask": 1, "tasks": [], "calls": []}


def test_the_document_has_what_the_server_sent_untouched_a9_9_t9(
    on_server: Cli, server: Scripted
) -> None:
    odd = {"x-unknown": [1.0, 1e400, "\u202e\x1b[2J", None], "_meta": {"a/b": {}}}
    final = tool_result() | {"structuredContent": {"n": 12345678901234567890}} | odd
    server.on("tasks/get", now("completed", result=final, extra=odd))
    ran = on_server("call", "job", "month=2026-09", "--wait", "--json")
    body = ran.document
    assert body["result"] == final
    assert body["task"]["extra"] == odd
    assert body["server"] == {
        "name": None,
        "endpoint": server.url,
        "protocolVersion": "2026-07-28",
    }
    assert (body["ref"], body["outcome"], body["error"]) == (1, "completed", None)


def test_a_detached_call_in_json_tells_the_state_that_it_was_left_in(on_server: Cli) -> None:
    body = on_server("call", "job", "month=2026-09", "--json").document
    assert (body["ok"], body["outcome"], body["result"]) == (True, "working", None)
    assert body["task"]["taskId"] == ID


def test_json_lines_tell_each_change_and_end_with_the_document(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tasks/get", now("working", statusMessage="1 of 2"), completed())
    ran = on_server("call", "job", "month=2026-09", "--wait", "--jsonl")
    lines = ran.events
    assert (lines[0]["event"], lines[-1]["event"]) == ("created", "ended")
    changes = [(line["status"], line["statusMessage"]) for line in lines[1:-1]]
    assert changes == [("working", None), ("working", "1 of 2"), ("completed", None)]
    assert {(line["ref"], line["taskId"]) for line in lines} == {(1, ID)}
    assert lines[-1]["document"]["result"] == tool_result()
    assert ran.err == ""


def test_quiet_prints_only_data_and_errors(on_server: Cli, server: Scripted) -> None:
    assert on_server("call", "job", "month=x", "--wait", "-q").err == ""
    assert on_server("call", "job", "month=x", "-q").err == ""
    server.on("tasks/get", now("failed", error={"code": -32050, "message": "quota exceeded"}))
    ran = on_server("call", "job", "month=x", "--wait", "-q")
    assert ran.err == "error: quota exceeded (-32050)\n"


def test_verbose_says_which_server_was_chosen_and_why(on_server: Cli, server: Scripted) -> None:
    assert "MCPTASK_SERVER gives the URL" in on_server("call", "job", "month=x", "-v").err
    ran = on_server("call", "job", "month=x", "-v", "-s", server.url)
    assert "--server gives the URL" in ran.err


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (["month=01234"], {"month": "01234"}),
        (["month=true", "count=12"], {"month": "true", "count": 12}),
        (["month=x", "deep=false"], {"month": "x", "deep": False}),
        (["month=x", "rooms=a", "rooms=b"], {"month": "x", "rooms": ["a", "b"]}),
        (["month=x", 'rooms=["a","b"]'], {"month": "x", "rooms": ["a", "b"]}),
        (["month=x", 'options={"a":[1]}'], {"month": "x", "options": {"a": [1]}}),
        (["month=x", "count:=7"], {"month": "x", "count": 7}),
        (["month=@note.txt"], {"month": "a note\n"}),
        (["month=x", "options:=@options.json"], {"month": "x", "options": {"b": None}}),
        (["--args", '{"month":"x","count":3}'], {"month": "x", "count": 3}),
        (["--args", "@whole.json"], {"month": "file"}),
        (["--args", "-"], {"month": "stdin"}),
        (["--no-validate", "mnth=2026-09"], {"mnth": "2026-09"}),
    ],
    ids=" ".join,
)
def test_arguments_arrive_as_the_tool_declares_them(
    on_server: Cli,
    server: Scripted,
    cwd: Path,
    words: list[str],
    sent: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(cwd)
    (cwd / "note.txt").write_text("a note\n")
    (cwd / "options.json").write_text('{"b": null}')
    (cwd / "whole.json").write_text('{"month": "file"}')
    assert on_server("call", "job", *words, stdin='{"month": "stdin"}').code == 0
    (request,) = server.got("tools/call")
    assert request.params["arguments"] == sent
    assert json.dumps(request.params["arguments"]) == json.dumps(sent)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["mnth=2026-09"], "month"),
        ([], "month"),
        (["month=x", "count=2o"], "count"),
        (["month=x", "deep=perhaps"], "deep"),
        (["month=x", "count:={"], "count"),
        (["month=@nowhere.txt"], "nowhere.txt"),
        (["month"], "month"),
        (["--args", "[1]"], "--args"),
        (["--args", '{"month":1}'], "month"),
    ],
    ids=" ".join,
)
def test_wrong_arguments_are_refused_before_anything_is_sent(
    on_server: Cli, server: Scripted, words: list[str], told: str
) -> None:
    ran = on_server("call", "job", *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert told in ran.err
    assert server.got("tools/call") == []
    assert on_server("list", "--json").listed["calls"] == []


def test_an_unknown_tool_names_the_nearest_one(on_server: Cli, server: Scripted) -> None:
    server.on("tools/list", result(tools=[TOOL, TOOL | {"name": "other"}], ttlMs=0))
    ran = on_server("call", "jop", "month=x")
    assert ran.code == 2
    assert f'error: {server.name} has no tool "jop"' in ran.err
    assert "did you mean 'job'?" in ran.err
    assert "lists all 2" in ran.err


def test_without_a_server_the_error_says_the_line_to_try(cli: Cli) -> None:
    ran = cli("call", "reflow_month", "month=2026-09")
    assert ran.code == 2
    assert "hint: mcptask call reflow_month --wait -s demo" in ran.err


def test_a_waiting_call_with_a_question_says_what_to_type(on_server: Cli, server: Scripted) -> None:
    server.on("tasks/get", asking())
    ran = on_server("call", "job", "month=x", "--wait")
    assert (ran.code, ran.out) == (3, "")
    assert "4 bookings fit nowhere" in ran.err
    assert "mcptask update 1" in ran.err
    body = on_server("call", "job", "month=x", "--wait", "--json").document
    assert body["outcome"] == "input_required"
    assert list(body["error"]["data"]["inputRequests"]) == ["approve"]


def test_a_question_before_the_task_is_a_clear_stop(on_server: Cli, server: Scripted) -> None:
    first = {"resultType": "input_required", "inputRequests": {"k": {"method": "roots/list"}}}
    server.on("tools/call", result(**first))
    body = on_server("call", "job", "month=x", "--json").document
    assert (body["exitCode"], body["error"]["kind"]) == (3, "input")
    assert on_server("list", "--json").listed["calls"] == []


def test_polling_goes_by_the_latest_interval_and_never_faster(
    on_server: Cli, server: Scripted
) -> None:
    """A10.1"""
    server.on("tools/call", created(pollIntervalMs=2000))
    slower = now("working", pollIntervalMs=30_000)
    server.on("tasks/get", now("working", pollIntervalMs=2000), slower, completed())
    on_server("call", "job", "month=x", "--wait", "--interval", "0.1")
    first, second = on_server.time.gaps("tasks/get")
    assert 2 <= first < 5
    assert 30 <= second < 33


def test_the_demo_runs_end_to_end_over_http(cli: Cli, demo: str) -> None:
    words = ["month=2026-09", "seconds=0.3", "-s", demo, "--wait", "--json"]
    body = cli("call", "reflow_month", *words, clock=Clock()).document
    assert body["result"]["content"][0]["text"] == "moved 138, unresolved 4"
    assert body["result"]["structuredContent"]["moved"] == 138
