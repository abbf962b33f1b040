"""What a command says it does is what it does: what is refused, what is bounded, what is told."""

import threading
import time

import pytest

from mcptask.commands import _connect, _sessions
from mcptask.env import Clock
from mcptask.protocol.transports.base import Limits
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    LONGEST_HOLD,
    Reply,
    Scripted,
    asking,
    completed,
    created,
    held,
    http,
    now,
    question,
    result,
    tool_result,
)

TWO = {"approve": question(), "name": question("Who is it?", who={"type": "string"})}
TASK_COMMANDS = ["watch 1", "cancel 1", "update 1 action=keep"]


def keeps_alive(handler: object, got: object) -> None:
    """Comments on a stream and never an answer, until the client leaves."""
    handler.send_response(200)  # type: ignore[attr-defined]
    handler.send_header("Content-Type", "text/event-stream")  # type: ignore[attr-defined]
    handler.end_headers()  # type: ignore[attr-defined]
    handler.close_connection = True  # type: ignore[attr-defined]
    ends = time.monotonic() + LONGEST_HOLD
    try:
        while time.monotonic() < ends:
            handler.wfile.write(b": still here\n\n")  # type: ignore[attr-defined]
            time.sleep(0.02)
    except OSError:
        pass


def null_result(handler: object, got: object) -> None:
    body = f'{{"jsonrpc": "2.0", "id": {got.id}, "result": null}}'  # type: ignore[attr-defined]
    http(200, body, "application/json")(handler, got)  # type: ignore[arg-type]


@pytest.fixture
def stored(on_server: Cli, server: Scripted) -> Cli:
    """Task 1 is stored, and nothing has been sent since."""
    on_server("call", "job", "month=x")
    del server.requests[:]
    return on_server


# ── options ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("command", ["call job month=x", *TASK_COMMANDS])
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--timeout", "soon"),
        ("--timeout", "0"),
        ("--interval", "-5"),
        ("--give-up-after", "1e999"),
        ("--give-up-after", ""),
        ("--on-interrupt", "explode"),
    ],
)
def test_a_bad_option_is_refused_before_anything_is_sent(
    stored: Cli, server: Scripted, command: str, option: str, value: str
) -> None:
    ran = stored(*command.split(), f"{option}={value}", "--json").document
    assert (ran["exitCode"], ran["error"]["kind"]) == (2, "usage")
    assert server.requests == []
    said = stored(*command.split(), option, value)
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert server.requests == []


def test_quiet_counts_among_joined_letters(cli: Cli, server: Scripted) -> None:
    waited = cli("call", "job", "month=x", "-wq", "-s", server.url)
    assert (waited.code, waited.out, waited.err) == (0, "moved 138, unresolved 4\n", "")
    left = cli("call", "job", "month=x", "-qs", server.url)
    assert (left.code, left.out, left.err) == (0, f"{ID}\n", "")


# ── questions ────────────────────────────────────────────────────────────────────────────────────


def test_of_two_questions_the_answered_one_is_shown_no_more(stored: Cli, server: Scripted) -> None:
    """A12.2: the server may list it for a while."""
    server.on("tasks/get", asking(**TWO))
    assert stored("update", "1", "--key", "name", "who=Ada").code == 0
    for ran in (stored("get", "1"), stored("watch", "1")):
        assert "4 bookings fit nowhere" in ran.out + ran.err
        assert "Who is it?" not in ran.out + ran.err
        assert "mcptask update 1" in ran.out + ran.err
    for command in ("get 1 --exit-status", "watch 1"):
        body = stored(*command.split(), "--json").document
        assert body["exitCode"] == 3
        assert list(body["error"]["data"]["inputRequests"]) == ["approve"]


def test_the_events_of_an_update_begin_with_the_answer(stored: Cli, server: Scripted) -> None:
    server.on("tasks/get", asking(), asking(), now("working"), completed())
    lines = stored("update", "1", "action=keep", "--wait", "--jsonl").events
    assert (lines[0]["event"], lines[0]["keys"]) == ("answered", ["approve"])
    assert lines[-1]["document"]["outcome"] == "completed"


@pytest.mark.parametrize(
    ("then", "said", "unsaid"),
    [
        (asking(), "has not applied it yet", "ended"),
        (now("working"), "mcptask watch 1", "not applied"),
        (completed(), "Task 1 ended: completed", "not applied"),
    ],
    ids=["asking still", "working", "completed"],
)
def test_an_update_looks_at_the_task_afterwards_and_says_what_it_sees(
    stored: Cli, server: Scripted, then: Reply, said: str, unsaid: str
) -> None:
    server.on("tasks/get", asking(), then)
    ran = stored("update", "1", "action=keep")
    assert (ran.code, ran.out) == (0, "")
    assert said in ran.err
    assert unsaid not in ran.err
    sent = [got.method for got in server.requests]
    assert sent == ["tasks/get", "tasks/update", "tasks/get"]


def test_a_question_that_is_never_sent_ends_the_watch_soon(stored: Cli, server: Scripted) -> None:
    """A9.7"""
    server.on("tasks/get", now("input_required", inputRequests={}))
    ran = stored("watch", "1", "--json").document
    assert (ran["exitCode"], ran["outcome"]) == (3, "input_required")
    assert len(server.got("tasks/get")) <= 3


