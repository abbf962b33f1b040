"""A transport that keeps its server's secrets out of what its errors say: a server may repeat a token."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from mcptask.errors import McptaskError
from mcptask.protocol.transports.around import Around
from mcptask.protocol.transports.base import Message, Request, Transport
from mcptask.protocol.transports.secrets import Secrets, rewritten


class Discreet(Around):
    """`transport`, with `***` for every known secret in the exceptions that it raises and in the JSON-RPC
    errors that it reads. Results pass untouched.
    """

    def __init__(self, transport: Transport, secrets: Callable[[], Secrets]) -> None:
        """`secrets` is asked when there is something to hide them from, so a renewed token counts."""
        super().__init__(transport)
        self._secrets = secrets

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """See `base.Transport`."""
        try:
            async with aclosing(self._transport.exchange(request)) as messages:
                async for message in messages:
                    yield self._hidden(message)
        except McptaskError as error:
            self._hide(error)
            raise

    def _hidden(self, message: Message) -> Message:
        if message.get("error") is None:
            return message
        return {**message, "error": rewritten(message["error"], self._secrets().hide)}

    def _hide(self, error: McptaskError) -> None:
        hide = self._secrets().hide
        error.message = hide(error.message)
        error.hint = error.hint and hide(error.hint)
        error.data = rewritten(error.data, hide)
        error.args = (error.message,)
