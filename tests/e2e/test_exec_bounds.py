"""The command of `--exec` as a process: what it prints, how long it may take, and how it is ended."""

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcptask.commands import _children as children
from mcptask.commands.following import exec as hooks
from tests.e2e.hooked import LASTING, PATIENT, Hook
from tests.e2e.running import PATIENCE, Cli, Process, Ran, alive, wait_until
from tests.e2e.scripted import Reply, Scripted, completed, created, now, result, tool_result

Start = Callable[..., Process]
WAIT = ["call", "job", "month=x", "--wait"]


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)])
def test_what_the_command_prints_goes_to_stderr_and_its_end_changes_nothing(
    on_server: Cli, server: Scripted, tmp_path: Path, form: tuple[str, ...]
) -> None:
    source = "import sys\nprint('::error::out')\nprint('e\\x1b[2Jrr', file=sys.stderr)\nsys.exit(7)"
    hook = Hook(tmp_path, source)
    ran = on_server(*WAIT, *form, *hook.option)
    assert ran.code == 0
    assert "::error::" not in ran.out
    assert "\n--exec (task 1): ::error::out\n" in f"\n{ran.err}"
    assert "--exec (task 1): e\\x1b[2Jrr" in ran.err
    assert "warning: --exec for task 1 exited with code 7" in ran.err
    if form == ("--json",):
        assert ran.document["warnings"] == ["--exec for task 1 exited with code 7"]


def test_a_command_that_reads_nothing_of_a_long_document_is_no_problem(
    on_server: Cli, server: Scripted, tmp_path: Path
) -> None:
    server.on("tasks/get", completed(text="x" * 3_000_000))
    for source in ("", "import os, time\nif not os.fork(): time.sleep(1)"):
        ran = on_server(*WAIT, *Hook(tmp_path, source).option)
        assert (ran.code, ran.err.count("warning")) == (0, 0)


def test_quiet_means_quiet(on_server: Cli, tmp_path: Path) -> None:
    talker = Hook(tmp_path, "print('hello')")
    assert on_server(*WAIT, "-q", *talker.option).err == ""


def test_a_command_that_prints_without_end_is_not_shown_without_end(
    on_server: Cli, tmp_path: Path
) -> None:
    talker = Hook(tmp_path, "print('x' * 9000)\nfor n in range(5000): print(n)")
    err = on_server(*WAIT, *talker.option).err
    assert "(a very long line)" in err
    assert "(more is not shown)" in err
    assert err.count("--exec (task 1)") == hooks.MOST_LINES


# ── one that does not end ────────────────────────────────────────────────────────────────────────

# Deaf to SIGTERM, with a child of its own that is as well. Both note themselves.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
with open(sys.argv[1], "a") as file:
    print(os.getpid(), file=file)
time.sleep(600)
"""
# Notes that it runs, and that it was asked to end.
POLITE = """
import signal, sys, time
def note(*_):
    with open(sys.argv[1], "a") as file:
        print(1, file=file)
def end(*_):
    note()
    sys.exit()
