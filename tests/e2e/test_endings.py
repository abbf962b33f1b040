"""However a followed task is waited for, a signal ends the waiting and says how to come back."""

import os
import signal
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.running import Cli, Process, wait_until
from tests.e2e.scripted import Scripted, asking, created, held, http, now, result
from tests.e2e.several import Started
from tests.e2e.terminal import Terminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and terminals of POSIX")
Start = Callable[..., Process]
OnTerminal = Callable[..., Terminal]
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)]
RARELY = {"pollIntervalMs": 600_000}
SCENES = ["between two polls", "during a request", "with an open stream"]


@pytest.fixture
def words(server: Scripted, demo: str, gate: threading.Event, scene: str) -> list[str]:
    """A call whose task is followed in this way."""
    if scene == "with an open stream":
        return ["call", "slow_echo", "text=x", "seconds=60", "--wait", "-v", "-s", demo]
    server.on("tools/call", created(**RARELY if scene == "between two polls" else {}))
    server.on("tasks/get", held(gate, now("working", **RARELY)))
    return ["call", "job", "month=x", "--wait", "-v", "-s", server.url]


def followed(process: Process, server: Scripted, scene: str) -> None:
    process.hear("acknowledged a subscription" if "stream" in scene else "working")
    if scene == "during a request":
        wait_until(lambda: server.got("tasks/get"), "it is asked for")


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize(("signum", "code"), SIGNALS)
def test_a_signal_leaves_the_task_alone_and_names_it_a13_3(
    start: Start,
    cli: Cli,
    server: Scripted,
    words: list[str],
    scene: str,
    signum: signal.Signals,
    code: int,
) -> None:
    process = start(*words)
    followed(process, server, scene)
    process.send(signum)
    ran = process.end()
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.endswith(
        "Stopped following task 1; it was left alone.\n"
        "  follow it again: mcptask watch 1\n"
        "  cancel it: mcptask cancel 1\n"
    )
    assert cli("list", "--json").listed["tasks"][0]["status"] == "working"
    assert server.got("tasks/cancel") == []


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",), ("--quiet",)], ids=str)
def test_a_terminal_that_is_closed_ends_the_following_and_not_the_task(
    terminal: OnTerminal, cli: Cli, server: Scripted, words: list[str], form: tuple[str, ...]
) -> None:
    """SIGHUP comes, and each write to the terminal fails."""
    screen = terminal(*words, *form, controlling=True)
    wait_until(lambda: cli("list", "--json").listed["tasks"], "the task is stored")
    wait_until(lambda: signal.SIGHUP in caught(screen.process.pid), "signals are heard")
    assert screen.hang_up() == 143
    assert cli("list", "--json").listed["tasks"][0]["status"] == "working"


def caught(pid: int) -> set[int]:
    """The signals that a process has a handler for."""
    with open(f"/proc/{pid}/status") as status:
        (mask,) = [int(line.split()[1], 16) for line in status if line.startswith("SigCgt")]
    return {number for number in range(1, 32) if mask & 1 << (number - 1)}


@pytest.mark.parametrize("key", ["\x03", "hang up"])
def test_a_form_that_is_left_sends_nothing_and_leaves_the_terminal_as_it_was(
    terminal: OnTerminal, cli: Cli, server: Scripted, key: str
) -> None:
    server.on("tasks/get", asking())
    cli("call", "job", "month=x", "-s", server.url)
    screen = terminal("update", "1", controlling=True)
    before = screen.modes
    screen.until(lambda lines: any("waitlist" in line for line in lines))
    if key == "hang up":
        assert screen.hang_up() == 143
    else:
        screen.type(key)
        screen.until(lambda lines: "mcptask update 1" in lines[-1])
        assert screen.modes == before
        assert before & termios.ECHO
        assert before & termios.ICANON
        assert screen.end() == 130
    assert server.got("tasks/update") == []
    assert cli("list", "--json").listed["tasks"][0]["answered"] == []


# ── many ─────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def watching(start: Start, server: Scripted, count: int, *words: str) -> Iterator[Process]:
    """A process that follows this many tasks, each polled once by now and then rarely."""

    def working(handler: object, got: object) -> None:
        reply = now("working", got.params["taskId"], **RARELY)  # type: ignore[attr-defined]
        reply(handler, got)  # type: ignore[arg-type]

    server.on("tasks/get", working)
    process = start("watch", "--all", *words)
    wait_until(lambda: len(server.got("tasks/get")) >= count, "all are followed")
    yield process


def test_goodbye_to_many_tasks_is_short(start: Start, server: Scripted, started: Started) -> None:
    started(server, 30)
    with watching(start, server, 30) as process:
        process.send(signal.SIGINT)
        ran = process.end()
    assert ran.code == 130
    assert ran.err.endswith(
        "Stopped following 30 tasks (1–30); they were left alone.\n"
        "  follow them again: mcptask watch --all\n"
        "  see them: mcptask list\n"
    )


def test_each_of_many_tasks_is_asked_to_be_cancelled_once_a13_3(
    start: Start, server: Scripted, started: Started
) -> None:
    started(server, 20)
    with watching(start, server, 20, "--on-interrupt", "cancel", "--json") as process:
        process.send(signal.SIGINT)
        ran = process.end()
    assert ran.code == 130
    asked = [got.params["taskId"] for got in server.got("tasks/cancel")]
    assert sorted(asked) == sorted(f"tsk_{number}" for number in range(1, 21))
    errors = [each["error"] for each in ran.documents["tasks"]]
    assert [error["data"] for error in errors] == [{"cancelAcknowledged": True}] * 20


def test_what_was_not_acknowledged_is_told_apart_from_what_was_a13_3(
    start: Start, server: Scripted, started: Started
) -> None:
    started(server, 3)

    def refuses_the_second(handler: object, got: object) -> None:
        answer = http(401) if got.params["taskId"] == "tsk_2" else result()  # type: ignore[attr-defined]
        answer(handler, got)  # type: ignore[arg-type]

    server.on("tasks/cancel", refuses_the_second)
    with watching(start, server, 3, "--on-interrupt", "cancel") as process:
        process.send(signal.SIGTERM)
        ran = process.end()
    assert ran.code == 143
    assert "Stopped following 2 tasks (1, 3), and asked their servers to cancel them.\n" in ran.err
    assert "Stopped following task 2; its cancellation was not acknowledged.\n" in ran.err
    assert "  ask once more: mcptask cancel 2\n" in ran.err


def test_one_more_ctrl_c_ends_the_asking_and_not_what_is_said_of_it(
    start: Start, server: Scripted, started: Started, gate: threading.Event
) -> None:
    started(server, 3)
    server.on("tasks/cancel", held(gate, result()))
    with watching(start, server, 3, "--on-interrupt", "cancel") as process:
        process.send(signal.SIGINT)
        process.hear("Asking to cancel 3 tasks, up to 5 s. Ctrl-C again leaves at once.")
        wait_until(lambda: server.got("tasks/cancel"), "it is asked")
        process.send(signal.SIGINT)
        ran = process.end()
    assert ran.code == 130
    assert ran.err.endswith(
        "Stopped following 3 tasks (1–3); their cancellation was not acknowledged.\n"
        "  see what became of them: mcptask list --refresh\n"
        "  ask once more: mcptask cancel 1 2 3\n"
    )
