"""A watch whose reader is gone: `watch --jsonl | head -1` is to end with `head`, not hours later when the
next event would be written."""

import asyncio
import errno
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TextIO

from mcptask.commands._run import Interruption


@asynccontextmanager
async def while_read(stdout: TextIO, interruption: Interruption) -> AsyncIterator[None]:
    """Inside, a pipe on stdout that loses its reader is the BrokenPipeError that a write to it would be.

    The system tells the event loop, so it costs no wake-up. A Ctrl-C for a whole pipeline ends the reader
    too: then it is the signal that counts.
    """
    pipe = _pipe(stdout)
    if pipe is None:
        yield
        return
    loop, task, gone = asyncio.get_running_loop(), asyncio.current_task(), False

    def leave() -> None:
        nonlocal gone
        loop.remove_reader(pipe)
        if task is not None and not task.cancelling():
            gone = task.cancel()

    loop.add_reader(pipe, leave)
    try:
        yield
    except asyncio.CancelledError:
        if not gone or interruption.signum is not None:
            raise
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from None
    finally:
        loop.remove_reader(pipe)


def _pipe(stdout: TextIO) -> int | None:
    """Its number, if it is the writing end of a pipe: nothing ever comes out of that but its end."""
    try:
        import fcntl

        number = stdout.fileno()
        writes_only = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
        return number if writes_only and stat.S_ISFIFO(os.fstat(number).st_mode) else None
    except (ImportError, OSError, ValueError):  # Windows, or no real file, or a closed one
        return None
