"""Any HTTP response: any status, any headers, any body. Messages or an error of the wire come out."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any
from unittest import mock

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError, Unauthorized, Unreachable, WireError
from mcptask.protocol.transports.base import Limits, Message, Request
from mcptask.protocol.transports.http import HttpTransport
from mcptask.protocol.transports.http_answers import (
    LONGEST_RETRY_AFTER,
    Answer,
    outranks_its_body,
    refusal,
    retry_after,
    unusable,
)
from mcptask.protocol.transports.messages import answers, error_in, is_response
from tests.fuzz.hostile import CUTS, LONGEST_MESSAGE, cut, outcome, scraps, spoiled, tries
from tests.fuzz.test_messages import BYTES, MESSAGES

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
REQUEST = Request(7, "tasks/get", {})

LATIN = st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=12)
MOMENTS = st.datetimes(
    timezones=st.integers(-1439, 1439).map(lambda m: timezone(timedelta(minutes=m)))
)
DATES = st.sampled_from(
    ["Tue, 01 Sep 2026 12:00:05 GMT", "Mon, 01 Jan 0001 00:00:00 +1400", "Fri, 31 Dec 9999 23:59:59 -1400",
     "1", "0.5", "-1", "9" * 400, "9" * 5000, "²", "1e9", "nan", "Tue", "1 Jan 99999 00:00", ""]
)  # fmt: skip
DATES |= MOMENTS.map(format_datetime) | LATIN
CHALLENGES = scraps(
    b"Bearer ", b"error=", b'"', b"scope", b" = ", b"a" * 3000, b"resource_metadata=", b",", b"\xff"
).map(lambda data: data.decode("latin-1"))  # fmt: skip
TYPES = st.sampled_from(
    ["application/json", "text/event-stream", "Application/JSON ; a=b", "text/html", ";", "y" * 5000]
)  # fmt: skip
LOCATIONS = st.sampled_from(
    ["/mcp", "", "//", "http://[", "http://127.0.0.1:1/a", "https://x/?a=b", "http://a:b@c:99999", "/" * 5000]
)  # fmt: skip
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "content-type": TYPES | LATIN,
        "content-encoding": st.sampled_from(["identity", "gzip", "br", "\xff"]),
        "retry-after": DATES,
        "date": DATES,
        "www-authenticate": CHALLENGES,
        "location": LOCATIONS | LATIN,
    },
)
PLAUSIBLE_BODIES = spoiled(MESSAGES).map(lambda message: json.dumps(message).encode())
EVENTS = st.lists(PLAUSIBLE_BODIES.map(lambda body: b"data: " + body + b"\n\n")).map(b"".join)
BODIES = BYTES | PLAUSIBLE_BODIES | EVENTS
STATUSES = st.sampled_from([200, 202, 204, 301, 307, 308, 400, 401, 403, 404, 429, 503]) | (
    st.integers(100, 599)
)


def encoded(headers: dict[str, str]) -> httpx.Headers:
    return httpx.Headers([(n.encode(), v.encode("latin-1")) for n, v in headers.items()])


async def arriving(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


# ── what a status means ──────────────────────────────────────────────────────────────────────────


@tries(100)
@given(st.integers(400, 999) | STATUSES, LATIN, HEADERS, BODIES)
def test_any_refusal_is_an_error_of_the_wire_with_finite_numbers_a4_3_a4_4(
    status: int, reason: str, headers: dict[str, str], body: bytes
) -> None:
    answer = Answer("http://x/mcp", status, reason * 500, encoded(headers), body)
    for error in (None, error_in(body), *({"error": m} for m in [{"message": "\ud800" * 9999}])):
        found = refusal(answer, error, NOW)
        assert isinstance(found, WireError)
        assert len(found.message) < LONGEST_MESSAGE
        assert len(json.dumps(found.data)) < 10 * LONGEST_MESSAGE
        assert isinstance(found, Unauthorized) == (status in (401, 403))
        wait = getattr(found, "retry_after", None)
        assert wait is None or 0 <= wait <= LONGEST_RETRY_AFTER
    assert isinstance(outranks_its_body(answer), bool)
    assert len(unusable(answer).message) < LONGEST_MESSAGE


@tries(150)
@given(DATES, DATES, MOMENTS)
def test_any_retry_after_is_a_finite_wait_or_none_a4_4(
    value: str, date: str, wall: datetime
) -> None:
    wait = retry_after({"retry-after": value, "date": date}, wall)
    assert wait is None or (0 <= wait <= LONGEST_RETRY_AFTER and math.isfinite(wait))


@pytest.mark.parametrize("status", [401, 403, 429, 503])
def test_an_error_with_half_a_character_in_its_text_is_told_all_the_same_c2(status: int) -> None:
    headers = {"retry-after": "1"}
    body = b'{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no \\ud800"}}'
    answer = Answer("http://x/mcp", status, "", headers, body)
    assert "no \ud800" in refusal(answer, error_in(body), NOW).message


@pytest.mark.parametrize("name", ["content-type", "www-authenticate", "location"])
@pytest.mark.parametrize("status", [200, 302, 401, 404])
def test_a_header_of_any_length_makes_a_short_message_c2(name: str, status: int) -> None:
    value = 'Bearer error="' + "x" * 50_000 + '"' if name.startswith("www") else "x" * 50_000
    _, error = exchanged(httpx.Response(status, headers={name: value}, content=arriving(b"")))
    assert isinstance(error, WireError)
    assert len(error.message) < LONGEST_MESSAGE


# ── through the whole transport ──────────────────────────────────────────────────────────────────


def exchanged(response: httpx.Response) -> tuple[list[Message], WireError | None]:
    """What one request gives that is answered with this response, whatever URL it goes to."""
    messages: list[Message] = []

    def trace(direction: str, kind: str, **fields: Any) -> int:
        json.dumps(fields)
        return 1

    async def ask() -> None:
        limits = Limits(message_bytes=3000)
        transport = HttpTransport("http://127.0.0.1:1/mcp", limits=limits, trace=trace)
        try:
            async for message in transport.exchange(REQUEST):
                messages.append(message)
        finally:
            await transport.close()

    async def respond(self: Any, request: httpx.Request) -> httpx.Response:
        return response

    with mock.patch.object(httpx.AsyncHTTPTransport, "handle_async_request", respond):
        return messages, outcome(WireError, lambda: asyncio.run(ask()))


@tries(60)
@given(STATUSES, HEADERS, BODIES, CUTS)
def test_any_response_gives_own_messages_and_one_end_a4_3_a5_5(
    status: int, headers: dict[str, str], body: bytes, cuts: list[int]
) -> None:
    chunks = arriving(*cut(body, cuts))
    response = httpx.Response(status, headers=encoded(headers), content=chunks)
    messages, error = exchanged(response)
    ends = [message for message in messages if is_response(message)]
    assert len(ends) == (0 if error else 1)
    assert ends == messages[-1:] or error
    for end in ends:
        assert answers(end, REQUEST) or "error" in end
    if error is not None:
        assert isinstance(error, ProtocolError | Unreachable | Unauthorized)
        assert len(error.message) < LONGEST_MESSAGE


def raw_answer(data: bytes) -> WireError:
    """The error that comes of these bytes in place of an HTTP response."""

    async def ask() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(data)
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            transport = HttpTransport(f"http://127.0.0.1:{port}/mcp")
            try:
                async for _ in transport.exchange(REQUEST):
                    pass
            finally:
                await transport.close()

    error = outcome(WireError, lambda: asyncio.run(ask()))
    assert error is not None
    return error


@tries(40)
@given(
    scraps(
        b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 500\r\n", b"content-type: application/json\r\n", b"\r\n",
        b"content-length: 5\r\n", b"content-length: -1\r\n", b"transfer-encoding: chunked\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\n", b"content-type: text/event-stream\r\n", b"ffffffffffff\r\n",
        b"5\r\nhello\r\n", b"0\r\n\r\n", b": x\n", b"data: {}\n\n", b"x" * 70_000,
    )
)  # fmt: skip
def test_any_bytes_for_a_response_end_in_an_error_of_the_wire_a4_3(data: bytes) -> None:
    error = raw_answer(data)
    assert isinstance(error, ProtocolError | Unreachable)
    assert len(error.message) < LONGEST_MESSAGE


def test_what_is_no_http_is_quoted_shortly_a4_3() -> None:
    error = raw_answer(b"SSH-2.0-x" * 1000 + b"\r\n\r\n")
    assert isinstance(error, Unreachable)
    assert len(error.message) < 500