signal.signal(signal.SIGTERM, end)
note()
time.sleep(600)
"""


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> Callable[[Hook, int], None]:
    """The bound of `--exec` is short, and counts from when the command has noted this many things: however
    long a busy machine takes to start it."""
    start = children.Child.start

    def limit(hook: Hook, notes: int) -> None:
        async def until_it_runs(self: Any, *args: Any) -> None:
            await start(self, *args)
            async with asyncio.timeout(PATIENCE):
                while len(hook.runs) < notes:
                    await asyncio.sleep(0.01)

        monkeypatch.setattr(children.Child, "start", until_it_runs)
        monkeypatch.setattr(hooks, "LIMIT", 0.1)

    return limit


def test_a_command_that_hangs_is_ended_with_its_whole_group(
    on_server: Cli,
    tmp_path: Path,
    limited: Callable[[Hook, int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(children, "GRACE", 0.2)
    hook = Hook(tmp_path, STUBBORN)
    limited(hook, 2)
    ran = on_server(*WAIT, *hook.option)
    assert ran.code == 0
    assert "warning: --exec for task 1 did not end within 0.1 s, and was ended" in ran.err
    assert ran.out == "moved 138, unresolved 4\n"
    assert len(hook.runs) == 2
    wait_until(lambda: not any(map(alive, hook.runs)), "the command lives on")


def test_a_command_that_hangs_is_asked_to_end_first(
    on_server: Cli,
    tmp_path: Path,
    limited: Callable[[Hook, int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(children, "GRACE", PATIENCE)
    hook = Hook(tmp_path, POLITE)
    limited(hook, 1)
    on_server(*WAIT, *hook.option)
    assert hook.runs == [1, 1]


def test_one_that_always_hangs_is_not_waited_for_for_ever(
    on_server: Cli, server: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooks, "LIMIT", 0.2)
    hook = Hook(tmp_path, "import time\ntime.sleep(600)")
    for number in range(6):
        server.on("tools/call", created(f"tsk_{number}"))
        on_server("call", "job", "month=x")
    server.on("tasks/get", lambda handler, got: completed(got.params["taskId"])(handler, got))
    ran = on_server("watch", "--all", *hook.option)
    assert ran.code == 0
    assert ran.err.count("did not end within") == hooks.MOST_IN_A_ROW
    assert "--exec is run no more: 3 times it did not end" in ran.err


def test_one_that_leaves_its_output_open_is_over_when_it_exits(
    on_server: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "LAST_WORDS", 0.1)
    background = (
        "if (pid := os.fork()): open(sys.argv[1], 'w').write(str(pid))\nelse: time.sleep(600)"
    )
    hook = Hook(tmp_path, f"import os, sys, time\n{background}")
    try:
        assert "warning" not in on_server(*WAIT, *hook.option).err
        assert alive(hook.runs[0]), "what it leaves in the background is its own affair"
    finally:
        os.kill(hook.runs[0], signal.SIGKILL)


def test_the_other_tasks_go_on_while_the_command_runs(
    start: Start, cli: Cli, server: Scripted, tmp_path: Path
) -> None:
    hook = Hook(tmp_path, PATIENT)
    for name in ("tsk_1", "tsk_2"):
        server.on("tools/call", created(name))
        cli("call", "job", "month=x", "-s", server.url)
    states = {"tsk_1": completed("tsk_1"), "tsk_2": now("working", "tsk_2")}
    server.on("tasks/get", lambda handler, got: states[got.params["taskId"]](handler, got))
    watch = start("watch", "1", "2", *hook.option)
    wait_until(lambda: hook.runs, "the command was not run")
    polls = len(server.got("tasks/get"))
    wait_until(lambda: len(server.got("tasks/get")) > polls + 1, "the other task stands still")
    states["tsk_2"] = completed("tsk_2")
    hook.go_on()
    assert watch.end().code == 0
    assert len(hook.runs) == 2


@pytest.mark.parametrize("answer", [created(), result(**tool_result())], ids=["task", "result"])
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_and_keeps_what_came_of_the_call(
    start: Start, server: Scripted, tmp_path: Path, signum: signal.Signals, answer: Reply
) -> None:
    server.on("tools/call", answer)
    hook = Hook(tmp_path, LASTING)
    call = start(*WAIT, "-s", server.url, *hook.option)
    wait_until(lambda: hook.runs, "the command was not run")
    call.hear("Waiting for the command of --exec")
    call.send(signum)
    ran: Ran = call.end()
    assert ran.code == 0
    assert ran.out == "moved 138, unresolved 4\n"
    assert "was ended by the interruption" in ran.err
    wait_until(lambda: not alive(hook.runs[0]), "the command lives on")


def test_a_signal_that_ends_the_waiting_runs_nothing(
    start: Start, server: Scripted, tmp_path: Path
) -> None:
    hook = Hook(tmp_path)
    server.on("tasks/get", now("working", statusMessage="half"))
    call = start(*WAIT, "-s", server.url, *hook.option)
    call.hear("half")
    call.send(signal.SIGINT)
    assert call.end().code == 130
    assert hook.runs == []


def test_a_person_is_told_what_is_waited_for(
    start: Start, server: Scripted, tmp_path: Path
) -> None:
    hook = Hook(tmp_path, PATIENT)
    call = start(*WAIT, "-s", server.url, *hook.option)
    call.hear("Waiting for the command of --exec to end. Ctrl-C ends it.")
    hook.go_on()
    assert call.end().code == 0
