"""`--notify`, the title and the progress, as the terminal gets them."""

import re
import signal
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import Scripted, asking, completed, created, error, now
from tests.e2e.terminal import Terminal

Start = Callable[..., Terminal]
WAIT = ["call", "job", "month=x", "--wait"]
KITTY = {"TERM": "xterm-kitty"}
NOTIFICATION = re.compile(rb"\x1b\]99;;([^\x1b]*)\x1b\\")
TITLE = re.compile(rb"\x1b\]2;([^\x1b]*)\x1b\\")
PROGRESS = re.compile(rb"\x1b\]9;4;(\d);(\d+)\x1b\\")
PUSH, POP = b"\x1b[22;0t", b"\x1b[23;0t"


def notified(screen: Terminal) -> list[str]:
    return [text.decode() for text in NOTIFICATION.findall(screen.raw)]


def bells(screen: Terminal) -> int:
    return screen.raw.count(b"\a")


@pytest.mark.parametrize("form", [(), ("--quiet",), ("--json",), ("--jsonl",)])
def test_the_end_of_a_task_rings_once_and_only_on_the_terminal(
    terminal: Start, server: Scripted, form: tuple[str, ...]
) -> None:
    server.on("tasks/get", now("working"), completed())
    words = [*WAIT, *form, "--notify", "-s", server.url]
    screen = terminal(*words, piped=True, **KITTY)
    assert screen.end() == 0
    assert notified(screen) == [f"✓ job on {server.name}: completed"]
    assert bells(screen) == 1
    assert "\a" not in screen.piped_out
    assert "\x1b" not in screen.piped_out


def test_an_unknown_terminal_gets_the_bell_alone(terminal: Start, server: Scripted) -> None:
    screen = terminal(*WAIT, "--notify", "-s", server.url)
    assert screen.end() == 0
    assert bells(screen) == 1
    assert b"\x1b]" not in screen.raw


def test_nobody_is_rung_who_did_not_ask_for_it(terminal: Start, server: Scripted) -> None:
    screen = terminal(*WAIT, "-s", server.url, **KITTY)
    assert screen.end() == 0
    assert (bells(screen), notified(screen)) == (0, [])


def test_a_question_rings_with_what_is_asked(terminal: Start, server: Scripted) -> None:
    server.on("tasks/get", asking(), asking(), completed())
    screen = terminal(*WAIT, "--notify", "-s", server.url, **KITTY)
    assert screen.end() == 0
    where = f"job on {server.name}"
    asks = f"◐ {where} asks: 4 bookings fit nowhere. What now?"
    assert notified(screen) == [asks, f"✓ {where}: completed"]
    assert bells(screen) == 2


def test_a_bad_end_says_why_in_clean_words(terminal: Start, server: Scripted) -> None:
    hostile = "quota; \x1b]52;c;eA==\a\x9c4;1;50\n::error::" + "x" * 300
    server.on("tasks/get", now("failed", error={"code": -32050, "message": hostile}))
    screen = terminal(*WAIT, "--notify", "-s", server.url, **KITTY)
    assert screen.end() == 4
    (text,) = notified(screen)
    assert text.startswith(
        f"✗ job on {server.name}: failed (quota, \\x1b]52,c,eA==\\x07\\x9c4,1,50"
    )
    assert len(text) == 120
    assert bells(screen) == 1
    assert b"\x1b]52" not in screen.raw


@pytest.mark.parametrize("setting", [{"TERM": "dumb"}, {"CI": "1"}], ids=str)
def test_no_dumb_terminal_and_no_ci_job_is_rung(
    terminal: Start, server: Scripted, setting: dict[str, str]
) -> None:
    screen = terminal(*WAIT, "--notify", "-s", server.url, **{**KITTY, **setting})
    assert screen.end() == 0
    assert bells(screen) == 0
    assert b"\x1b]" not in screen.raw


def test_no_log_is_rung(process: Callable[..., Ran], server: Scripted) -> None:
    ran = process(*WAIT, "--notify", "-s", server.url, **KITTY)
    assert ran.code == 0
    assert "\a" not in ran.out + ran.err


