"""What a transport tells besides answers: is this HTTP+SSE, and is this still the same process."""

import asyncio
import os

import pytest

from mcptask.errors import Unreachable
from mcptask.protocol.transports import http_older
from mcptask.protocol.transports.base import Limits
from mcptask.protocol.transports.http import HttpTransport
from mcptask.protocol.transports.stdio import StdioTransport

ANSWER = {"jsonrpc": "2.0", "id": "$id", "result": {"ok": True}}


def announces(http, answer, **options):
    """The verdict, and what the peer saw."""

    async def main():
        async with http.peer(answer) as peer:
            transport = HttpTransport(peer.url, **options)
            try:
                return await transport.announces_endpoint(), peer.seen
            finally:
                await transport.close()

    return asyncio.run(main())


def test_a_stream_that_begins_with_an_endpoint_event_is_http_and_sse_a1_3(http):
    stream = http.stream(
        b": hi\n\nevent: endp", b"oint\ndata: /messages?session=1\n\n", then="hang"
    )
    found, (seen,) = announces(http, stream, headers=lambda: {"Authorization": "Bearer x"})
    assert found is True
    assert (seen.verb, seen.path) == ("GET", "/mcp")
    assert seen.headers["accept"] == "text/event-stream"
    assert seen.headers["authorization"] == "Bearer x"
    for name in ("content-type", "mcp-protocol-version", "mcp-method", "mcp-session-id"):
        assert name not in seen.headers


def test_the_one_get_is_traced_like_all_that_goes_out_a1_3(http):
    entries = []

    def trace(direction, kind, **fields):
        entries.append((direction, kind, fields))
        return len(entries)

    announces(http, http.response(405), trace=trace)
    assert [(d, k, f.get("method") or f.get("status")) for d, k, f in entries] == [
        ("out", "request", "GET"),
        ("in", "response", 405),
    ]
    assert "message" not in entries[0][2]


@pytest.mark.parametrize(
    "make",
    [
        lambda http: http.response(405),
        lambda http: http.response(404, b"<h1>No</h1>", kind="text/html"),
        lambda http: http.response(200, b"event: endpoint\ndata: x\n\n", kind="text/html"),
        lambda http: http.response(307, location="https://elsewhere.example/"),
        lambda http: http.stream(b'event: message\ndata: {"jsonrpc": "2.0"}\n\n'),
        lambda http: http.stream(b"event: endpoint\ndata: never ended"),
        lambda http: http.stream(b"data: " + b"x" * 70_000),
        lambda http: http.response(200, b"?", kind="text/event-stream", content_encoding="br"),
        lambda http: b"no http\r\n\r\n",
    ],
)
def test_anything_else_is_not_a1_3(http, make):
    assert announces(http, make(http))[0] is False


def test_a_silent_stream_is_not_waited_for_a5_8(http, monkeypatch):
    silence = http.stream(b": hi\n\n", then="hang")
    assert announces(http, silence, limits=Limits(first_byte=0.05))[0] is False
    monkeypatch.setattr(http_older, "PATIENCE", 0.05)
    assert announces(http, silence)[0] is False


def test_no_other_transport_has_such_an_event():
    stdio = StdioTransport(["x"], environ=os.environ)
    assert asyncio.run(stdio.announces_endpoint()) is False


def test_a_child_that_died_and_the_one_after_it_are_two_lives_a6_7(
    request_, scripted_child, all_of
):
    async def main():
        command, _ = scripted_child([ANSWER], ["die"])
        transport = StdioTransport(command, environ=os.environ)
        try:
            before = transport.life
            await all_of(transport, request_(id=1))
            assert transport.life == before
            with pytest.raises(Unreachable):
                await all_of(transport, request_(id=2))
            after = transport.life  # told before anything is sent to the next one
            assert after != before
            await all_of(transport, request_(id=3))
            assert transport.life == after
        finally:
            await transport.close()

    asyncio.run(main())
