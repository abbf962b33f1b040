"""On a real terminal: what is on the screen while a task runs, and what is left when it is over."""

import re
import signal
from collections.abc import Callable

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli
from tests.e2e.scripted import Scripted, asking, completed, created, http, now
from tests.e2e.terminal import Terminal

Start = Callable[..., Terminal]
COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
MOVES = re.compile(rb"\x1b\[[0-9]*[ABHJK]|\x1b\[\?25")
REFLOW = ["call", "reflow_month", "month=2026-09", "seconds=1.2", "--wait"]
COUNTED = re.compile(r"Reflowing \d+ of 142 bookings")


def shows(words: str) -> Callable[[list[str]], bool]:
    return lambda lines: any(words in line for line in lines)


def counts(lines: list[str]) -> bool:
    return any(COUNTED.search(line) for line in lines)


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_live_view_shows_the_task_and_leaves_only_its_last_frame_and_the_result(
    terminal: Start, cli: Cli, demo: str, columns: int
) -> None:
    screen = terminal(*REFLOW, "-s", demo, columns=columns)
    frame = "\n".join(screen.until(counts))
    for words in ("reflow_month on ", "1 · ", "● working", "○ input required", "○ completed"):
        assert words in frame
    assert "elapsed" in frame
    assert "Ctrl-C leaves it running: mcptask watch 1" in frame
    assert "%" in frame
    assert screen.cursor_hidden
    assert screen.end() == 0
    task_id = cli("list", "--json").listed["tasks"][0]["taskId"]
    left = "\n".join(screen.lines)
    assert "✓ reflow_month on " in screen.lines[0]
    assert "completed after 0:0" in left
    assert task_id in left
    assert screen.lines[-1] == "moved 138, unresolved 4"
    assert len(screen.lines) <= 3
    for gone in ("Ctrl-C", "working", "Reflowing", "%"):
        assert gone not in left
    assert not screen.cursor_hidden
    assert all(len(line) < columns for lines in screen.seen for line in lines)
    assert all(len(lines) < 10 for lines in screen.seen), "every frame is drawn over the last"


def test_no_color_means_no_colour_codes_and_the_same_view(
    terminal: Start, server: Scripted
) -> None:
    server.on("tasks/get", now("working"), completed())
    words = ["call", "job", "month=x", "--wait", "-s", server.url]
    plain = terminal(*words, NO_COLOR="1")
    coloured = terminal(*words, NO_COLOR="")
    assert (plain.end(), coloured.end()) == (0, 0)
    assert not COLOUR.search(plain.raw)
    assert MOVES.search(plain.raw)
    assert COLOUR.search(coloured.raw)


@pytest.mark.parametrize("setting", [{"TERM": "dumb"}, {"CI": "1"}], ids=str)
def test_a_dumb_terminal_and_a_ci_job_get_lines(
    terminal: Start, server: Scripted, setting: dict[str, str]
) -> None:
    server.on("tasks/get", now("working", statusMessage="1 of 2"), completed())
    screen = terminal("call", "job", "month=x", "--wait", "-s", server.url, **setting, columns=200)
    assert screen.end() == 0
    assert not MOVES.search(screen.raw)
    assert any(line.startswith("mcptask: job on ") for line in screen.lines)
    assert any(line.endswith("working · 1 of 2") for line in screen.lines)
    assert screen.lines[-1] == "moved 138, unresolved 4"
    if "TERM" in setting:
        assert b"\x1b" not in screen.raw


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)])
def test_a_piped_stdout_is_clean_while_the_terminal_shows_the_view(
    terminal: Start, server: Scripted, form: tuple[str, ...]
) -> None:
    server.on("tasks/get", now("working"), completed())
    words = ["call", "job", "month=x", "--wait", *form, "-s", server.url]
    screen = terminal(*words, piped=True, FORCE_COLOR="1")
    assert screen.end() == 0
    assert "\x1b" not in screen.piped_out
    assert "moved 138, unresolved 4" in screen.piped_out
    assert "moved 138" not in "\n".join(screen.lines)
    if not form:
        assert screen.piped_out == "moved 138, unresolved 4\n"
        assert shows("✓ job on ")(screen.lines)


