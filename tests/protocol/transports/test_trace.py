"""The entries of the trace that belong to one transport alone."""

import asyncio
import os
import sys
from contextlib import aclosing
from types import SimpleNamespace

import pytest

from mcptask.errors import ConfigError, HttpRefused, ProtocolError, Unauthorized, Unreachable
from mcptask.protocol.transports.base import Limits
from mcptask.protocol.transports.http import HttpTransport
from mcptask.protocol.transports.stdio import StdioTransport
from mcptask.protocol.transports.trace import TEXT


@pytest.fixture
def traced():
    entries = []

    def trace(direction, kind, **fields):
        entries.append({"direction": direction, "kind": kind, **fields})
        return len(entries)

    def of(kind):
        return [entry for entry in entries if entry["kind"] == kind]

    return SimpleNamespace(trace=trace, entries=entries, of=of)


# ── HTTP ──


def test_the_head_of_an_http_answer_names_its_request_and_the_time_it_took(http, ask, traced):
    times = iter((10.0, 10.25))
    clock = SimpleNamespace(now=lambda: next(times))
    answer = http.response(200, http.result(), x_room="3")
    ask(answer, trace=traced.trace, clock=clock)
    (head,) = traced.of("response")
    assert head["headers"].pop("content-length")
    assert head == {
        "direction": "in",
        "kind": "response",
        "transport": "http",
        "status": 200,
        "reason": "OK",
        "headers": {"content-type": "application/json", "x-room": "3"},
        "to": 1,
        "ms": 250.0,
    }


def test_a_request_has_every_header_that_goes_out(http, ask, traced):
    _, peer = ask(
        http.response(200, http.result()),
        trace=traced.trace,
        clock=SimpleNamespace(now=lambda: 0.0),
    )
    (sent,) = traced.of("request")
    assert sent["headers"] == peer.seen[0].headers
    assert (sent["method"], sent["url"]) == ("POST", peer.url)


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [(401, "text/plain", Unauthorized), (404, "text/html", HttpRefused)],
)
def test_the_body_of_a_refusal_is_in_the_trace_as_noise(http, failure, traced, status, kind, error):
    clock = SimpleNamespace(now=lambda: 0.0, wall=lambda: None)
    failure(error, http.response(status, b"go away", kind), trace=traced.trace, clock=clock)
    assert [(e["kind"], e.get("text", e.get("status"))) for e in traced.entries[1:3]] == [
        ("response", status),
        ("noise", "go away"),
    ]
    assert traced.entries[-1]["kind"] == "fault"


def test_a_redirect_that_is_not_followed_is_seen_with_its_target__A3_9(http, failure, traced):
    answer = http.response(302, location="https://elsewhere.example/")
    clock = SimpleNamespace(now=lambda: 0.0)
    failure(HttpRefused, answer, trace=traced.trace, clock=clock)
    (head,) = traced.of("response")
    assert head["headers"]["location"] == "https://elsewhere.example/"


def test_a_text_in_the_trace_is_bounded__A5_9(http, failure, traced):
    clock = SimpleNamespace(now=lambda: 0.0, wall=lambda: None)
    body = http.response(404, b"x" * 100_000, "text/html")
    failure(HttpRefused, body, trace=traced.trace, clock=clock)
    assert len(traced.of("noise")[0]["text"]) <= TEXT + 1


def test_a_refused_connection_is_a_fault(request_, all_of, traced):
    async def main():
        transport = HttpTransport("http://127.0.0.1:9/mcp", trace=traced.trace)
        with pytest.raises(Unreachable):
            await all_of(transport, request_())
        await transport.close()

    asyncio.run(main())
    assert [e["kind"] for e in traced.entries] == ["request", "fault"]
    assert "connection refused" in traced.entries[1]["text"]


# ── stdio ──


def stdio(command, traced, **options):
    return StdioTransport(command, environ=os.environ, trace=traced.trace, **options)


def test_the_start_of_a_child_is_in_the_trace_with_its_id__A6_7(
    scripted_child, request_, all_of, traced
):
    command, _ = scripted_child([{"jsonrpc": "2.0", "id": "$id", "result": {}}])

    async def main():
        transport = stdio(command, traced)
        await all_of(transport, request_())
        pid = transport._child.pid
        await transport.close()
        return pid

    pid = asyncio.run(main())
    assert traced.entries[0] == {
        "direction": "out",
        "kind": "start",
        "transport": "stdio",
        "command": [os.path.abspath(sys.executable), *command[1:]],
        "childPid": pid,
    }


def test_what_a_child_says_on_stderr_and_its_end_are_in_the_trace__A6_3(
    scripted_child, request_, all_of, traced
):
    command, _ = scripted_child(["die"])

    async def main():
        transport = stdio(command, traced)
        with pytest.raises(Unreachable):
            await all_of(transport, request_())
        await transport.close()

    asyncio.run(main())
    assert [(e["kind"], e.get("text")) for e in traced.entries[2:]] == [
        ("stderr", "dying"),
        ("fault", "the server exited with code 3: dying"),
    ]


def test_a_child_that_ends_while_nobody_asks_is_a_fault_too(
    scripted_child, request_, all_of, traced
):
    answer = {"jsonrpc": "2.0", "id": "$id", "result": {}}
    command, _ = scripted_child([answer, "die"])

    async def main():
        transport = stdio(command, traced)
        await all_of(transport, request_())
        while not traced.of("fault"):
            await asyncio.sleep(0.001)
        await transport.close()

    asyncio.run(main())
    assert [e.get("to") for e in traced.of("fault")] == [None]


def test_giving_up_a_request_is_in_the_trace_as_the_notification_that_goes_out__A6_5(
    scripted_child, request_, traced
):
    progress = {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": "p"},
    }
    command, _ = scripted_child([progress])

    async def main():
        transport = stdio(command, traced)
        request = request_(id=4, params={"_meta": {"progressToken": "p"}})
        async with aclosing(transport.exchange(request)) as messages:
            await anext(messages)
        await transport.close()

    asyncio.run(main())
    (told,) = traced.of("notification")
    assert told["message"]["params"] == {"requestId": 4}
    assert traced.of("fault") == []


def test_a_line_that_is_too_long_is_noise_without_its_text__A5_9(
    scripted_child, request_, all_of, traced
):
    command, _ = scripted_child(["x" * 5000])

    async def main():
        transport = stdio(command, traced, limits=Limits(message_bytes=1000))
        with pytest.raises(ProtocolError):
            await all_of(transport, request_())
        await transport.close()

    asyncio.run(main())
    assert traced.of("noise")[0]["text"] == "the server sent a line of over 1000 bytes"


def test_a_command_that_cannot_be_started_is_a_fault(request_, all_of, traced):
    async def main():
        with pytest.raises(ConfigError):
            await all_of(stdio(["no-such-program-here"], traced), request_())

    asyncio.run(main())
    assert [e["kind"] for e in traced.entries] == ["fault"]
