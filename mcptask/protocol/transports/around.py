"""A transport around another one: all but its exchanges is that one's own."""

from typing import Any

from mcptask.protocol.transports.base import Request, Transport


class Around:
    """What `Discreet` and `Renewing` have in common; each of them brings its `exchange`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    @property
    def life(self) -> int:
        return self._transport.life

    async def announces_endpoint(self) -> bool:
        return await self._transport.announces_endpoint()

    def preview(self, request: Request) -> dict[str, Any]:
        return self._transport.preview(request)

    async def close(self, *, hurry: bool = False) -> None:
        await self._transport.close(hurry=hurry)