def test_a_call_that_is_answered_without_a_task_rings_as_well(
    terminal: Start, server: Scripted
) -> None:
    server.on("tools/call", error(-32000, "full"))
    screen = terminal(*WAIT, "--notify", "-s", server.url, **KITTY)
    assert screen.end() == 4
    assert notified(screen) == [f"✗ job on {server.name}: failed (full)"]


# ── around the live view ─────────────────────────────────────────────────────────────────────────


def test_the_title_follows_the_task_and_comes_back(terminal: Start, server: Scripted) -> None:
    half = now("working", statusMessage="1 of 2")
    server.on("tasks/get", now("working"), half, half, completed())
    screen = terminal(*WAIT, "-s", server.url, **KITTY)
    assert screen.end() == 0
    titles = [text.decode() for text in TITLE.findall(screen.raw)]
    assert titles[0] == "job — mcptask"
    assert "job 50% — mcptask" in titles
    assert len(titles) == len(set(titles)), "no title is written twice"
    assert screen.raw.count(PUSH) == screen.raw.count(POP) == 1
    assert screen.raw.index(PUSH) < TITLE.search(screen.raw).start()  # type: ignore[union-attr]
    assert screen.raw.rindex(POP) > screen.raw.rindex(b"\x1b]2;")


def test_the_taskbar_follows_the_task_and_is_cleared(terminal: Start, server: Scripted) -> None:
    server.on(
        "tasks/get", now("working"), asking(), now("working", statusMessage="3/4"), completed()
    )
    screen = terminal(*WAIT, "-s", server.url, WT_SESSION="1")
    assert screen.end() == 0
    states = [(int(state), int(percent)) for state, percent in PROGRESS.findall(screen.raw)]
    assert states[0] == (3, 0)
    assert (4, 100) in states
    assert states[-1] == (0, 0)
    assert len(states) == len(set(states)), "no state is written twice"
    assert b"\x1b]2;" not in screen.raw, "its old title would not come back"


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_title_back_and_clears_the_taskbar(
    terminal: Start, server: Scripted, signum: signal.Signals
) -> None:
    server.on("tasks/get", now("working", statusMessage="1 of 2"))
    iterm = {"TERM_PROGRAM": "iTerm.app", "TERM_FEATURES": "T3P"}
    screen = terminal(*WAIT, "-s", server.url, **iterm)
    screen.until(lambda lines: any("1 of 2" in line for line in lines))
    screen.send(signum)
    screen.end()
    assert screen.raw.count(PUSH) == screen.raw.count(POP) == 1
    assert PROGRESS.findall(screen.raw)[-1] == (b"0", b"0")


@pytest.mark.parametrize("form", [("--quiet",), ("--jsonl",)])
def test_where_there_is_no_live_view_there_is_no_title(
    terminal: Start, server: Scripted, form: tuple[str, ...]
) -> None:
    screen = terminal(*WAIT, *form, "-s", server.url, **KITTY)
    assert screen.end() == 0
    assert b"\x1b]" not in screen.raw


def test_of_several_tasks_the_title_is_a_count(terminal: Start, cli: Cli, server: Scripted) -> None:
    for name in ("tsk_1", "tsk_2"):
        server.on("tools/call", created(name))
        cli("call", "job", "month=x", "-s", server.url)
    states = {"tsk_1": now("working", "tsk_1"), "tsk_2": completed("tsk_2")}

    def reply(handler: Any, got: Any) -> None:
        states[got.params["taskId"]](handler, got)

    server.on("tasks/get", reply)
    screen = terminal("watch", "--all", **KITTY)
    screen.until(lambda lines: any("1 working · 1 completed" in line for line in lines))
    states["tsk_1"] = completed("tsk_1")
    assert screen.end() == 0
    assert "1 working · 1 completed — mcptask".encode() in TITLE.findall(screen.raw)
    assert screen.raw.count(POP) == 1
