"""Answering by hand on a real terminal: `update`, and a `call` that asks before it starts."""

import os
import shlex
import signal
import termios
from collections.abc import Callable

import pytest

from tests.e2e.running import MCPTASK, Cli, wait_until
from tests.e2e.scripted import Json, Scripted, asking, question, result, tool_result
from tests.e2e.terminal import Terminal

Start = Callable[..., Terminal]
TWO = {"approve": question(), "name": question("Who?", who={"type": "string"})}


def prompts(screen: Terminal, after: str) -> None:
    """Wait until a form, or a last look, shows these words."""
    screen.until(
        lambda lines: (
            any("later" in line or "stops here" in line for line in lines[-2:])
            and any(after in line for line in lines[-8:])
        )
    )


@pytest.fixture
def asked(on_server: Cli, server: Scripted) -> Cli:
    """Task 1 asks one thing."""
    on_server("call", "job", "month=x")
    server.on("tasks/get", asking())
    return on_server


def sent(server: Scripted) -> list[Json]:
    return [request.params["inputResponses"] for request in server.got("tasks/update")]


@pytest.mark.parametrize("columns", [60, 100])
def test_update_without_an_answer_shows_the_form_and_sends_what_was_typed_a12_12(
    asked: Cli, server: Scripted, terminal: Start, columns: int
) -> None:
    screen = terminal("update", "1", columns=columns)
    prompts(screen, "action *    1 waitlist    2 refund    3 keep")
    assert any("asks (approve), for job, task 1:" in line for line in screen.lines)
    screen.type("x")
    prompts(screen, "no choice begins with 'x'")
    screen.type("r\r")
    prompts(screen, "Enter sends")
    assert sent(server) == []
    screen.type("\r")
    assert screen.end() == 0
    assert sent(server) == [{"approve": {"action": "accept", "content": {"action": "refund"}}}]
    assert asked("list", "--json").listed["tasks"][0]["answered"] == ["approve"]
    assert all(len(line) <= columns for lines in screen.seen for line in lines)


def test_update_asks_one_after_the_other_or_only_the_one_of_the_key_a12_6(
    asked: Cli, server: Scripted, terminal: Start
) -> None:
    server.on("tasks/get", asking(**TWO))
    screen = terminal("update", "1")
    prompts(screen, "action *")
    screen.type("\x1bl")
    prompts(screen, "who *")
    screen.type("Ada\r")
    prompts(screen, "Enter sends")
    screen.type("\n")
    assert screen.end() == 0
    assert any("Still open: approve" in line for line in screen.lines)
    screen = terminal("update", "1", "--key", "approve")
    prompts(screen, "action *")
    screen.type("\x1bd")
    assert screen.end() == 0
    answer = {"action": "accept", "content": {"who": "Ada"}}
    assert sent(server) == [{"name": answer}, {"approve": {"action": "decline"}}]


def test_a_key_that_is_not_open_is_refused_before_any_form(asked: Cli, terminal: Start) -> None:
    screen = terminal("update", "1", "--key", "aprove")
    assert screen.end() == 2
    assert "open: approve" in "\n".join(screen.lines)


def test_later_sends_nothing_and_says_how_to_come_back_a12_11(
    asked: Cli, server: Scripted, terminal: Start
) -> None:
    screen = terminal("update", "1")
    prompts(screen, "action *")
    screen.type("\x04")
    assert screen.end() == 3
    assert screen.lines[-2:] == [
        "Nothing was sent. Still open: approve.",
        "Answer later:  mcptask update 1",
    ]
    assert sent(server) == []


@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_a_form_ends_at_once_and_sends_nothing(
    asked: Cli, server: Scripted, terminal: Start, signum: signal.Signals, code: int
) -> None:
    screen = terminal("update", "1")
    prompts(screen, "action *")
    assert not screen.modes & termios.ECHO
    screen.type("ref")
    prompts(screen, "› 2 refund")
    screen.send(signum)
    screen.until(lambda lines: any("Nothing was sent" in line for line in lines))
    assert screen.modes & termios.ECHO
    assert screen.modes & termios.ICANON
    assert screen.end() == code
    assert any(line.startswith("Nothing was sent to task 1") for line in screen.lines)
    assert not any(line.startswith("approve:") for line in screen.lines)
    assert sent(server) == []


