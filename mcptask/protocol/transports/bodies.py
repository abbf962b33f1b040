"""HTTP bodies, bounded after decompression: a few kilobytes of gzip can hold gigabytes (A5.9)."""

import zlib
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import cast

from mcptask.errors import ProtocolError, TooLarge
from mcptask.protocol.transports.excerpts import shortened
from mcptask.protocol.transports.http_client import httpx

PIECE = 64 * 1024  # the most that one step of decompression may give
_AUTO_HEADER = zlib.MAX_WBITS | 32  # gzip or zlib, by its first bytes


async def chunks(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    """The decoded body as it arrives, in small pieces. Raises ProtocolError for a coding not known here."""
    decode = _decoder(response.headers.get("content-encoding", ""))
    raw = cast("AsyncGenerator[bytes, None]", response.aiter_raw())
    async with aclosing(raw):
        async for data in raw:
            for piece in decode(data):
                yield piece


async def read(response: httpx.Response, limit: int) -> bytes:
    """The whole decoded body. Raises TooLarge where it is longer than `limit` bytes."""
    body = await head(response, limit + 1)
    if len(body) > limit:
        raise TooLarge(f"the server's answer is over {limit} bytes")
    return body


async def head(response: httpx.Response, limit: int) -> bytes:
    """The first `limit` bytes of the decoded body; the rest stays unread."""
    body = bytearray()
    async with aclosing(chunks(response)) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) >= limit:
                break
    return bytes(body[:limit])


async def salvage(response: httpx.Response, limit: int) -> bytes:
    """What can be had of the body of a refusal: its status counts even where the body breaks off."""
    body = bytearray()
    try:
        async with aclosing(chunks(response)) as pieces:
            async for piece in pieces:
                body += piece
                if len(body) >= limit:
                    break
    except (httpx.HTTPError, ProtocolError):
        pass
    return bytes(body[:limit])


def _decoder(coding: str) -> Callable[[bytes], Iterator[bytes]]:
    # One coding only: gzip in gzip would multiply the growth, and nobody needs it.
    name = coding.strip().lower()
    if name in ("", "identity"):
        return lambda data: iter((data,))
    if name in ("gzip", "x-gzip", "deflate"):
        return _inflater()
    raise ProtocolError(f"the server's answer has the content coding {shortened(coding)!r}")


def _inflater() -> Callable[[bytes], Iterator[bytes]]:
    engine = zlib.decompressobj(_AUTO_HEADER)

    def inflate(data: bytes) -> Iterator[bytes]:
        while data and not engine.eof:
            try:
                yield engine.decompress(data, PIECE)
            except zlib.error as exc:
                raise ProtocolError(f"the server's compressed answer is damaged: {exc}") from exc
            data = engine.unconsumed_tail

    return inflate
