"""How many requests one server gets at once, and how fast one after the other (A10.10).

A server that says that it is busy slows down all that is asked of it, not only the request that it refused.
One that is silent is silent to those who wait for their turn, too.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from mcptask.env import Clock
from mcptask.errors import Garbled, RpcError, Unreachable
from mcptask.protocol.view import LONGEST_RETRY_AFTER, NEVER

AT_ONCE = 8  # requests under way
DOUBTFUL_AT_ONCE = (
    4  # of these such as got no answer the last time: others must have their turns as well
)
PAUSE_WHEN_BUSY = 1.0  # s without any request, where the server does not say how many it wants
FIRST_GAP = 0.05  # s between two requests after that; twice as long with each further refusal …
LONGEST_GAP = 1.0
RECOVERY = 0.9  # … and this much of it is left after each answer
SHORTEST_GAP = 0.01  # s: less is none


class Pace:
    """The turns of one server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._free = asyncio.Semaphore(AT_ONCE)
        self._free_for_doubtful = asyncio.Semaphore(DOUBTFUL_AT_ONCE)
        self._door = asyncio.Lock()
        self._next = 0.0  # no request before
        self._gap = 0.0
        self._answered_at = NEVER
        self._silent_from = NEVER  # when the last request began that got no answer …
        self._silence = ""  # … and how that was said

    @asynccontextmanager
    async def turn(self, *, doubtful: bool = False) -> AsyncIterator[None]:
        """Inside, one request may be made. Turns come in the order in which they were asked for.

        Raises Unreachable for one that was asked for before another began that got no answer, as none did
        since: it has waited as long for the same silence.
        """
        wanted = self._clock.now()
        async with AsyncExitStack() as held:
            if doubtful:
                await held.enter_async_context(self._free_for_doubtful)
            await held.enter_async_context(self._free)
            await self.quiet()
            if wanted <= self._silent_from and self._answered_at < self._silent_from:
                raise Unreachable(self._silence, sent=False)
            began = self._clock.now()
            try:
                yield
            except Unreachable as error:
                self._refused(error, began)
                raise
            except (RpcError, Garbled):
                self._answered_at = self._clock.now()
                raise
            self._answered_at = self._clock.now()
            self._gap = self._gap * RECOVERY if self._gap > SHORTEST_GAP else 0.0

    async def quiet(self) -> None:
        """Until the server may be asked again; one that waits here keeps its place."""
        async with self._door:
            while (wait := self._next - self._clock.now()) > 0:
                await self._clock.sleep(wait)
            self._next = self._clock.now() + self._gap

    def _refused(self, error: Unreachable, began: float) -> None:
        now = self._clock.now()
        if error.busy:
            pause = min(error.retry_after or PAUSE_WHEN_BUSY, LONGEST_RETRY_AFTER)
            self._next = max(self._next, now + pause)
            self._gap = min(max(2 * self._gap, FIRST_GAP), LONGEST_GAP)
            self._answered_at = now
        elif began > self._silent_from:
            self._silent_from, self._silence = began, error.message