# ── a call that was sent ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (http(202), "202"),
        (result(content=[{"type": "text", "text": "x" * 5000}]), "over 4000 bytes"),
        (null_result, "neither a result"),
        (result(resultType="task", taskId=4711, status="working"), "a task may exist: 4711"),
        (result(resultType="later", task={"taskId": ID}), f"a task may exist: {ID}"),
    ],
    ids=["202", "too long", "null", "a number for an id", "an unknown type"],
)
def test_an_answer_that_cannot_be_used_leaves_the_note_of_the_call(
    on_server: Cli, server: Scripted, monkeypatch: pytest.MonkeyPatch, reply: Reply, told: str
) -> None:
    """A4.5: it was sent, so it may have been done."""
    monkeypatch.setattr(_connect, "Limits", lambda **_: Limits(message_bytes=4000))
    server.on("tools/call", reply)
    ran = on_server("call", "job", "month=x", "--wait")
    assert (ran.code, ran.out) == (9, "")
    assert told in ran.err
    assert "whether it was done there is not known" in ran.err
    assert "mcptask forget 1" in ran.err
    assert len(server.got("tools/call")) == 1
    assert [mark["ref"] for mark in on_server("list", "--json").listed["calls"]] == [1]


def test_a_call_that_takes_its_time_is_waited_for_and_said_to_be(
    on_server: Cli, server: Scripted, monkeypatch: pytest.MonkeyPatch, gate: threading.Event
) -> None:
    """It may be a tool that makes no task: what bounds other requests does not bound this one."""
    monkeypatch.setattr(_connect, "ANSWER_LIMIT", 0.2)
    monkeypatch.setattr(_connect, "Limits", lambda **_: Limits(first_byte=0.2))
    monkeypatch.setattr(_sessions, "TOLD_EVERY", 0.1)
    server.on("tools/call", held(gate, result(**tool_result("done at last"))))
    threading.Timer(0.8, gate.set).start()
    ran = on_server("call", "job", "month=x", clock=Clock())
    assert (ran.code, ran.out) == (0, "done at last\n")
    assert f"{server.name} has not answered tools/call (job) yet" in ran.err
    assert len(server.got("tools/call")) == 1


@pytest.mark.parametrize(
    ("command", "method"), [(("tools",), "tools/list"), (("get", "1"), f"tasks/get ({ID})")]
)
def test_nobody_waits_without_knowing_what_for(
    stored: Cli,
    server: Scripted,
    monkeypatch: pytest.MonkeyPatch,
    gate: threading.Event,
    command: tuple[str, ...],
    method: str,
) -> None:
    monkeypatch.setattr(_sessions, "TOLD_EVERY", 0.1)
    server.always(held(gate, result(tools=[])))
    threading.Timer(0.5, gate.set).start()
    ran = stored(*command, "-s", server.url, clock=Clock())
    assert f"{server.name} has not answered {method} yet" in ran.err
    assert "has not answered" not in stored(*command, "-q", "-s", server.url).err


@pytest.mark.parametrize("command", [("tools",), ("get", "1")], ids=str)
def test_the_timeout_of_a_command_that_only_asks_bounds_all_its_waiting(
    stored: Cli, server: Scripted, gate: threading.Event, command: tuple[str, ...]
) -> None:
    server.always(held(gate, result(tools=[])))
    ran = stored(*command, "-s", server.url, "--timeout", "300ms", clock=Clock())
    assert ran.code == 124
    assert "the time given for waiting is over" in ran.err


# ── bounds ───────────────────────────────────────────────────────────────────────────────────────


def test_signs_of_life_alone_do_not_keep_a_poll_waiting_for_ever(
    stored: Cli, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A5.8"""
    monkeypatch.setattr(_connect, "ANSWER_LIMIT", 0.3)
    monkeypatch.setattr(_connect, "GET_WAIT", 0.3)
    server.on("tasks/get", keeps_alive, completed())
    ran = stored("watch", "1", "-v")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert "no complete answer within 0.3 s" in ran.err
    server.on("tasks/get", keeps_alive)
    body = stored("get", "1", "--refresh", "--json").document
    assert (body["exitCode"], body["error"]["kind"]) == (7, "unreachable")


def test_a_timeout_bounds_a_silent_call_and_leaves_its_note(
    on_server: Cli, server: Scripted, gate: threading.Event
) -> None:
    server.on("tools/call", held(gate, created()))
    ran = on_server("call", "job", "month=x", "--timeout", "0.3")
    assert (ran.code, ran.out) == (124, "")
    assert "whether it was done there is not known" in ran.err
    assert [mark["tool"] for mark in on_server("list", "--json").listed["calls"]] == ["job"]


@pytest.mark.parametrize(
    ("command", "method"),
    [
        ("call job month=x", "tools/list"),
        ("cancel 1", "tasks/cancel"),
        ("cancel 1", "tasks/get"),
        ("update 1 action=keep", "tasks/get"),
        ("update 1 action=keep", "tasks/update"),
        ("watch 1", "tasks/get"),
    ],
)
def test_a_timeout_bounds_every_silent_request(
    stored: Cli, server: Scripted, gate: threading.Event, command: str, method: str
) -> None:
    if method == "tasks/update":
        server.on("tasks/get", asking())
    server.on(method, held(gate, completed()))
    began = time.monotonic()
    ran = stored(*command.split(), "--timeout", "0.3", "--json").document
    assert (ran["exitCode"], ran["outcome"]) == (124, "timeout")
    assert time.monotonic() - began < LONGEST_HOLD / 3
    assert len(server.got(method)) == 1
    assert server.got("tools/call") == []
    assert stored("list", "--json").listed["calls"] == []
