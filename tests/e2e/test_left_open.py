"""Exit 3: what nobody answers here is said once, with the exact line that answers it (A12.11)."""

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.running import PATIENCE, Cli, Process, Ran
from tests.e2e.scripted import Json, Reply, Scripted, asking, created, question, result
from tests.e2e.several import Started
from tests.e2e.terminal import Terminal

NAME = question("Who plays?", who={"type": "string"}, note={"type": "string", "maxLength": 20})
LOGIN: Json = {
    "method": "elicitation/create",
    "params": {"mode": "url", "url": "https://x.example/", "message": "Sign in"},
}
ROOTS: Json = {"method": "roots/list"}
QUESTIONS = {"approve": question(), "name": NAME, "login": LOGIN, "roots": ROOTS}
# By the key: what is said of a question, and the command that answers it; {0} is the task.
SAID = {
    "approve": "asks (approve): 4 bookings fit nowhere. What now?",
    "name": "asks (name): Who plays?",
    "login": "asks (login): Sign in → https://x.example/",
    "roots": "asks (roots): (a roots/list request)",
}
FIELDS = (
    "action *  waitlist · refund · keep",
    "who *  text",
    "note   text of at most 20 characters",
)
LINES = {
    "approve": "mcptask update {0} --key approve action=waitlist",
    "name": "mcptask update {0} --key name who=TEXT",
    "login": "mcptask update {0} --key login --accept",
    "roots": "mcptask update {0} --responses '{{\"roots\": …}}'",
}
ARGV: dict[str, tuple[str, ...]] = {
    "call": ("call", "job", "month=x", "--wait"),
    "watch": ("watch",),
    "update": ("update", "1"),
}


def said_once(told: str, *tasks: int) -> None:
    for text in (*SAID.values(), *FIELDS):
        assert told.count(text) == len(tasks), text
    for task in tasks:
        for line in LINES.values():
            assert told.count(line.format(task)) == 1, line
        assert told.count(f"mcptask watch {task} --root PATH\n") == 1
        assert told.count(f"mcptask watch {task}\n") == 1


@pytest.fixture
def left(on_server: Cli, server: Scripted) -> Callable[..., Ran]:
    """Run a command about a task that asks all of it."""
    server.on("tasks/get", asking(**QUESTIONS))

    def run(command: str, *more: str, **environ: str) -> Ran:
        if command != "call":
            assert on_server("call", "job", "month=x").code == 0
        return on_server(*ARGV[command], *more, **environ)

    return run


@pytest.mark.parametrize("more", [(), ("-q",), ("-v",)])
@pytest.mark.parametrize("command", ARGV)
def test_each_question_its_fields_and_its_line_are_said_once_a12_11(
    left: Callable[..., Ran], server: Scripted, command: str, more: tuple[str, ...]
) -> None:
    ran = left(command, *more)
    assert (ran.code, ran.out) == (3, "")
    said_once(ran.err, 1)
    assert server.got("tasks/update") == []


@pytest.mark.parametrize("more", [(), ("-q",)])
def test_of_several_tasks_too_a12_11(
    on_server: Cli, server: Scripted, started: Started, more: tuple[str, ...]
) -> None:
    started(server, 2)

    def asks(handler: Any, got: Any) -> None:
        asking(got.params["taskId"], **QUESTIONS)(handler, got)

    server.on("tasks/get", asks)
    ran = on_server("watch", "--all", *more)
    assert (ran.code, ran.out) == (3, "")
    said_once(ran.err, 1, 2)


@pytest.mark.parametrize("format", ["--json", "--jsonl"])
@pytest.mark.parametrize("command", ARGV)
def test_programs_get_the_same_lines_by_key_beside_the_questions_a12_11(
    left: Callable[..., Ran], command: str, format: str
) -> None:
    ran = left(command, format)
    body = ran.document if format == "--json" else ran.events[-1]["document"]
    assert body["outcome"] == "input_required"
    assert body["error"]["data"] == {
        "inputRequests": QUESTIONS,
        "update": {key: line.format(1) for key, line in LINES.items()},
    }
    assert body["error"]["hint"].endswith("mcptask watch 1")


def test_one_question_needs_no_key(on_server: Cli, server: Scripted) -> None:
    server.on("tasks/get", asking())
    ran = on_server(*ARGV["call"], "--json")
    line = "mcptask update 1 action=waitlist"
    assert ran.document["error"]["data"]["update"] == {"approve": line}


def test_the_line_that_is_told_answers_the_question(left: Callable[..., Ran], cli: Cli) -> None:
    told = left("watch", "--json").document["error"]["data"]["update"]["approve"]
    words = shlex.split(told)
    assert cli(*words[1:]).code == 0


# ── what a tool asks before it starts ──


def before(**questions: Json) -> Reply:
    return result(resultType="input_required", inputRequests=questions, requestState="s")


def test_before_there_is_a_task_programs_get_the_entries_of_a_file_a8_4_a12_11(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/call", before(approve=question(), login=LOGIN), created())
    body = on_server(*ARGV["call"], "--json").document
    assert body["task"] is None
    data = body["error"]["data"]
    assert set(data["inputRequests"]) == {"approve", "login"}
    assert data["answers"] == {
        "approve": 'approve = { action = "waitlist|refund|keep" }',
        "login": 'login = "accept"',
    }
    assert "update" not in data


@pytest.mark.parametrize("more", [(), ("-q",)])
def test_before_there_is_a_task_each_is_said_once_too_a8_4_a12_11(
    on_server: Cli, server: Scripted, more: tuple[str, ...]
) -> None:
    server.on("tools/call", before(approve=question(), login=LOGIN))
    ran = on_server(*ARGV["call"], *more)
    assert (ran.code, ran.out) == (3, "")
    for text in (SAID["approve"], SAID["login"], 'approve = { action = "', 'login = "accept"'):
        assert ran.err.count(text) == 1, text


@pytest.mark.parametrize(
    ("option", "sent"),
    [
        ("--decline-all", {"approve": {"action": "decline"}, "login": {"action": "decline"}}),
        ("--accept-defaults", None),
    ],
)
def test_before_there_is_a_task_the_same_options_answer_a8_4(
    on_server: Cli, server: Scripted, option: str, sent: Any
) -> None:
    server.on("tools/call", before(approve=question(), login=LOGIN), created())
    assert on_server("call", "job", "month=x", option).code == (0 if sent else 3)
    calls = server.got("tools/call")
    assert [call.params.get("inputResponses") for call in calls] == [None, sent][: len(calls)]


# ── real processes ──


def test_a_pipe_that_nobody_writes_to_is_not_read_a12_11(
    start: Callable[..., Process], server: Scripted
) -> None:
    server.on("tasks/get", asking(**QUESTIONS))
    process = start(*ARGV["call"], "-s", server.url)
    process.hear("hint: ")
    assert process.popen.wait(PATIENCE) == 3
    said_once(process.told, 1)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize(
    ("argv", "environ"), [((), {"CI": "1"}), (("--no-input",), {}), (("--no-input", "-q"), {})]
)
def test_at_a_terminal_nobody_is_asked_in_ci_and_without_input_a12_11(
    terminal: Callable[..., Terminal],
    server: Scripted,
    argv: tuple[str, ...],
    environ: dict[str, str],
    piped: bool,
) -> None:
    server.on("tasks/get", asking(**QUESTIONS))
    call = (*ARGV["call"], "-s", server.url, *argv)
    screen = terminal(*call, columns=120, piped=piped, **environ)
    assert screen.end() == 3
    said_once("\n".join([*screen.lines, ""]), 1)
    assert screen.piped_out == ""
