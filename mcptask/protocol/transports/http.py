"""Streamable HTTP: one POST a request, answered by one JSON object or by a stream of events (A3, A4, A5).

Sends no DELETE and no GET but the one that tells HTTP+SSE apart, resends nothing (an answer that was lost is
the caller's to judge), keeps no cookie, and shows no URL with its user, password or query.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

from mcptask import __version__
from mcptask.env import Clock
from mcptask.errors import Garbled, ProtocolError, Unreachable
from mcptask.protocol.transports import bodies, http_answers, http_client
from mcptask.protocol.transports.base import Limits, Message, Remark, Request
from mcptask.protocol.transports.headers import reserved
from mcptask.protocol.transports.http_answers import Answer
from mcptask.protocol.transports.http_client import httpx
from mcptask.protocol.transports.http_faults import mapped
from mcptask.protocol.transports.messages import (
    Noise,
    Sieve,
    answers,
    dump,
    error_in,
    is_response,
    parse,
    patience,
    rpc_messages,
)
from mcptask.protocol.transports.redact import bare_url
from mcptask.protocol.transports.sse import Event, SseParser
from mcptask.protocol.transports.trace import Trace, faults, received
from mcptask.protocol.transports.trust import Trust

MAX_REDIRECTS = 5

# What was said about an answer that cannot be used: enough to show its start.
_EXCERPT_BYTES = 1024

# Where a request of httpx keeps the number of its trace entry, for all that is read in answer to it.
_ENTRY = "mcptask.entry"

_FIXED = {
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",  # compressed, an event would wait until more of them came
    "content-type": "application/json",
}


class HttpTransport:
    """One MCP endpoint. Several exchanges may run at once; the client is made at the first of them."""

    life = 0  # whatever runs behind the address, no request depends on another

    def __init__(
        self,
        url: str,
        *,
        headers: Callable[[], Mapping[str, str]] = dict,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        remark: Remark = lambda text: None,
        clock: Clock = Clock(),  # noqa: B008 (frozen)
        trace: Trace | None = None,
        environ: Mapping[str, str] = {},
        trust: Trust = Trust(),  # noqa: B008 (frozen)
    ) -> None:
        """`headers` is asked before each request, so that a renewed credential counts at once; names
        that the wire needs are left out of it with a remark. `environ` may name proxies and CAs. Raises
        ConfigError for an unusable URL.
        """
        self._url, self._login = http_client.endpoint(url)
        self._headers = headers
        self._limits = limits
        self._noise = Noise(remark)
        self._clock = clock
        self._trace = trace
        self._environ, self._trust = environ, trust
        self._via = ""  # through which proxy, for people; known once there is a client
        self._client: httpx.AsyncClient | None = None

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """See `base.Transport`. Raises Unreachable, Unauthorized, ProtocolError, and UsageError for
        what cannot be sent at all.
        """
        url = self._url
        for _ in range(MAX_REDIRECTS + 1):
            async with self._post(url, request) as response:
                target = http_client.redirect(response)
                if target is None:
                    async with aclosing(self._answer(response, request)) as messages:
                        async for message in messages:
                            yield message
                    return
            url = target
        raise ProtocolError(f"{bare_url(str(self._url))}: more than {MAX_REDIRECTS} redirects")

    def preview(self, request: Request) -> dict[str, Any]:
        return _sent(self._built(self._url, request), request.message())

    async def announces_endpoint(self) -> bool:
        headers = {**self._common_headers(), "accept": "text/event-stream"}
        client = self._ready()
        get = client.build_request("GET", self._url, headers=http_client.encoded(headers))
        self._told(get)
        wait = self._limits.first_byte
        from mcptask.protocol.transports import http_older  # few servers are that old

        return await http_older.begins_with_endpoint(client, get, patience=wait)

    async def close(self, *, hurry: bool = False) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()
        self._noise.tell_totals()

    @asynccontextmanager
    async def _post(self, url: httpx.URL, request: Request) -> AsyncIterator[httpx.Response]:
        post = self._built(url, request)
        entry = self._told(post, request.message())
        connect, wait = self._limits.connect, patience(request, self._limits)
        with faults(self._trace, entry), mapped(bare_url(str(url)) + self._via, connect, wait):
            response = await self._ready().send(post, stream=True)
            try:
                yield response
            finally:
                # Leaves an unfinished answer at once; the server reads that as a cancellation (A5.10).
                await response.aclose()

    def _built(self, url: httpx.URL, request: Request) -> httpx.Request:
        """The request as it goes out. UsageError for what cannot be sent."""
        body, headers = dump(request.message()), self._request_headers(request)
        connect, wait = self._limits.connect, patience(request, self._limits)
        timeout = httpx.Timeout(connect=connect, pool=connect, read=wait, write=wait)
        return self._ready().build_request(
            "POST", url, content=body, headers=http_client.encoded(headers), timeout=timeout
        )

    async def _answer(
        self, response: httpx.Response, request: Request
    ) -> AsyncGenerator[Message, None]:
        if response.status_code >= 400:
            yield await self._refused(response)
            return
        essence = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status_code in (202, 204) or essence not in _READERS:
            body = (
                b"" if response.status_code == 202 else await bodies.head(response, _EXCERPT_BYTES)
            )
            received(self._trace, body, _entry(response))
            raise http_answers.unusable(_read(response, body))
        async with aclosing(_READERS[essence](self, response, request)) as messages:
            async for message in messages:
                yield message

    async def _json(
        self, response: httpx.Response, request: Request
    ) -> AsyncGenerator[Message, None]:
        body = await bodies.read(response, self._limits.message_bytes)
        received(self._trace, body, _entry(response))
        try:
            found = rpc_messages(parse(body, self._limits.message_bytes))
        except ValueError as exc:
            raise http_answers.unusable(_read(response, body)) from exc
        for message in found:
            # The body answers this POST and no other, so an error needs no id to be ours.
            if answers(message, request) or (is_response(message) and "error" in message):
                yield message
                return
        raise Garbled(
            f"no response to request {request.id} in the answer: {_read(response, body).described}"
        )

    async def _events(
        self, response: httpx.Response, request: Request
    ) -> AsyncGenerator[Message, None]:
        parser = SseParser(self._limits.message_bytes)
        sieve = Sieve(request, self._noise)
        async with aclosing(bodies.chunks(response)) as chunks:
            async for chunk in chunks:
                events = (self._heard(event, response) for event in parser.feed(chunk))
                values = (v for event in events for v in self._values(event))
                for message in (m for value in values for m in sieve.own(value)):
                    yield message
                    if is_response(message):
                        return  # not waiting for the end of the stream (A5.5)
        raise Unreachable(f"{bare_url(str(response.url))}: the stream ended before the answer")

    def _values(self, event: Event) -> Iterator[object]:
        """The JSON value of an event: None where it is no JSON, nothing at all where there is none."""
        if event.type != "message":
            self._noise.heard("the server's stream has events of another type: ignored", event.type)
        elif event.data:  # else a priming event: an id and nothing to read (A5.3)
            try:
                yield parse(event.data.encode(), self._limits.message_bytes)
            except ValueError:
                yield None

    async def _refused(self, response: httpx.Response) -> Message:
        """The JSON-RPC error that came with a status of 400 or above; raises what the status means."""
        body = await bodies.salvage(response, self._limits.message_bytes)
        received(self._trace, body, _entry(response))
        answer, error = _read(response, body), error_in(body)
        if error is None or http_answers.outranks_its_body(answer):
            raise http_answers.refusal(answer, error, self._clock.wall())
        return error

    def _request_headers(self, request: Request) -> dict[str, str]:
        own = {name.lower(): value for name, value in request.headers.items()}
        return self._common_headers() | own | _FIXED

    def _common_headers(self) -> dict[str, str]:
        merged = {"user-agent": f"mcptask/{__version__}", **self._login}
        for name, value in self._headers().items():
            if reserved(name):
                self._noise.heard("a configured header belongs to the protocol: left out", name)
            else:
                merged[name.lower()] = value
        return merged

    def _ready(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = http_client.make(
                self._url, self._head, environ=self._environ, trust=self._trust
            )
            self._via, remarks = http_client.via(self._url, self._environ)
            for text in remarks:
                self._noise.heard(text)
        return self._client

    # ── what the trace is told ──

    def _told(self, request: httpx.Request, message: Message | None = None) -> int | None:
        if self._trace is None:
            return None
        entry = self._trace("out", "request", **_sent(request, message))
        request.extensions[_ENTRY] = entry, self._clock.now()
        return entry

    async def _head(self, response: httpx.Response) -> None:
        """The head of every answer, also of a redirect that is not followed."""
        if self._trace is not None:
            entry, at = response.request.extensions[_ENTRY]
            self._trace(
                "in",
                "response",
                transport="http",
                status=response.status_code,
                reason=response.reason_phrase,
                headers=dict(response.headers),
                to=entry,
                ms=round((self._clock.now() - at) * 1000, 1),
            )

    def _heard(self, event: Event, response: httpx.Response) -> Event:
        if self._trace is not None:
            received(self._trace, event.data.encode(), _entry(response))
        return event


_READERS: Mapping[
    str,
    Callable[[HttpTransport, httpx.Response, Request], AsyncGenerator[Message, None]],
] = {
    "application/json": HttpTransport._json,
    "text/event-stream": HttpTransport._events,
}


def _sent(request: httpx.Request, message: Message | None) -> dict[str, Any]:
    """A request as the trace holds it: all that goes out, secrets included."""
    sent = {
        "transport": "http",
        "method": request.method,
        "url": str(request.url),
        "headers": dict(request.headers),
    }
    return sent if message is None else {**sent, "message": message}


def _entry(response: httpx.Response) -> int | None:
    """The number of the trace entry of the request that this answers."""
    entry: int | None = response.request.extensions.get(_ENTRY, (None,))[0]
    return entry


def _read(response: httpx.Response, body: bytes) -> Answer:
    return Answer(
        bare_url(str(response.url)),
        response.status_code,
        response.reason_phrase,
        response.headers,
        body,
    )
