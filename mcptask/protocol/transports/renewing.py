"""A transport whose credentials may run out in the middle of things, and be had anew (A16.1)."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

from mcptask.errors import Unauthorized
from mcptask.protocol.transports.base import Message, Request, Transport

Headers = Mapping[str, str]


class Renewing:
    """`transport`, with each request sent once more where other credentials can be had than those that were
    refused. `tools/call` as well: who is turned away at the door has done nothing inside.
    """

    def __init__(
        self,
        transport: Transport,
        credentials: Callable[[], Headers],
        renewed: Callable[[Headers], bool],
    ) -> None:
        """`credentials` are those that `transport` would send now. `renewed` is given the ones that were
        refused, and tells whether they are others by now.
        """
        self._transport = transport
        self._credentials = credentials
        self._renewed = renewed

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """See `base.Transport`."""
        again = False
        while True:
            sent = self._credentials()
            try:
                async with aclosing(self._transport.exchange(request)) as messages:
                    async for message in messages:
                        yield message
                return
            except Unauthorized as refusal:
                if again:
                    refusal.message += "; the credentials were read anew, and these refused as well"
                if again or not _is_about_the_token(refusal) or not self._renewed(sent):
                    raise
            again = True

    @property
    def life(self) -> int:
        return self._transport.life

    async def announces_endpoint(self) -> bool:
        return await self._transport.announces_endpoint()

    def preview(self, request: Request) -> dict[str, Any]:
        return self._transport.preview(request)

    async def close(self, *, hurry: bool = False) -> None:
        await self._transport.close(hurry=hurry)


def _is_about_the_token(refusal: Unauthorized) -> bool:
    """A 403 is for good, but for one that calls the token invalid."""
    told: Mapping[str, object] = refusal.data
    return told["status"] == 401 or told.get("error") == "invalid_token"
