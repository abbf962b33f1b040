"""Lines out of chunks, for stdio: LF or CRLF ends one, nothing else does (A6.1). Pure."""

from collections.abc import Iterator


class LineReader:
    """Feed it what arrives; a line over the limit comes out as None, once, and the reader goes on."""

    def __init__(self, limit: int) -> None:
        """`limit` bounds what is kept of one line, in bytes, without its end."""
        self._limit = limit
        self._partial = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """The lines that `chunk` completes. Iterate to the end before the next one."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            yield from self._take(part)
            if not self._skipping:
                yield bytes(self._partial).removesuffix(b"\r")
            self._partial.clear()
            self._skipping = False
        yield from self._take(rest)

    def finish(self) -> Iterator[bytes]:
        """At the end of the input: the last line, where it has no end of its own."""
        if self._partial:
            yield bytes(self._partial).removesuffix(b"\r")
            self._partial.clear()

    def _take(self, part: bytes) -> Iterator[None]:
        if self._skipping:
            return
        self._partial += part
        if len(self._partial) > self._limit + 1:  # the one is for a CR that may belong to the end
            self._partial.clear()
            self._skipping = True
            yield None
