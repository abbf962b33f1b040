"""The world as one value: streams, terminal, environment and clock. Built once at the entry, passed down.

No other code of ours reads `os.environ`, a stream of `sys` or the time, so a test replaces all of it at once.
Libraries have habits of their own: `ssl` takes SSLKEYLOGFILE from the process's environment, and
Typer prints its help on `sys.stdout`.
"""

import io
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO, cast

# How long one sleep may be: a poll interval of 1e308 ms must not overflow the event loop's clock.
LONGEST_SLEEP = 3600.0


async def sleep(seconds: float) -> None:
    import asyncio

    await asyncio.sleep(min(max(seconds, 0.0), LONGEST_SLEEP))


@dataclass(frozen=True)
class Clock:
    """`now`: seconds that never go backwards; `wall`: UTC date and time; `sleep`: at most an hour at once."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], Awaitable[None]] = sleep


@dataclass(frozen=True)
class Env:
    """What a command may see of the machine it runs on."""

    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    environ: Mapping[str, str]
    cwd: Path
    clock: Clock = field(default_factory=Clock)

    @property
    def home(self) -> Path | None:
        """None where it is not absolute either: else the current folder would say what we read."""
        value = self.environ.get("HOME") or self.environ.get("USERPROFILE") or ""
        return Path(value) if os.path.isabs(value) else None

    @property
    def live(self) -> bool:
        """Can stderr show a view that redraws itself? Not in CI, not on a dumb or missing terminal."""
        return (
            _is_terminal(self.stderr)
            and self.environ.get("TERM") != "dumb"
            and not self.environ.get("CI")
        )

    @property
    def interactive(self) -> bool:
        """Is a person there to read and type?"""
        return self.live and _is_terminal(self.stdin)

    def width(self, stream: TextIO) -> int | None:
        """The columns of the terminal behind a stream; None where there is none: then nothing is cut."""
        if not _is_terminal(stream):
            return None
        columns = self.environ.get("COLUMNS", "")
        try:
            return (
                int(columns)
                if columns.isdecimal()
                else os.get_terminal_size(stream.fileno()).columns
            )
        except (OSError, ValueError):
            return 80

    def colour(self, stream: TextIO) -> bool:
        """NO_COLOR counts when it is not empty; FORCE_COLOR adds colour, never cursor movement."""
        if self.environ.get("NO_COLOR") or self.environ.get("TERM") == "dumb":
            return False
        return bool(self.environ.get("FORCE_COLOR")) or _is_terminal(stream)


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed meanwhile
        return False


def process_env() -> Env:
    """The real world. Whatever reads `sys` itself finds the streams as they are made here, too."""
    sys.stdin = sys.stdin or _nowhere("r")
    sys.stdout = _whole(sys.stdout or _nowhere("w"))
    sys.stderr = sys.stderr or _nowhere("w")
    return Env(
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        environ=os.environ,
        cwd=Path(os.curdir),
    )


def _nowhere(mode: str) -> TextIO:
    """In place of a stream that is closed. It takes the free number of 0, 1 or 2, so that no file that is
    opened later becomes somebody's stdout."""
    return cast(TextIO, open(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8", closefd=False))


def _whole(stream: TextIO) -> TextIO:
    """A stream that writes all or says why not: that of PYTHONUNBUFFERED takes half a write for all."""
    if not isinstance(stream.buffer, io.RawIOBase):
        return stream
    number, (encoding, errors) = stream.fileno(), (stream.encoding, stream.errors)
    return open(number, "w", encoding=encoding, errors=errors, closefd=False)
