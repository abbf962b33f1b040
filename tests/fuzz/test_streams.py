"""Server-sent events and lines, held to parsers that were written here, in any chunking and any bound."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError
from mcptask.protocol.transports.lines import LineReader
from mcptask.protocol.transports.sse import Event, SseParser
from tests.fuzz.conftest import Peak
from tests.fuzz.hostile import CUTS, cut, outcome, scraps, tries

LIMITS = st.sampled_from([0, 1, 7, 12, 40, 10_000])


def byte_by_byte(data: bytes) -> list[bytes]:
    """With nothing at all between two bytes."""
    return [piece for byte in data for piece in (bytes([byte]), b"")]


# ── events ───────────────────────────────────────────────────────────────────────────────────────

FIELDS = st.sampled_from(
    [b"data:", b"data: a", b"data:  a ", b"data", b"data:\xc3\xa9\xff", b"data: \xe2\x80\xa8\x0b\x0c\x85",
     b"event: e", b"event", b"id: 1", b"id:\0", b"retry: 5", b":", b": c", b"datas: x", b"Data: x", b" ",
     b"", b"", b"\xef\xbb\xbf", b"\xef\xbb\xbfdata: b"]
)  # fmt: skip
ENDS = st.sampled_from([b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\r\r", b""])
EVENT_BYTES = st.lists(st.tuples(FIELDS, ENDS).map(b"".join), max_size=12).map(b"".join)


def events_by_the_book(data: bytes, limit: int) -> tuple[list[Event], bool]:
    """The WHATWG's steps over the whole stream at once: the events, and whether one was too long."""
    events: list[Event] = []
    buffer, kind, length = "", "", 0
    *lines, rest = re.split(rb"\r\n|\r|\n", data)
    for number, raw in enumerate([*lines, rest]):
        if length + len(raw) > limit:
            return events, True
        if number == len(lines):
            break
        line = raw.decode("utf-8", "replace")
        if number == 0 and line[:1] == "\ufeff":
            line = line[1:]
        if line == "":
            if buffer:
                events.append(Event(buffer[:-1], kind or "message"))
            buffer, kind, length = "", "", 0
        elif line[0] != ":":
            field, value = re.fullmatch(r"(?s)([^:]*):? ?(.*)", line).groups()  # type: ignore[union-attr]
            length += len(raw) - (3 if number == 0 and raw[:3] == b"\xef\xbb\xbf" else 0)
            if ":" not in line:
                field, value = line, ""
            if field == "data":
                buffer += value + "\n"
            if field == "event":
                kind = value
    return events, False


def events_in(chunks: Iterable[bytes], limit: int) -> tuple[list[Event], bool]:
    parser, events = SseParser(limit), []
    try:
        for chunk in chunks:
            for event in parser.feed(chunk):
                events.append(event)
    except ProtocolError:
        return events, True
    return events, False


@tries(200)
@given(EVENT_BYTES | st.binary(), CUTS, LIMITS)
def test_events_are_those_of_the_standard_in_any_chunking_and_bound_a5_1_a5_9(
    data: bytes, cuts: list[int], limit: int
) -> None:
    expected = events_by_the_book(data, limit)
    assert events_in([data], limit) == expected
    assert events_in(cut(data, cuts), limit) == expected
    assert events_in(byte_by_byte(data), limit) == expected


# ── lines ────────────────────────────────────────────────────────────────────────────────────────

LINE_BYTES = scraps(b"a", b"{}", b"\n", b"\r", b"\r\n", b"\n\n", b"\x0b", b"\xe2\x80\xa8", b"\x85")


def lines_by_the_book(data: bytes, limit: int) -> list[bytes | None]:
    *lines, rest = data.split(b"\n")
    found = [*lines, rest] if rest else lines
    return [
        None if len(line) > limit + 1 else line[:-1] if line[-1:] == b"\r" else line
        for line in found
    ]


@tries(150)
@given(LINE_BYTES | st.binary(), CUTS, LIMITS)
def test_lines_are_the_same_in_any_chunking_and_bound_a6_1_a5_9(
    data: bytes, cuts: list[int], limit: int
) -> None:
    expected = lines_by_the_book(data, limit)
    for chunks in ([data], cut(data, cuts), byte_by_byte(data)):
        reader = LineReader(limit)
        found = [line for chunk in chunks for line in reader.feed(chunk)]
        assert [*found, *reader.finish()] == expected


# ── memory ───────────────────────────────────────────────────────────────────────────────────────

LIMIT, CHUNK, TIMES = 20_000, 2_000, 40  # bytes; four times the bound is sent

ENDLESS = {
    "a line": b"x" * CHUNK,
    "a line of data": b"data:" + b"x" * (CHUNK - 5),
    "an event of many lines": b"data:ab\n" * (CHUNK // 8),
    "an event of empty lines": b"data\r" * (CHUNK // 5),
    "a field that nobody knows": b"a\n" * (CHUNK // 2),
}
HARMLESS = {
    "comments": b": x\n" * (CHUNK // 4),
    "blank lines": b"\n" * CHUNK,
    "small events": b"data: x\n\n" * (CHUNK // 9),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_stream_without_an_end_is_left_at_the_bound_a5_9_s18(name: str, peak: Peak) -> None:
    parser, fed = SseParser(LIMIT), 0
    error = None
    while error is None and fed < 3 * LIMIT:
        fed += len(ENDLESS[name])
        found = outcome(ProtocolError, list, parser.feed(ENDLESS[name]))
        error = found if isinstance(found, ProtocolError) else None
    assert error is not None
    assert peak() < 20 * LIMIT  # a line of two bytes is an object of some fifty


@pytest.mark.parametrize("name", HARMLESS)
def test_nothing_is_kept_of_what_was_read_a5_9(name: str, peak: Peak) -> None:
    parser = SseParser(LIMIT)
    for chunk in repeat(HARMLESS[name], TIMES):
        for event in parser.feed(chunk):
            assert event.data == "x"
    assert peak() < 2 * LIMIT  # half of what was read; the rest is what measuring costs


def quiet(reader: LineReader) -> int:
    return sum(1 for chunk in repeat(b"x" * CHUNK, TIMES) for line in reader.feed(chunk))


def chatty(reader: LineReader) -> int:
    chunk = (b"x" * 999 + b"\n") * (CHUNK // 1000)
    return sum(1 for chunk in repeat(chunk, TIMES) for line in reader.feed(chunk))


@pytest.mark.parametrize(("say", "lines"), [(quiet, 1), (chatty, 80)])
def test_an_endless_line_and_endless_lines_take_no_memory_a5_9(
    say: Callable[[LineReader], int], lines: int, peak: Peak
) -> None:
    assert say(LineReader(LIMIT)) == lines
    assert peak() < 4 * LIMIT
