"""A transport whose credentials may run out in the middle of things, and be had anew (A16.1)."""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing

from mcptask.errors import Unauthorized
from mcptask.protocol.transports.around import Around
from mcptask.protocol.transports.base import Message, Request, Transport

Headers = Mapping[str, str]


class Renewing(Around):
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
        super().__init__(transport)
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


def _is_about_the_token(refusal: Unauthorized) -> bool:
    """A 403 is for good, but for one that calls the token invalid."""
    told: Mapping[str, object] = refusal.data
    return told["status"] == 401 or told.get("error") == "invalid_token"
