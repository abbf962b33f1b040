"""One call over a transport: above all, that it ends."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from mcptask.env import Clock
from mcptask.errors import Unreachable
from mcptask.protocol.exchange import Caller
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.transports.base import Message, Request


class AliveForEver:
    """A server that sends signs of life and never the answer."""

    closed = 0

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        try:
            while True:
                await asyncio.sleep(0)
                yield {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}
        finally:
            self.closed += 1

    async def close(self, *, hurry: bool = False) -> None: ...


def test_signs_of_life_alone_do_not_keep_a_request_waiting_for_ever_a5_8_s18() -> None:
    transport = AliveForEver()
    caller = Caller(transport, "2026-07-28", Clock(), limit=0.01)
    with pytest.raises(Unreachable, match="no complete answer"):
        asyncio.run(caller.attempt(next(V20260728(get_wait=0.01).get_task("1")), 1))
    assert transport.closed == 1
