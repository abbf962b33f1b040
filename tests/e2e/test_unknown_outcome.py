"""A `tools/call` whose answer is lost: what is told and kept of it, for each way to lose one (A4.5)."""

import threading

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import (
    TOOL,
    Reply,
    Scripted,
    created,
    dies,
    error,
    held,
    http,
    result,
    task,
)

JSON = "application/json"
LOST: dict[str, tuple[Reply, int]] = {
    "202": (http(202), 9),
    "204": (http(204), 9),
    "nothing": (http(200, "", JSON), 9),
    "half an object": (http(200, "{", JSON), 9),
    "a page": (http(200, "<h1>Hi</h1>"), 9),
    "someone else's answer": (http(200, '{"jsonrpc":"2.0","id":99,"result":{}}', JSON), 9),
    "neither result nor error": (http(200, '{"jsonrpc":"2.0","id":2,"result":5}', JSON), 9),
    "an unknown kind of result": (result(resultType="banana"), 9),
    "a task without an id": (result(resultType="task", status="working"), 9),
    "408": (http(408), 7),
    "500": (http(500), 7),
    "502": (http(502, "<h1>Bad gateway</h1>"), 7),
    "503": (http(503), 7),
    "504": (http(504), 7),
    "a connection that breaks": (dies, 7),
    "a stream that ends": (http(200, ": hi\n\n", "text/event-stream"), 7),
}
NOT_DONE: dict[str, tuple[Reply, int]] = {
    "302": (http(302, Location="https://elsewhere.example/"), 9),
    "401": (http(401), 8),
    "403": (http(403), 8),
    "404": (http(404), 9),
    "406": (http(406), 9),
    "429": (http(429), 7),
    "503 with a time": (http(503, Retry_After="9"), 7),
    "-32021": (error(-32021, "no", 400), 4),
    "-32022": (error(-32022, "no", 400, data={"supported": ["2099-01-01"]}), 9),
    "-32602": (error(-32602, "no such tool"), 4),
    "-32603": (error(-32603, "oops", 500), 4),
}


@pytest.mark.parametrize("name", LOST)
def test_a_call_whose_answer_is_lost_is_of_unknown_outcome_and_noted_a4_5(
    on_server: Cli, server: Scripted, name: str
) -> None:
    reply, code = LOST[name]
    server.on("tools/call", reply)
    ran = on_server("call", "job", "month=x", "--wait")
    assert ran.code == code
    assert f"job was sent to {server.name}" in ran.err
    assert "whether it was done there is not known" in ran.err
    assert "it is not sent again" in ran.err
    assert "mcptask forget 1" in ran.err
    assert len(server.got("tools/call")) == 1
    (mark,) = on_server("list", "--json").listed["calls"]
    assert (mark["ref"], mark["tool"]) == (1, "job")


@pytest.mark.parametrize("name", NOT_DONE)
def test_a_call_that_was_refused_is_not_one_of_unknown_outcome_a4_5(
    on_server: Cli, server: Scripted, name: str
) -> None:
    reply, code = NOT_DONE[name]
    server.on("tools/call", reply)
    ran = on_server("call", "job", "month=x", "--wait")
    assert ran.code == code
    assert "not known" not in ran.err
    assert len(server.got("tools/call")) == 1
    assert on_server("list", "--json").listed["calls"] == []


def test_an_id_in_an_answer_that_cannot_be_used_is_told_a8_2(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/call", result(**(task(task_id="tsk_unheard_of") | {"resultType": "banana"})))
    assert "tsk_unheard_of" in on_server("call", "job", "month=x").err


@pytest.mark.parametrize("limit", ["timeout", "answer_timeout", "--timeout"])
def test_a_call_that_is_not_waited_for_any_longer_is_of_unknown_outcome_a4_5(
    cli: Cli, server: Scripted, gate: threading.Event, limit: str
) -> None:
    """The list of tools is kept, so that the limit is the call's alone."""
    key = "" if limit.startswith("--") else f'{limit} = "300ms"\n'
    cli.configure(f'[servers.studio]\nurl = "{server.url}"\n{key}')
    server.on("tools/list", result(tools=[TOOL], ttlMs=60_000))
    assert cli("tools").code == 0
    server.on("tools/call", held(gate, created()))
    ran = cli("call", "job", "month=x", *([limit, "1s"] if not key else []))
    assert ran.code == (7 if key else 124)
    assert "whether it was done there is not known" in ran.err
    assert len(cli("list", "--json").listed["calls"]) == 1


def test_a_call_to_nobody_was_not_sent_a4_5(cli: Cli, server: Scripted) -> None:
    cli.configure('[servers.studio]\nurl = "http://127.0.0.1:9/mcp"\n')
    ran = cli("call", "job", "month=x")
    assert (ran.code, "not known" in ran.err) == (7, False)
    assert cli("list", "--json").listed["calls"] == []
