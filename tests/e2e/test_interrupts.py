"""Ctrl-C and SIGTERM in real processes: stop at once, leave the task alone, say how to come back."""

import signal
import threading
import time
from collections.abc import Callable

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli, Process, wait_until
from tests.e2e.scripted import ID, Reply, Scripted, completed, created, held, now

SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
Start = Callable[..., Process]


@pytest.fixture
def calling(start: Start, server: Scripted, gate: threading.Event) -> Process:
    """A process whose tools/call has been sent and is not answered before the gate opens."""
    server.on("tools/call", held(gate, created()))
    process = start("call", "job", "month=x", "--wait", "-s", server.url)
    wait_until(lambda: server.got("tools/call"), "the call is sent")
    return process


@pytest.mark.parametrize(("signum", "code"), SIGNALS)
def test_a_signal_while_following_leaves_the_task_running_a13_3(
    start: Start, cli: Cli, demo: str, signum: signal.Signals, code: int
) -> None:
    process = start("call", "slow_echo", "text=hi", "seconds=1.5", "--wait", "-s", demo)
    process.hear("working")
    process.send(signum)
    ran = process.end()
    assert (ran.code, ran.out) == (code, "")
    assert "it was left alone" in ran.err
    assert "mcptask watch 1" in ran.err
    assert "mcptask cancel 1" in ran.err
    later = cli("watch", "1", clock=Clock())
    assert (later.code, later.out) == (0, "hi\n")


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_a_signal_leaves_a_whole_document(start: Start, server: Scripted, form: str) -> None:
    server.on("tasks/get", now("working"))
    process = start("call", "job", "month=x", "--wait", form, "-s", server.url)
    wait_until(lambda: server.got("tasks/get"), "it is followed")
    process.send(signal.SIGINT)
    ran = process.end()
    body = ran.document if form == "--json" else ran.events[-1]["document"]
    assert (ran.code, body["exitCode"], body["outcome"]) == (130, 130, "interrupted")
    assert (body["error"]["kind"], body["task"]["status"]) == ("interrupted", "working")
    assert "mcptask watch 1" in body["error"]["hint"]


def test_a_signal_while_watching_several_names_each(
    start: Start, cli: Cli, server: Scripted
) -> None:
    for name in ("tsk_1", "tsk_2"):
        server.on("tools/call", created(name))
        cli("call", "job", "month=x", "-s", server.url)

    def reply(handler: object, got: object) -> None:
        now("working", got.params["taskId"])(handler, got)  # type: ignore[attr-defined,arg-type]

    server.on("tasks/get", reply)
    process = start("watch", "--all")
    wait_until(lambda: len(server.got("tasks/get")) >= 2, "both are followed")
    process.send(signal.SIGINT)
    ran = process.end()
    assert ran.code == 130
    assert "Stopped following 2 tasks (1–2); they were left alone." in ran.err
    assert "mcptask watch 1 2" in ran.err
    assert "mcptask cancel 1 2" in ran.err


def test_ctrl_c_before_the_handle_came_waits_for_it_and_stores_it_a8_8(
    calling: Process, cli: Cli, server: Scripted, gate: threading.Event
) -> None:
    """A5.10: closing the request could cancel the work."""
    calling.send(signal.SIGINT)
    calling.hear("Waiting up to 5 s")
    gate.set()
    ran = calling.end()
    assert ran.code == 130
    assert "mcptask watch 1" in ran.err
    (record,) = cli("list", "--json").listed["tasks"]
    assert record["taskId"] == ID
    server.on("tasks/get", completed())
    assert cli("watch", "1").code == 0


def test_a_second_ctrl_c_leaves_at_once_and_the_call_stays_marked_a8_8(
    calling: Process, cli: Cli, server: Scripted
) -> None:
    calling.send(signal.SIGINT)
    calling.hear("Ctrl-C again leaves at once")
    began = time.monotonic()
    calling.send(signal.SIGINT)
    ran = calling.end()
    assert ran.code == 130
    assert time.monotonic() - began < 4
    assert "not known" in ran.err
    assert [mark["tool"] for mark in cli("list", "--json").listed["calls"]] == ["job"]
    assert len(server.got("tools/call")) == 1


@pytest.mark.parametrize(
    ("command", "method", "reply"),
    [
        ("get 1", "tasks/get", completed()),
        ("cancel 1", "tasks/cancel", completed()),
        ("list --refresh", "tasks/get", completed()),
        ("tools", "tools/list", completed()),
        ("call job month=x", "tools/list", completed()),
    ],
)
def test_ctrl_c_during_any_other_request_is_a_quiet_130(
    start: Start,
    cli: Cli,
    server: Scripted,
    gate: threading.Event,
    command: str,
    method: str,
    reply: Reply,
) -> None:
    cli("call", "job", "month=x", "-s", server.url)
    before = len(server.got(method))
    server.on(method, held(gate, reply))
    process = start(*command.split(), MCPTASK_SERVER=server.url)
    wait_until(lambda: len(server.got(method)) > before, "it is asked")
    process.send(signal.SIGINT)
    ran = process.end()
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == "error: interrupted\n"


def test_on_interrupt_cancel_asks_the_server_a13_3(start: Start, server: Scripted) -> None:
    server.on("tasks/get", now("working"))
    words = ["call", "job", "month=x", "--wait", "--on-interrupt", "cancel", "-s", server.url]
    process = start(*words)
    wait_until(lambda: server.got("tasks/get"), "it is followed")
    process.send(signal.SIGINT)
    ran = process.end()
    assert ran.code == 130
    assert [got.params["taskId"] for got in server.got("tasks/cancel")] == [ID]


def test_ctrl_c_on_an_impatient_thumb_leaves_no_traceback(start: Start, server: Scripted) -> None:
    server.on("tasks/get", now("working"))
    process = start("call", "job", "month=x", "--wait", "-s", server.url)
    wait_until(lambda: server.got("tasks/get"), "it is followed")
    for _ in range(5):
        process.send(signal.SIGINT)
        time.sleep(0.002)
    ran = process.end()
    assert ran.code in (130, -signal.SIGINT)
    assert "mcptask watch 1" in ran.err
