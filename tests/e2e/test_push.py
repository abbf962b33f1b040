"""Being told of changes instead of asking for them, as a real process does it (A11)."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Cli, Process, Ran, wait_until
from tests.e2e.scripted import (
    Scripted,
    completed,
    created,
    error,
    http,
    now,
    question,
    scripted,
    subscribed,
    task,
    told,
    tool_result,
)

LISTEN = "subscriptions/listen"
NEVER_MS = 3_600_000  # an interval by which no test would ever end
DONE = told("tasks", **task("completed", result=tool_result(), pollIntervalMs=NEVER_MS))
YES = "it tells of changes by itself: it acknowledged a subscription to 1 of 1 tasks"

Start = Callable[..., Process]


@pytest.fixture
def patient(server: Scripted) -> Scripted:
    """A server whose tasks go on for ever, and that wants nobody to ask."""
    server.on("tools/call", created(pollIntervalMs=NEVER_MS))
    server.on("tasks/get", now("working", pollIntervalMs=NEVER_MS))
    return server


def heard_of(server: Scripted, method: str, times: int = 1) -> None:
    wait_until(lambda: len(server.got(method)) >= times, f"{times} × {method}")


@pytest.mark.parametrize(
    "words", [("call", "job", "month=x", "--wait"), ("watch", "-s", "{url}", "tsk_8f21c0ffee")]
)
def test_an_end_is_heard_at_once_whatever_the_interval_a11_1(
    patient: Scripted, start: Start, gate: threading.Event, words: tuple[str, ...]
) -> None:
    patient.on(LISTEN, subscribed(gate, DONE))
    words = tuple(word.format(url=patient.url) for word in words)
    process = start(*words, "-v", MCPTASK_SERVER=patient.url)
    heard_of(
        patient, "tasks/get", 1 if words[0] == "call" else 2
    )  # the one after the acknowledgement
    gate.set()
    ran = process.end()
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert f"{patient.name}: {YES}" in ran.err
    (listen,) = patient.got(LISTEN)
    assert listen.params["notifications"] == {"taskIds": ["tsk_8f21c0ffee"]}


def test_without_verbose_nothing_is_said_of_how_it_is_learned(
    patient: Scripted, process: Callable[..., Ran]
) -> None:
    patient.on(LISTEN, subscribed(DONE))
    told_of = process("call", "job", "month=x", "--wait", "-s", patient.url).err
    assert "subscri" not in told_of


def test_a_question_is_told_and_ends_a_run_where_nobody_can_answer_a12_11(
    patient: Scripted, process: Callable[..., Ran]
) -> None:
    asks = task("input_required", inputRequests={"approve": question()}, pollIntervalMs=NEVER_MS)
    patient.on(LISTEN, subscribed(told("tasks", **asks)))
    ran = process("call", "job", "month=x", "--wait", "--json", "-s", patient.url)
    assert (ran.code, list(ran.document["task"]["inputRequests"])) == (3, ["approve"])


def test_what_is_pushed_makes_the_same_json_lines_as_what_is_polled(
    patient: Scripted, process: Callable[..., Ran]
) -> None:
    more = told("tasks", **task(statusMessage="1 of 2", pollIntervalMs=NEVER_MS))
    patient.on(LISTEN, subscribed(more, DONE))
    lines = process("call", "job", "month=x", "--wait", "--jsonl", "-s", patient.url).events
    assert [each["event"] for each in lines if each["event"] != "heard"][-3:] == [
        "status",
        "status",
        "ended",
    ]
    assert {each["event"] for each in lines} <= {"created", "status", "heard", "ended"}


def test_of_two_servers_one_tells_and_the_other_is_asked_a11_1(
    cli: Cli, patient: Scripted, process: Callable[..., Ran]
) -> None:
    with scripted() as other:
        cli("call", "job", "month=x", "-s", patient.url)
        other.on("tools/call", created("tsk_other"))
        other.on("tasks/get", *[now("working", "tsk_other")] * 2, completed("tsk_other"))
        cli("call", "job", "month=x", "-s", other.url)
        patient.on(LISTEN, subscribed(DONE))
        ran = process("watch", "--all", "--json", "-v")
        assert [each["outcome"] for each in ran.documents["tasks"]] == ["completed"] * 2
        assert f"{patient.name}: {YES}" in ran.err
        assert f"{other.name}: it does not offer subscriptions; polling" in ran.err
        assert len(patient.got(LISTEN)) == len(other.got(LISTEN)) == 1


REFUSALS = {
    "no such method": (error(-32601, status=404), "it does not offer subscriptions"),
    "no such page": (http(404, "<h1>no</h1>"), "it refuses subscriptions"),
    "a bare end": (None, "it acknowledges no subscription to tasks"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_server_that_does_not_push_is_not_asked_by_the_next_command_a11_1(
    cli: Cli, server: Scripted, name: str
) -> None:
    refusal, why = REFUSALS[name]
    if refusal is not None:
        server.on(LISTEN, refusal)
    else:
        no_ids = told("subscriptions/acknowledged", notifications={})
        server.on(LISTEN, http(200, f"data: {json.dumps(no_ids)}\n\n", "text/event-stream"))
    for _ in range(2):
        server.on("tasks/get", now("working"), completed())
        ran = cli("call", "job", "month=x", "--wait", "-v", "-s", server.url)
        assert ran.code == 0
        assert f"{server.name}: {why}" in ran.err
    assert len(server.got(LISTEN)) == 1


@pytest.mark.parametrize("code", [-32602, -32603, -32000])
def test_a_refusal_of_these_tasks_is_forgotten_with_the_command_a11_1_a4_6(
    cli: Cli, server: Scripted, code: int
) -> None:
    server.on(LISTEN, error(code, "not now"))
    for _ in range(2):
        server.on("tasks/get", now("working"), completed())
        ran = cli("call", "job", "month=x", "--wait", "-v", "-s", server.url)
        assert "it refuses subscriptions (not now); polling" in ran.err
    assert len(server.got(LISTEN)) == 2


@pytest.mark.parametrize("front", ["http", "stdio"])
def test_the_demo_pushes_over_both_transports_a11_1(
    process: Callable[..., Ran], tmp_path: Path, front: str, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("demo") if front == "http" else "demo"
    trace = tmp_path / "trace.jsonl"
    ran = process(
        *("call", "slow_echo", "text=hi", "seconds=2", "--wait", "-v"),
        *("-s", server, "--trace", str(trace)),
    )
    assert (ran.code, ran.out) == (0, "hi\n")
    assert YES in ran.err
    entries = [json.loads(line) for line in trace.read_text().splitlines()]
    messages = [(each["direction"], each["message"]) for each in entries if each.get("message")]
    sent = [message["method"] for direction, message in messages if direction == "out"]
    assert sent.count(LISTEN) == 1
    methods = [message.get("method") for _, message in messages]
    since = methods[methods.index("notifications/subscriptions/acknowledged") :]
    assert since.count("tasks/get") <= 1, "asked once more, then told"
    assert any(
        message.get("method") == "notifications/tasks"
        and message["params"]["status"] == "completed"
        for direction, message in messages
        if direction == "in"
    )
    if front == "stdio":
        assert sent[-1] == "notifications/cancelled", "A11.11"