@pytest.mark.parametrize("columns", [60, 80])
def test_a_form_opens_under_the_states_and_what_is_left_for_later_has_its_line_to_type(
    terminal: Start, server: Scripted, columns: int
) -> None:
    """A person at a terminal can answer from another one, so the watch goes on (A12.7)."""
    server.on("tasks/get", asking())
    screen = terminal("call", "job", "month=x", "--wait", "-s", server.url, columns=columns)
    form = screen.until(shows("Esc declines, cancels or leaves it for later"))
    states = next(at for at, line in enumerate(form) if "◐ input required" in line)
    assert "asks (approve)" in form[states + 1], "nothing else is between them"
    assert not shows("elapsed")(form)
    assert not screen.cursor_hidden
    screen.type("\x1b")
    screen.until(shows("l leaves it for later"))
    screen.type("l")
    view = screen.until(shows("mcptask update 1"))
    assert view[-1] == "Ctrl-C leaves it running: mcptask watch 1"
    assert sum("◐ input required" in line for line in view) == 2
    assert screen.cursor_hidden
    server.on("tasks/get", completed())
    assert screen.end() == 0
    assert screen.lines[-1] == "moved 138, unresolved 4"
    assert not shows("mcptask update")(screen.lines), "the view was drawn in place"
    assert shows("left for later")(screen.lines), "and the form stays"


def test_ctrl_c_gives_the_terminal_back_and_says_how_to_return(
    terminal: Start, server: Scripted
) -> None:
    server.on("tasks/get", now("working", statusMessage="96 of 142"))
    screen = terminal("call", "job", "month=x", "--wait", "-s", server.url)
    screen.until(shows("96 of 142"))
    screen.send(signal.SIGINT)
    assert screen.end() == 130
    left = "".join(screen.lines)  # the terminal itself wraps what is too long
    assert "mcptask watch 1" in left
    assert "mcptask cancel 1" in left
    assert "Ctrl-C leaves it running" not in left
    assert not screen.cursor_hidden


def test_an_outage_is_said_in_the_view_and_goes_away(terminal: Start, server: Scripted) -> None:
    server.on("tasks/get", now("working"), http(503))
    screen = terminal("call", "job", "month=x", "--wait", "-s", server.url)
    screen.until(shows("answers HTTP 503"))
    server.on("tasks/get", completed())
    assert screen.end() == 0
    assert "HTTP 503" not in "\n".join(screen.lines)


def test_several_tasks_share_a_board(terminal: Start, cli: Cli, server: Scripted) -> None:
    for name in ("tsk_1", "tsk_2"):
        server.on("tools/call", created(name))
        cli("call", "job", "month=x", "-s", server.url)
    states = {"tsk_1": now("working", "tsk_1"), "tsk_2": completed("tsk_2")}

    def reply(handler: object, got: object) -> None:
        states[got.params["taskId"]](handler, got)  # type: ignore[attr-defined,arg-type]

    server.on("tasks/get", reply)
    screen = terminal("watch", "--all")
    screen.until(shows("1 working · 1 completed"))
    states["tsk_1"] = completed("tsk_1")
    assert screen.end() == 0
    assert shows("2 completed")(screen.lines)
    assert screen.lines.count("moved 138, unresolved 4") == 2


@pytest.mark.parametrize("columns", [60, 200])
def test_tables_fit_the_terminal(terminal: Start, cli: Cli, server: Scripted, columns: int) -> None:
    long = now("working", statusMessage="many words " * 30)
    server.on("tasks/get", long)
    cli("call", "job", "month=x", "-s", server.url)
    cli("get", "1")
    screen = terminal("list", columns=columns)
    assert screen.end() == 0
    assert len(screen.lines) == 2
    assert "…" in screen.lines[1]


def test_a_result_on_a_terminal_cannot_drive_it(terminal: Start, server: Scripted) -> None:
    server.on("tasks/get", completed(text="a\x1b[2Jb\x1b]0;title\x07c"))
    screen = terminal("call", "job", "month=x", "-w", "-s", server.url)
    assert screen.end() == 0
    assert b"\x1b[2J" not in screen.raw
    assert b"\x07" not in screen.raw


def test_the_view_of_a_quiet_command_is_nothing(terminal: Start, server: Scripted) -> None:
    screen = terminal("call", "job", "month=x", "-w", "-q", "-s", server.url)
    assert screen.end() == 0
    assert screen.lines == ["moved 138, unresolved 4"]


def test_watch_shows_the_true_age_of_the_task(terminal: Start, cli: Cli, demo: str) -> None:
    cli("call", "slow_echo", "text=hi", "seconds=0", "-s", demo, clock=Clock())
    screen = terminal("watch")
    assert screen.end() == 0
    assert screen.lines[-1] == "hi"
