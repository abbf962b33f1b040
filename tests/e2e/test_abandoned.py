"""A watch that nobody reads any more ends with its reader, and a full disk does not end a watch."""

import json
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.running import MCPTASK, PATIENCE, ROOT, Cli, Process, alive, environment, wait_until
from tests.e2e.scripted import Reply, Scripted, completed, created, held, now
from tests.e2e.several import Started, by_task

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and limits of POSIX")
Start = Callable[..., Process]
RARELY = {"pollIntervalMs": 600_000}
# A demo server that notes its own process and one that it started; neither ends of itself.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.path.insert(0, {root!r})
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdin=subprocess.DEVNULL)
with open({pids!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
from mcptask.demo.__main__ import main
main(["--store", {store!r}])
while True:
    time.sleep(1)
"""


@contextmanager
def piped(*argv: str, words_too: bool = False) -> Iterator["subprocess.Popen[bytes]"]:
    """mcptask with a pipe on its stdout, and on stderr the same or another."""
    with subprocess.Popen(
        [*MCPTASK, *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if words_too else subprocess.PIPE,
        env=environment({}),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def idle(server: Scripted) -> list[str]:
    """A call whose task will have no news for ten minutes."""
    server.on("tools/call", created(**RARELY))
    return ["call", "job", "month=x", "--wait", "-s", server.url]


# ── the reader leaves ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)], ids=str)
def test_a_reader_that_leaves_ends_the_watch_though_nothing_happens(
    cli: Cli, idle: list[str], form: tuple[str, ...]
) -> None:
    with piped(*idle, *form) as process:
        assert process.stdout
        wait_until(lambda: cli("list", "--json").listed["tasks"], "the task is stored")
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
        assert process.stderr
        said = process.stderr.read().decode()
    assert "Nobody reads stdout any more. One task goes on. " in said
    assert said.endswith("mcptask watch 1\n")
    assert cli("list", "--json").listed["tasks"][0]["status"] == "working"


def test_one_pipe_for_output_and_words_is_enough_to_notice(idle: list[str]) -> None:
    with piped(*idle, words_too=True) as process:
        assert process.stdout
        assert process.stdout.readline().startswith(b"mcptask: job on")
        process.stdout.close()
        assert process.wait(PATIENCE) == 141


def test_a_reader_of_the_words_alone_is_not_missed(server: Scripted) -> None:
    server.on("tasks/get", now("working"))
    with piped("call", "job", "month=x", "--wait", "-s", server.url) as process:
        assert process.stderr
        assert process.stdout
        process.stderr.readline()
        process.stderr.close()
        wait_until(lambda: len(server.got("tasks/get")) > 1, "it goes on")
        server.on("tasks/get", completed())
        assert process.stdout.read() == b"moved 138, unresolved 4\n"
        assert process.wait(PATIENCE) == 0


def test_a_reader_that_leaves_does_not_cut_off_an_unanswered_call_a5_10(
    cli: Cli, server: Scripted, idle: list[str], gate: threading.Event
) -> None:
    server.on("tools/call", held(gate, created(**RARELY)))
    with piped(*idle) as process:
        assert process.stdout
        wait_until(lambda: server.got("tools/call"), "the call is sent")
        process.stdout.close()
        gate.set()
        assert process.wait(PATIENCE) == 141
    assert [task["ref"] for task in cli("list", "--json").listed["tasks"]] == [1]


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_for_the_whole_pipeline_is_said_as_without_one(
    server: Scripted, started: Started, kind: signal.Signals
) -> None:
    """The reader is gone by the time the results of what has ended are printed."""
    started(server, 2)
    server.on("tasks/get", by_task(tsk_1=completed("tsk_1"), tsk_2=now("working", "tsk_2")))
    with piped("watch", "1", "2") as process:
        assert process.stdout
        assert process.stderr
        wait_until(lambda: len(server.got("tasks/get")) > 2, "only one goes on")
        process.send_signal(signal.SIGSTOP)
        process.send_signal(kind)
        process.stdout.close()
        process.send_signal(signal.SIGCONT)
        words = process.stderr.read().decode()
        assert process.wait(PATIENCE) == (130 if kind == signal.SIGINT else 143)
    assert "Stopped following task 2; it was left alone.\n" in words


# ── servers over stdio ───────────────────────────────────────────────────────────────────────────


@pytest.fixture
def stubborn(cli: Cli, tmp_path: Path) -> tuple[list[str], Callable[[], bool]]:
    """The words of a call to such a server, and whether all its processes are gone. Who is in no hurry waits
    longer for it than any test does."""
    script, pids = tmp_path / "stubborn.py", tmp_path / "pids"
    store = str(tmp_path / "demo.sqlite3")
    script.write_text(STUBBORN.format(root=str(ROOT), pids=str(pids), store=store))
    command = json.dumps([sys.executable, str(script)])
    cli.configure(f'[servers.stubborn]\ncommand = {command}\nstop_timeout = "{2 * PATIENCE:.0f}s"')
    words = ["call", "slow_echo", "text=x", "seconds=60", "--wait", "-s", "stubborn"]
    return words, lambda: not any(map(alive, map(int, pids.read_text().split())))


ENDS = {
    "Ctrl-C": (lambda process: process.send_signal(signal.SIGINT), 130),
    "SIGTERM": (lambda process: process.send_signal(signal.SIGTERM), 143),
    "SIGHUP": (lambda process: process.send_signal(signal.SIGHUP), 143),
    "broken pipe": (lambda process: process.stdout.close(), 141),
}


@pytest.mark.parametrize("end", ENDS)
def test_no_process_of_a_server_outlives_the_watch_a6_6(
    stubborn: tuple[list[str], Callable[[], bool]], end: str
) -> None:
    words, gone = stubborn
    act, code = ENDS[end]
    with piped(*words) as process:
        assert process.stderr
        while b"working" not in process.stderr.readline():
            pass
        act(process)
        assert process.wait(PATIENCE) == code
        assert gone()


def test_an_impatient_thumb_kills_what_does_not_end_and_hears_all_the_same_a6_6(
    stubborn: tuple[list[str], Callable[[], bool]],
) -> None:
    words, gone = stubborn
    with piped(*words) as process:
        assert process.stderr
        while b"working" not in process.stderr.readline():
            pass
        for _ in range(20):
            process.send_signal(signal.SIGINT)
            if process.poll() is not None:
                break
            threading.Event().wait(0.02)
        said = process.stderr.read().decode()
        assert process.wait(PATIENCE) in (130, -signal.SIGINT)
        wait_until(gone, "its processes were killed")
    assert said.splitlines()[-3:] == [
        "Stopped following task 1; it was left alone.",
        "  follow it again: mcptask watch 1",
        "  cancel it: mcptask cancel 1",
    ]


def test_a_watch_that_is_killed_leaves_no_demo_server_behind(start: Start) -> None:
    """It sees the end of its input, which is all that can be done for it."""
    process = start("call", "slow_echo", "text=x", "seconds=60", "--wait", "-s", "demo")
    process.hear("working")
    children = Path(f"/proc/{process.popen.pid}/task/{process.popen.pid}/children")
    pids = [int(pid) for pid in children.read_text().split()]
    assert pids
    process.popen.kill()
    wait_until(lambda: not any(map(alive, pids)), "the server ends by itself")


# ── the disk is full ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="needs prlimit")
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(("end", "code"), [(completed, 0), (None, 4)])
def test_a_full_disk_in_the_middle_costs_one_warning_and_not_the_outcome(
    start: Start,
    server: Scripted,
    started: Started,
    count: int,
    end: Callable[[str], Reply] | None,
    code: int,
) -> None:
    started(server, count)
    ids = [f"tsk_{number}" for number in range(1, count + 1)]
    server.on("tasks/get", by_task(**{name: now("working", name) for name in ids}))
    process = start("watch", "--all")
    wait_until(lambda: len(server.got("tasks/get")) >= 2 * count, "all are followed")
    resource.prlimit(process.popen.pid, resource.RLIMIT_FSIZE, (0, 0))
    asked = len(server.got("tasks/get"))
    news = {name: now("working", name, statusMessage=f"half of {name}") for name in ids}
    server.on("tasks/get", by_task(**news))
    wait_until(lambda: len(server.got("tasks/get")) >= asked + 2 * count, "it goes on")
    last = end or (lambda name: now("failed", name, error={"code": -1, "message": "no room"}))
    server.on("tasks/get", by_task(**{name: last(name) for name in ids}))
    ran = process.end()
    assert ran.code == code
    assert ran.err.count("could not be noted") == 1
    assert ran.out.count("moved 138, unresolved 4") == (count if end else 0)
