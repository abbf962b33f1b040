"""A `text/event-stream` parser: bytes in, events out, in any chunking. Pure.

The rules are those of the WHATWG (A5.1): UTF-8, one leading BOM dropped, lines end in LF, CRLF or CR,
comments and unknown fields ignored, an event ends at a blank line and only there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mcptask.errors import TooLarge

_LINE_END = re.compile(rb"\r\n?|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Event:
    data: str
    type: str = "message"


class SseParser:
    """Feed it what arrives. The ids of events and `retry` are skipped: nothing is resumed here (A5.6)."""

    def __init__(self, limit: int) -> None:
        """`limit` bounds one event, and one line of any kind, in bytes (A5.9)."""
        self._limit = limit
        self._partial = bytearray()
        self._after_cr = False
        self._at_start = True
        self._data: list[str] = []
        self._type = ""
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that `chunk` completes: iterate to the end before the next one.

        Raises TooLarge once the bound is passed, after the events in front of the culprit.
        """
        position = 1 if self._after_cr and chunk[:1] == b"\n" else 0
        if chunk:
            self._after_cr = False
        for end in _LINE_END.finditer(chunk, position):
            self._take(chunk[position : end.start()])
            position = end.end()
            # The LF of a CRLF may be in the next chunk; the line is complete without it.
            self._after_cr = end.group() == b"\r" and position == len(chunk)
            line = bytes(self._partial)
            self._partial.clear()
            event = self._line(line)
            if event is not None:
                yield event
        self._take(chunk[position:])

    def _take(self, part: bytes) -> None:
        self._partial += part
        if self._size + len(self._partial) > self._limit:
            raise TooLarge(f"an event of the server's stream is over {self._limit} bytes")

    def _line(self, line: bytes) -> Event | None:
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        if not line.startswith(b":"):
            self._size += len(line)
            name, _, value = line.decode("utf-8", "replace").partition(":")
            self._field(name, value.removeprefix(" "))
        return None

    def _field(self, name: str, value: str) -> None:
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._type = value

    def _dispatch(self) -> Event | None:
        data, kind = self._data, self._type
        self._data, self._type, self._size = [], "", 0
        if not data:
            return None
        return Event("\n".join(data), kind or "message")
