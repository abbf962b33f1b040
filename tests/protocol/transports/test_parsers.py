"""The two incremental parsers: server-sent events (A5.1) and lines (A6.1)."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError
from mcptask.protocol.transports.lines import LineReader
from mcptask.protocol.transports.sse import Event, SseParser

LIMIT = 1000


def events(data, *, limit=LIMIT):
    return list(SseParser(limit).feed(data))


def outcome(chunks, limit):
    """Events and whether the bound was passed, which no chunking may change."""
    parser, got = SseParser(limit), []
    try:
        for chunk in chunks:
            for event in parser.feed(chunk):
                got.append(event)
    except ProtocolError:
        return got, "over"
    return got, "within"


def cut(data, places):
    edges = [0, *sorted(p % (len(data) + 1) for p in places), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data: a\n\n", [Event("a")]),
        (b"data:a\r\n\r\n", [Event("a")]),
        (b"data: a\r\r", [Event("a")]),
        (b"\xef\xbb\xbfdata: a\n\n", [Event("a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"data:  a\n\n", [Event(" a")]),
        (b"data: a\ndata: b\n\n", [Event("a\nb")]),
        (b"data\n\n", [Event("")]),
        (b"data:\n\n", [Event("")]),
        (b"\n\n\n", []),
        (b": ping\r\n\r\n", []),
        (b"event: ping\ndata: x\n\ndata: y\n\n", [Event("x", "ping"), Event("y")]),
        (b"event: ping\n\ndata: y\n\n", [Event("y")]),
        (b"event:\ndata: y\n\n", [Event("y")]),
        (b"id: 1\nretry: 5\ndata: x\n\n", [Event("x")]),
        (b"unknown: 1\ndata: x\n\n", [Event("x")]),
        (b"data: x\n", []),
        (b"data: x", []),
        (b"data: \xff\n\n", [Event("\ufffd")]),
        ("data: a\u2028b\x0bc\n\n".encode(), [Event("a\u2028b\x0bc")]),
    ],
)
def test_events_are_read_as_the_standard_says__A5_1_T12(data, expected):
    assert events(data) == expected


def test_the_bound_holds_for_an_event_and_for_an_endless_line__A5_9():
    with pytest.raises(ProtocolError, match="10 bytes"):
        events(b"data: " + b"x" * 5, limit=10)
    with pytest.raises(ProtocolError):
        events(b"data: 1\ndata: 2\n", limit=10)
    with pytest.raises(ProtocolError):
        events(b": " + b"x" * 20, limit=10)
    assert len(events(b"data: 1\n\n" * 50 + b": comment\n" * 50, limit=10)) == 50


def test_events_before_the_culprit_come_out_first():
    assert outcome([b"data: 1\n\ndata: 12345678\n\n"], 10) == ([Event("1")], "over")


STREAMS = st.lists(
    st.sampled_from(
        [b"data: a", b"data:", b"data", b"id: 1", b"id:\0", b"event: e", b": c", b"retry: 5",
         b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xc3", b"\xa9"]
    )
).map(b"".join)  # fmt: skip


@given(STREAMS | st.binary(), st.lists(st.integers(0, 10_000)), st.sampled_from([8, LIMIT]))
def test_any_chunking_gives_the_same_events__A5_1(data, places, limit):
    whole = outcome([data], limit)
    assert outcome(cut(data, places), limit) == whole
    assert outcome([bytes([b]) for b in data], limit) == whole


# ── lines ──


def lines(chunks, limit=LIMIT):
    reader, got = LineReader(limit), []
    for chunk in chunks:
        got += reader.feed(chunk)
    return got + list(reader.finish())


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\r\nb\r\n", [b"a", b"b"]),
        (b"a\n\n", [b"a", b""]),
        (b"partial", [b"partial"]),
        (b"partial\r", [b"partial"]),
        (b"", []),
        ("a\u2028b\x85\x0c\n".encode(), ["a\u2028b\x85\x0c".encode()]),
    ],
)
def test_only_a_line_feed_ends_a_line__A6_1(data, expected):
    assert lines([data]) == expected


def test_a_line_over_the_limit_is_told_once_and_skipped__A6_2():
    assert lines([b"ok\n" + b"x" * 20 + b"\nok\n"], 10) == [b"ok", None, b"ok"]
    assert lines([b"x" * 20, b"x" * 20, b"\nok"], 10) == [None, b"ok"]


@given(st.binary() | st.lists(st.sampled_from([b"ab", b"\r", b"\n"])).map(b"".join),
       st.lists(st.integers(0, 10_000)), st.sampled_from([3, LIMIT]))  # fmt: skip
def test_any_chunking_gives_the_same_lines__A6_1(data, places, limit):
    whole = lines([data], limit)
    assert lines(cut(data, places), limit) == whole
    assert lines([bytes([b]) for b in data], limit) == whole
    assert all(line is None or len(line) <= limit + 1 for line in whole)
