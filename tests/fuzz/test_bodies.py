"""Bodies in any coding: damaged, broken off, or a few kilobytes that would grow to gigabytes."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError
from mcptask.protocol.transports import bodies
from tests.fuzz.conftest import Peak
from tests.fuzz.hostile import CUTS, LONGEST_MESSAGE, cut, outcome, scraps, tries

PACK: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": gzip.compress,
    "X-GZip": gzip.compress,
    "deflate": zlib.compress,
}
CODINGS = st.sampled_from([*PACK, "br", "gzip, gzip", "x" * 5000])
CONTENTS = st.binary(max_size=300) | st.integers(0, 200_000).map(lambda size: b"ab" * size)
LIMITS = st.sampled_from([0, 1, 100, bodies.PIECE, 1_000_000])
Read = Callable[[httpx.Response, int], Awaitable[bytes]]


def answer(coding: str, chunks: list[bytes]) -> httpx.Response:
    async def arriving() -> AsyncIterator[bytes]:
        for chunk in chunks:
            yield chunk

    headers = {"content-encoding": coding} if coding else {}
    return httpx.Response(200, headers=headers, content=arriving())


def got(read: Read, coding: str, chunks: list[bytes], limit: int) -> bytes | ProtocolError:
    async def all_of_it() -> bytes:
        return await read(answer(coding, chunks), limit)

    return outcome(ProtocolError, lambda: asyncio.run(all_of_it()))


@tries(60)
@given(st.sampled_from([*PACK]), CONTENTS, CUTS, LIMITS)
def test_what_was_packed_comes_out_in_any_chunking_or_is_over_the_bound_a5_9(
    coding: str, content: bytes, cuts: list[int], limit: int
) -> None:
    chunks = cut(PACK[coding](content), cuts)
    found = got(bodies.read, coding, chunks, limit)
    assert isinstance(found, ProtocolError) if len(content) > limit else found == content
    assert got(bodies.head, coding, chunks, limit) == content[:limit]
    assert got(bodies.salvage, coding, chunks, limit) == content[:limit]


@tries(60)
@given(
    CODINGS,
    scraps(gzip.compress(b"ab" * 500), zlib.compress(b"cd"), b"\x1f\x8b\x08\x00", b"\x78\x9c"),
    CUTS,
    LIMITS,
)
def test_any_bytes_in_any_coding_are_a_bounded_body_or_refused_a5_9(
    coding: str, data: bytes, cuts: list[int], limit: int
) -> None:
    for read in (bodies.read, bodies.head):
        found = got(read, coding, cut(data, cuts), limit)
        if isinstance(found, ProtocolError):
            assert len(found.message) < LONGEST_MESSAGE
        else:
            assert len(found) <= limit
    salvaged = got(bodies.salvage, coding, cut(data, cuts), limit)
    assert isinstance(salvaged, bytes)
    assert len(salvaged) <= limit


@tries(40)
@given(st.sampled_from(["gzip", "deflate"]), CONTENTS, st.integers(0, 10_000), CUTS)
def test_a_packed_body_that_breaks_off_gives_its_beginning_c2(
    coding: str, content: bytes, end: int, cuts: list[int]
) -> None:
    packed = PACK[coding](content)
    found = got(bodies.read, coding, cut(packed[: end % (len(packed) + 1)], cuts), 10**6)
    assert isinstance(found, bytes)
    assert content.startswith(found)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@pytest.mark.parametrize("read", [bodies.read, bodies.head, bodies.salvage])
def test_a_bomb_is_left_at_the_bound_a5_9(coding: str, read: Read, peak: Peak) -> None:
    limit, size = 100_000, 30_000_000
    engine = zlib.compressobj(wbits=31 if coding == "gzip" else 15)
    block = bytes(1_000_000)
    bomb = b"".join(engine.compress(block) for _ in range(size // len(block))) + engine.flush()
    assert len(bomb) < limit
    before = peak()
    found = got(read, coding, [bomb], limit)
    assert isinstance(found, ProtocolError) or len(found) == limit
    assert peak() - before < 10 * limit