def test_the_time_given_for_waiting_bounds_a_form(
    asked: Cli, server: Scripted, terminal: Start
) -> None:
    screen = terminal("update", "1", "--timeout", "5s")
    prompts(screen, "action *")
    assert screen.end() == 124
    assert sent(server) == []


@pytest.mark.parametrize(
    "words",
    [["--json"], ["--jsonl"], ["action=keep"], ["--decline"], ["--responses", "{"]],
    ids=str,
)
def test_no_form_where_a_program_reads_or_an_answer_is_given(
    asked: Cli, terminal: Start, words: list[str]
) -> None:
    screen = terminal("update", "1", *words)
    assert screen.end() in (0, 2, 3)
    assert b"\x1b[?2004h" not in screen.raw


@pytest.mark.parametrize("setting", [{"CI": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_form_in_ci_or_on_a_dumb_terminal(
    asked: Cli, terminal: Start, setting: dict[str, str]
) -> None:
    screen = terminal("update", "1", **setting)
    assert screen.end() == 3
    assert "mcptask update 1 action=" in "".join(screen.lines)


def test_a_call_that_asks_first_shows_the_form_and_goes_on_with_the_answer_a8_4(
    on_server: Cli, server: Scripted, terminal: Start
) -> None:
    first = result(
        resultType="input_required", inputRequests={"approve": question()}, requestState="s t"
    )
    server.on("tools/call", first, result(**tool_result("done")))
    screen = terminal("call", "job", "month=x", "-s", server.url)
    prompts(screen, "action *")
    screen.type("keep\r")
    prompts(screen, "Enter sends")
    screen.type("\n")
    assert screen.end() == 0
    assert screen.lines[-1] == "done"
    _, again = server.got("tools/call")
    assert again.params["inputResponses"] == {
        "approve": {"action": "accept", "content": {"action": "keep"}}
    }
    assert again.params["requestState"] == "s t"


def test_a_call_whose_question_is_left_for_later_ends_with_3_a8_4(
    on_server: Cli, server: Scripted, terminal: Start
) -> None:
    server.on(
        "tools/call", result(resultType="input_required", inputRequests={"approve": question()})
    )
    screen = terminal("call", "job", "month=x", "-s", server.url)
    prompts(screen, "action *")
    screen.type("\x1bl")
    assert screen.end() == 3
    assert len(server.got("tools/call")) == 1


@pytest.mark.skipif(os.name != "posix", reason="job control of POSIX")
def test_ctrl_z_at_a_form_is_the_shells_terminal_and_fg_or_bg_the_forms(
    asked: Cli, server: Scripted, terminal: Start
) -> None:
    screen = terminal(command=["sh", "-i"], controlling=True, PS1="sh> ", ENV="", columns=100)
    screen.until(lambda lines: lines[-1:] == ["sh>"])
    screen.type(f"clear; {shlex.join([*MCPTASK, 'update', '1'])}\n")
    prompts(screen, "action *")
    screen.type("k")
    prompts(screen, "› 3 keep")
    screen.type("\x1a")
    screen.until(lambda lines: lines[-1] == "sh>")
    screen.type("echo typed $((6 * 7)); bg\n")  # with echo, line by line
    screen.until(lambda lines: any("typed 42" in line for line in lines) and lines[-1] == "sh>")
    asked_by_then = len(server.got("tasks/get"))
    wait_until(lambda: len(server.got("tasks/get")) > asked_by_then, "it goes on in the background")
    screen.type("echo still $((6 * 7))\n")
    screen.until(lambda lines: "still 42" in lines and lines[-1] == "sh>")
    screen.type("fg\n")
    screen.until(lambda lines: sum("› 3 keep" in line for line in lines) == 2)
    screen.type("\r")
    prompts(screen, "Enter sends")
    screen.type("\r")
    screen.until(lambda lines: lines[-1] == "sh>")
    assert sent(server) == [{"approve": {"action": "accept", "content": {"action": "keep"}}}]
