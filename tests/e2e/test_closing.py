"""How a command ends when it is told to stop: soon, honestly, and with nothing left behind."""

import asyncio
import fcntl
import shlex
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.commands._run import Interruption, run
from mcptask.errors import Interrupted
from tests.e2e.running import PATIENCE, ROOT, Cli, Process, alive, wait_until
from tests.e2e.scripted import ID, Scripted, completed, created, held, http, now, result

Start = Callable[..., Process]
# Marks its pid and the end of its input; ends by neither that nor SIGTERM.
DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.path.insert(0, {root!r})
open({pid!r}, "w").write(str(os.getpid()))
from mcptask.demo.__main__ import main
main(["--store", {store!r}])
open({eof!r}, "w").close()
while True:
    time.sleep(1)
"""


class Deaf:
    """A demo server over stdio that ignores whoever wants to end it politely."""

    def __init__(self, folder: Path) -> None:
        files = {name: folder / name for name in ("pid", "eof", "store")}
        script = folder / "deaf.py"
        script.write_text(DEAF.format(root=str(ROOT), **{k: str(v) for k, v in files.items()}))
        self.option = ["--stdio", shlex.join([sys.executable, str(script)])]
        self._pid, self._eof = files["pid"], files["eof"]

    @property
    def is_asked_to_end(self) -> bool:
        return self._eof.exists()

    @property
    def is_gone(self) -> bool:
        return not alive(int(self._pid.read_text()))


@pytest.fixture
def deaf(tmp_path: Path) -> Deaf:
    return Deaf(tmp_path)


@pytest.fixture
def two(cli: Cli, server: Scripted) -> Scripted:
    """Tasks 1 and 2 are stored and go on for ever."""
    for task_id in ("tsk_1", "tsk_2"):
        server.on("tools/call", created(task_id))
        cli("call", "job", "month=x", "-s", server.url)

    def working(handler: object, got: object) -> None:
        now("working", got.params["taskId"])(handler, got)  # type: ignore[attr-defined,arg-type]

    server.on("tasks/get", working)
    del server.requests[:]
    return server


def waiting(start: Start, server: Scripted, *words: str) -> Process:
    """A process that follows the task of its own call."""
    server.on("tasks/get", now("working"))
    process = start("call", "job", "month=x", "--wait", *words, "-s", server.url)
    wait_until(lambda: server.got("tasks/get"), "it is followed")
    return process


def unread(pipe: int) -> int:
    """How many bytes are in a pipe."""
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))
    return int(count)


# ── cancel ───────────────────────────────────────────────────────────────────────────────────────


def test_every_cancellation_is_sent_before_any_task_is_followed(
    start: Start, two: Scripted
) -> None:
    process = start("cancel", "1", "2", "--wait")
    wait_until(lambda: len(two.got("tasks/get")) >= 2, "both are followed")
    process.send(signal.SIGINT)
    ran = process.end()
    assert ran.code == 130
    methods = [got.method for got in two.requests]
    assert methods[:2] == ["tasks/cancel"] * 2
    assert methods.count("tasks/cancel") == 2
    assert [got.params["taskId"] for got in two.got("tasks/cancel")] == ["tsk_1", "tsk_2"]
    assert "mcptask watch 1 2" in ran.err


def test_a_signal_while_the_first_cancellation_is_unanswered_sends_no_second(
    start: Start, two: Scripted, gate: threading.Event
) -> None:
    two.on("tasks/cancel", held(gate, result()))
    process = start("cancel", "1", "2", "--wait")
    wait_until(lambda: two.got("tasks/cancel"), "it is asked")
    process.send(signal.SIGINT)
    assert process.end().code == 130
    assert [got.method for got in two.requests] == ["tasks/cancel"]


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_on_interrupt_cancel_says_that_the_server_was_asked(
    start: Start, server: Scripted, form: tuple[str, ...]
) -> None:
    process = waiting(start, server, "--on-interrupt", "cancel", *form)
    process.send(signal.SIGINT)
    ran = process.end()
    assert ran.code == 130
    said = ran.document["error"]["message"] if form else ran.err
    assert "Stopped following task 1, and asked the server to cancel it" in said
    assert "left alone" not in ran.out + ran.err
    assert [got.params["taskId"] for got in server.got("tasks/cancel")] == [ID]


@pytest.mark.parametrize("form", [("--wait",), ("--wait", "--json"), ()], ids=str)
def test_on_interrupt_cancel_also_counts_for_a_handle_that_came_after_the_signal(
    start: Start, server: Scripted, gate: threading.Event, form: tuple[str, ...]
) -> None:
    server.on("tools/call", held(gate, created()))
    words = ["call", "job", "month=x", "--on-interrupt", "cancel", *form]
    process = start(*words, "-s", server.url)
    wait_until(lambda: server.got("tools/call"), "the call is sent")
    process.send(signal.SIGINT)
    process.hear("Waiting up to 5 s")
    gate.set()
    ran = process.end()
    assert ran.code == 130
    said = ran.document["error"]["message"] if "--json" in form else ran.err
    assert "asked the server to cancel it" in said
    assert [got.params["taskId"] for got in server.got("tasks/cancel")] == [ID]
    if "--json" not in form:  # left to itself, the call gives its id to a script all the same
        assert ran.out == ("" if form else f"{ID}\n")


def test_on_interrupt_cancel_does_not_claim_what_the_server_refused(
    start: Start, server: Scripted
) -> None:
    process = waiting(start, server, "--on-interrupt", "cancel")
    server.on("tasks/cancel", http(401))
    process.send(signal.SIGINT)
    ran = process.end()
    assert ran.code == 130
    assert "asked the server" not in ran.err
    assert "mcptask cancel 1" in ran.err


# ── signals ──────────────────────────────────────────────────────────────────────────────────────


def test_an_interrupt_that_was_ignored_before_stays_ignored(start: Start, server: Scripted) -> None:
    """As under nohup, or in the background of a script: the child inherits it."""
    usual = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = waiting(start, server)
    finally:
        signal.signal(signal.SIGINT, usual)
    process.send(signal.SIGINT)
    before = len(server.got("tasks/get"))
    wait_until(lambda: len(server.got("tasks/get")) > before, "it goes on")
    server.on("tasks/get", completed())
    ran = process.end()
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_one_more_signal_in_the_last_moment_cuts_off_nothing(signum: signal.Signals) -> None:
    """While the first is obeyed and the handlers go, there is no moment without any."""
    heard = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    usual = {number: signal.getsignal(number) for number in heard}
    seen: list[object] = []

    async def work(interruption: Interruption) -> None:
        signal.raise_signal(signum)
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            sys.setprofile(lambda *_: seen.append(signal.getsignal(signum)))

    try:
        with pytest.raises(Interrupted):
            run(work)
    finally:
        sys.setprofile(None)
        for number, handler in usual.items():
            signal.signal(number, handler)
    assert not {usual[signum], signal.default_int_handler, signal.SIG_DFL} & set(seen)


@pytest.mark.parametrize(
    ("signum", "codes"), [(signal.SIGINT, {130}), (signal.SIGTERM, {143, -signal.SIGTERM})]
)
def test_a_signal_ends_the_reading_of_stdin(
    start: Start, server: Scripted, signum: signal.Signals, codes: set[int]
) -> None:
    process = start("call", "job", "--args", "-", "-s", server.url)
    stdin = process.popen.stdin
    assert stdin
    stdin.write("{")
    stdin.flush()
    wait_until(lambda: unread(stdin.fileno()) == 0, "it has read that, and waits for the rest")
    process.send(signum)
    assert process.popen.wait(PATIENCE) in codes  # its stdin is still open
    assert server.requests == []


# ── servers that do not end ──────────────────────────────────────────────────────────────────────


def test_ctrl_c_has_no_patience_with_a_server_that_does_not_end(start: Start, deaf: Deaf) -> None:
    """A6.6: it gets seconds where nobody waits, and none where somebody does."""
    process = start("call", "slow_echo", "text=hi", "seconds=60", "--wait", *deaf.option)
    process.hear("working")
    began = time.monotonic()
    process.send(signal.SIGINT)
    ran = process.end()
    assert time.monotonic() - began < 2  # with all its patience it takes 4 s and more
    assert ran.code == 130
    assert "mcptask watch 1" in ran.err
    assert deaf.is_gone


def test_a_signal_while_the_finished_session_is_closed_does_not_cost_the_result(
    start: Start, deaf: Deaf
) -> None:
    process = start("call", "quick", "text=hi", *deaf.option)
    wait_until(lambda: deaf.is_asked_to_end, "the session is being closed")
    process.send(signal.SIGINT)
    ran = process.end()
    assert (ran.code, ran.out) == (0, "hi\n")
    assert deaf.is_gone


def test_two_signals_while_the_finished_session_is_closed_kill_what_does_not_end(
    start: Start, deaf: Deaf
) -> None:
    process = start("call", "quick", "text=hi", *deaf.option)
    wait_until(lambda: deaf.is_asked_to_end, "the session is being closed")
    began = time.monotonic()
    process.send(signal.SIGINT)
    time.sleep(0.1)  # two at once are one
    process.send(signal.SIGINT)
    ran = process.end()
    assert time.monotonic() - began < 3  # with all its patience it takes 4 s and more
    assert (ran.code, ran.out, ran.err) == (0, "hi\n", "")
    assert deaf.is_gone
