"""Recognising HTTP+SSE of 2024-11-05, which takes its POSTs elsewhere (A1.3). It is named, never spoken."""

import asyncio
from contextlib import aclosing

from mcptask.errors import WireError
from mcptask.protocol.transports import bodies
from mcptask.protocol.transports.http_client import httpx
from mcptask.protocol.transports.sse import SseParser

PATIENCE = 5.0  # s for the first event: it comes at once or not at all
LARGEST = 64 * 1024  # bytes of it


async def begins_with_endpoint(
    client: httpx.AsyncClient, get: httpx.Request, *, patience: float
) -> bool:
    """Does the answer to this GET begin with an `endpoint` event? Whatever goes wrong is a no.

    `patience` is the silence, in seconds, that any other answer is allowed.
    """
    try:
        async with asyncio.timeout(min(patience, PATIENCE)):
            response = await client.send(get, stream=True)
            try:
                return await _first_event(response) == "endpoint"
            finally:
                await response.aclose()
    except (TimeoutError, httpx.HTTPError, WireError):
        return False


async def _first_event(response: httpx.Response) -> str | None:
    essence = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if response.status_code != 200 or essence != "text/event-stream":
        return None
    parser = SseParser(LARGEST)
    async with aclosing(bodies.chunks(response)) as chunks:
        async for chunk in chunks:
            for event in parser.feed(chunk):
                return event.type
    return None
