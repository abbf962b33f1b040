"""The table of A4.3, method by method, over a real connection: what comes out, and how often was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from mcptask.env import Clock
from mcptask.errors import McptaskError, Unreachable
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.session import Session
from mcptask.protocol.transports.http import HttpTransport
from tests.e2e.scripted import ID, VERSION, Reply, Scripted, dies, error, http, result, scripted
from tests.protocol.fakes import FakeClock

METHODS: dict[str, Callable[[Session], Coroutine[Any, Any, Any]]] = {
    "server/discover": lambda session: session.discover(),
    "tools/list": lambda session: session.list_tools(),
    "tools/call": lambda session: session.call("job", {"month": "x"}, None),
    "tasks/get": lambda session: session.get(ID),
    "tasks/update": lambda session: session.update(ID, {"room": {"action": "decline"}}),
    "tasks/cancel": lambda session: session.cancel(ID),
}

JSON = "application/json"
STREAM = "text/event-stream"
PAGE = "<!doctype html><h1>Not here</h1>"
LISTS_OURS = {"supported": ["2099-01-01", VERSION]}
LISTS_OTHERS = {"supported": ["2099-01-01"]}
LISTS_OLDER = {"supported": ["2025-11-25"]}

# What a server that was met in this run answers, whatever it is asked, and what then comes of each method, in
# the order of METHODS: the exception and the number of requests, those included that look into the matter.
# `Unreachable-` says that nothing was done, `Unreachable` that this is not known.
PASSING = (
    "Unreachable 3 | Unreachable 3 | Unreachable 1 | Unreachable 3 | Unreachable 3 | Unreachable 3"
)
GARBLED = "Garbled 3 | Garbled 3 | Garbled 1 | Garbled 3 | Garbled 3 | Garbled 3"
NO_ANSWER = "ProtocolError 2 | " + " | ".join(["ProtocolError 1"] * 5)  # `initialize` as well
LOCKED_OUT = " | ".join(["Unauthorized 1"] * 6)
REFUSED = " | ".join(["HttpRefused 1"] * 6)
NOT_OVER = (  # the probe alone asks on: `initialize`, and one GET
    "HttpRefused 3 | HttpRefused 1 | HttpRefused 1 | HttpRefused 1 | HttpRefused 1 | HttpRefused 1"
)
BREACH = "RpcError 1 | ProtocolError 1 | RpcError 1 | ProtocolError 1 | ProtocolError 1 | ProtocolError 1"
OTHERS = " | ".join(["NoCommonVersion 1"] * 6)
TABLE: dict[str, tuple[Reply, str]] = {
    # answers that are none
    "200 and nothing": (http(200, "", JSON), GARBLED),
    "200 and half an object": (http(200, "{", JSON), GARBLED),
    "200 and a page": (http(200, PAGE), GARBLED),
    "200 and someone else's answer": (
        http(200, '{"jsonrpc":"2.0","id":99,"result":{}}', JSON),
        GARBLED,
    ),
    "204": (http(204), GARBLED),
    "202": (http(202), NO_ANSWER),
    "a stream that ends early": (http(200, ": hi\n\n", STREAM), PASSING),
    "a connection that breaks": (dies, PASSING),
    # refusals of HTTP
    "302": (http(302, Location="https://elsewhere.example/"), REFUSED),
    "307 elsewhere": (http(307, Location="https://elsewhere.example/"), REFUSED),
    "400 and nothing": (http(400), NOT_OVER),
    "401": (http(401), LOCKED_OUT),
    "401 with an error in its body": (error(-32602, "no", 401), LOCKED_OUT),
    "403": (http(403), LOCKED_OUT),
    "404 and a page": (http(404, PAGE), NOT_OVER),
    "405": (http(405), NOT_OVER),
    "406": (http(406), REFUSED),
    "415": (http(415), REFUSED),
    "408": (http(408), PASSING),
    "425": (http(425), PASSING),
    "429": (http(429), PASSING.replace("e ", "e- ")),
    "429 for a while": (http(429, Retry_After="7"), " | ".join(["Unreachable- 1"] * 6)),
    "429 for a moment": (http(429, Retry_After="2"), PASSING.replace("e ", "e- ")),
    "500": (http(500), PASSING),
    "502 and a page": (http(502, PAGE), PASSING),
    "503": (http(503), PASSING),
    "503 for a moment": (http(503, Retry_After="2"), PASSING.replace("e ", "e- ")),
    "504": (http(504), PASSING),
    # errors of JSON-RPC, with whatever status
    "-32020": (error(-32020, "Mcp-Method differs", 400), BREACH),
    "-32021": (error(-32021, "no", 400, data={"requiredCapabilities": {"roots": {}}}), BREACH),
    "-32022 that lists ours": (
        error(-32022, "no", 400, data=LISTS_OURS),
        "NoCommonVersion 2 | ProtocolError 2 | RpcError 2 | ProtocolError 2 | ProtocolError 2 "
        "| ProtocolError 2",
    ),
    "-32022 that lists others": (error(-32022, "no", 400, data=LISTS_OTHERS), OTHERS),
    "-32022 that lists older ones": (error(-32022, "no", 200, data=LISTS_OLDER), OTHERS),
    "-32600": (
        error(-32600, "no", 400, id="server-error"),
        BREACH.replace("RpcError 1", "NoCommonVersion 2", 1),
    ),
    "-32601": (
        error(-32601, "no", 404),
        BREACH.replace("RpcError 1", "NoCommonVersion 2", 1),
    ),
    "-32602": (
        error(-32602, "no", 200),
        "NoCommonVersion 2 | RpcError 1 | RpcError 1 | TaskLost 1 | TaskLost 2 | TaskLost 2",
    ),
    "-32602 with 400 and without an id": (
        error(-32602, "no", 400, id=None),
        "NoCommonVersion 2 | RpcError 1 | RpcError 1 | TaskLost 1 | TaskLost 2 | TaskLost 2",
    ),
    "-32603": (
        error(-32603, "no", 500),
        "NoCommonVersion 4 | RpcError 3 | RpcError 1 | Unreachable 3 | RpcError 3 | RpcError 3",
    ),
    "a code without a meaning": (
        error(-32000, "Bad Request", 400, id=None),
        "NoCommonVersion 2 | RpcError 1 | RpcError 1 | Unreachable 1 | RpcError 1 | RpcError 1",
    ),
}
CELLS = [
    pytest.param(method, reply, expected, id=f"{name}: {method}")
    for name, (reply, row) in TABLE.items()
    for method, expected in zip(METHODS, row.split(" | "), strict=True)
]


def asked(
    server: Scripted, method: str, *, forced: bool = True, time: FakeClock | None = None
) -> tuple[Any, int]:
    """The value or the exception, and how many requests came."""
    clock = (time or FakeClock()).clock
    transport = HttpTransport(server.url, clock=Clock(wall=clock.wall))

    async def once() -> Any:
        session = Session(transport, V20260728(), clock=clock, forced=forced)
        try:
            return await METHODS[method](session)
        except McptaskError as error:
            return error
        finally:
            await session.close()

    return asyncio.run(once()), len(server.requests)


def told(found: Any) -> str:
    untouched = isinstance(found, Unreachable) and not found.sent
    return type(found).__name__ + "-" * untouched


@pytest.mark.parametrize(("method", "reply", "expected"), CELLS)
def test_each_answer_to_each_method_is_taken_as_the_table_says_a4_3(
    method: str, reply: Reply, expected: str
) -> None:
    with scripted() as server:
        server.always(reply)
        found, count = asked(server, method)
    assert f"{told(found)} {count}" == expected
    assert len(server.got("tools/call")) <= 1 + ("-32022" in str(getattr(found, "code", "")))


GOOD = result(tools=[], supportedVersions=[VERSION], taskId=ID, status="working")
PASSES = [
    "200 and nothing",
    "200 and a page",
    "204",
    "a stream that ends early",
    "a connection that breaks",
    "408",
    "425",
    "429",
    "429 for a moment",
    "500",
    "503",
    "503 for a moment",
    "-32603",
]
# A server that is busy gets the rest that it asks for, else a second (A10.10).
PAUSES = {"429": 2.0, "429 for a moment": 4.0, "503 for a moment": 4.0}


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("method", METHODS)
def test_what_passes_is_not_noticed_but_by_a_call_a4_3(method: str, name: str) -> None:
    with scripted() as server:
        reply, _ = TABLE[name]
        server.on(method, reply, reply, GOOD)
        time = FakeClock()
        found, count = asked(server, method, time=time)
        assert isinstance(found, McptaskError) is (method == "tools/call")
        assert count == (1 if method == "tools/call" else 3)
        if method != "tools/call":
            assert round(sum(time.slept), 6) == PAUSES.get(name, 0.25 + 0.75)


# A server that nobody has met: the refusals of an older one lead to its name (A1.3), the others are the same.
OLDER_ANSWERS = [
    "400 and nothing",
    "404 and a page",
    "405",
    "-32600",
    "-32601",
    "a code without a meaning",
]


@pytest.mark.parametrize("name", OLDER_ANSWERS)
@pytest.mark.parametrize("method", METHODS)
def test_a_server_that_was_never_met_is_asked_what_it_speaks_a4_3(method: str, name: str) -> None:
    reply, _ = TABLE[name]
    with scripted() as server:
        server.always(reply)
        server.on("initialize", result(protocolVersion="2025-06-18", capabilities={}))
        found, count = asked(server, method, forced=False)
    assert told(found) == "NoCommonVersion"
    assert "2025-06-18" in found.message
    assert count == (2 if method == "server/discover" else 3)


@pytest.mark.parametrize("name", [name for name in TABLE if name not in OLDER_ANSWERS])
def test_no_other_answer_makes_a_server_an_older_one_s9(name: str) -> None:
    reply, _ = TABLE[name]
    with scripted() as server:
        server.always(reply)
        found, _ = asked(server, "tools/call", forced=False)
    if name.startswith("-32602") or name == "-32603":
        assert told(found) == "NoCommonVersion"  # no modern server answers a probe so
    else:
        assert server.got("initialize") == []
