"""One call over a transport: its id, its headers, its answer, and its repetition while that is safe."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import aclosing
from dataclasses import replace
from itertools import count
from typing import Any

from mcptask.env import Clock
from mcptask.errors import Garbled, RpcError, Unreachable, WireError
from mcptask.protocol.generations.base import Call
from mcptask.protocol.generations.jsonrpc import INTERNAL_ERROR, result_of
from mcptask.protocol.pacing import Pace
from mcptask.protocol.transports.base import Message, Request, Transport
from mcptask.protocol.transports.headers import encode, param_headers

ATTEMPTS = 3  # of a request that is safe to repeat, where nobody loops above us
PAUSE = 0.25  # s before the second attempt, three times that before the third
ANSWER_LIMIT = 120.0  # s for one whole answer, however busy its stream is with keep-alives (A5.8)
LONGEST_PAUSE = 5.0  # s: a longer Retry-After is for the caller to wait out


class Caller:
    """Makes the calls of one session. `version` goes into the headers of every request."""

    def __init__(
        self, transport: Transport, version: str, clock: Clock, limit: float = ANSWER_LIMIT
    ) -> None:
        self._limit = limit
        self._transport = transport
        self._version = version
        self._clock = clock
        self._ids = count(1)
        self._pace = Pace(clock)
        self._under_way: dict[int, tuple[Call, float]] = {}

    async def attempt(
        self,
        call: Call,
        attempts: int,
        before: Callable[[], Awaitable[None]] | None = None,
        *,
        doubtful: bool = False,
    ) -> dict[str, Any]:
        """The result object of one call, repeated after a passing fault: up to `attempts` times in all.

        `before` goes before each of them: the server may be another process by then (A6.7). `doubtful` is for
        `Pace`. Raises what all of them raise, and `RpcError` for an error that the server answered with.
        """
        try:
            return await self._repeated(call, attempts, before, doubtful)
        finally:
            self._under_way.pop(id(call), None)

    async def _repeated(
        self,
        call: Call,
        attempts: int,
        before: Callable[[], Awaitable[None]] | None,
        doubtful: bool,
    ) -> dict[str, Any]:
        in_doubt = False
        for attempt in range(1, attempts + 1):
            try:
                if before is not None:
                    await before()
            except WireError as error:
                error.in_doubt = in_doubt
                raise
            try:
                async with self._pace.turn(doubtful=doubtful):
                    self._under_way.setdefault(id(call), (call, self._clock.now()))
                    return result_of(await self.answer(self._request(call)))
            except WireError as error:
                error.in_doubt = in_doubt
                asked = getattr(error, "retry_after", None) or 0.0
                if attempt == attempts or not _passes(error) or asked > LONGEST_PAUSE:
                    raise
                in_doubt = in_doubt or getattr(error, "sent", True)
            await self._clock.sleep(max(PAUSE * 3 ** (attempt - 1), asked))
        raise AssertionError("attempts is at least 1")  # pragma: no cover - for the type checker

    @property
    def under_way(self) -> Collection[tuple[Call, float]]:
        """The calls that went out and have no answer yet, and since when (on the clock's `now`)."""
        return self._under_way.values()

    def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """The one place where a request goes out."""
        return self._transport.exchange(request)

    async def answer(self, request: Request) -> Message:
        """The response to one request; what comes before it on the same stream is not for us.

        Signs of life alone do not keep it waiting for ever: `Unreachable` after the session's limit, or the
        request's own `wait` where that is longer.
        """
        limit = max(request.wait or 0.0, self._limit)
        try:
            async with (
                asyncio.timeout(limit),
                aclosing(self.exchange(request)) as messages,
            ):
                async for message in messages:
                    if "result" in message or "error" in message:
                        return message
        except TimeoutError:
            raise Unreachable(f"no complete answer within {limit:g} s") from None
        raise Unreachable("the server's answer ended before it was complete")

    async def stream(self, call: Call) -> AsyncGenerator[Message, None]:
        """All messages that one request is answered with, the response last, however long that takes."""
        request = self._request(call)
        # The id of a subscription is a text (A11.2).
        named = replace(request, id=f"{call.method}-{request.id}")
        async with aclosing(self.exchange(named)) as messages:
            async for message in messages:
                yield message

    @property
    def life(self) -> int:
        """See `Transport.life`."""
        return self._transport.life

    async def quiet(self) -> None:
        """Until the server may be asked again (A10.10)."""
        await self._pace.quiet()

    def preview(self, call: Call) -> dict[str, Any]:
        """What `attempt` would send, as `Transport.preview` has it; nothing is sent."""
        return self._transport.preview(self._request(call))

    def _request(self, call: Call) -> Request:
        headers = {"MCP-Protocol-Version": self._version, "Mcp-Method": call.method}
        if call.subject is not None:
            headers["Mcp-Name"] = encode(call.subject)
        if call.schema is not None:
            headers |= param_headers(call.schema, call.params.get("arguments", {}))
        return Request(
            id=self.next_id(),
            method=call.method,
            params=call.params,
            headers=headers,
            wait=call.wait,
        )

    def next_id(self) -> int:
        return next(self._ids)


def _passes(error: WireError) -> bool:
    if isinstance(error, RpcError):
        return error.code == INTERNAL_ERROR
    return isinstance(error, Unreachable | Garbled)
