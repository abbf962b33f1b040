"""Ctrl-Z while tasks are followed: the terminal is given back before the process stops, and taken again
after `fg`."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from mcptask.render.report import Reporter


@asynccontextmanager
async def stoppable(reporter: Reporter) -> AsyncIterator[None]:
    """Inside, a SIGTSTP stops the process by way of the reporter. One that is ignored stays ignored."""
    number = getattr(signal, "SIGTSTP", None)
    if number is None or signal.getsignal(number) is not signal.SIG_DFL:
        yield
        return
    loop = asyncio.get_running_loop()

    def heard(*_: object) -> None:
        # By the loop, since the signal may come in the middle of a frame.
        loop.call_soon_threadsafe(reporter.aside, stop)

    def stop() -> None:
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)  # returns when the process goes on
        signal.signal(number, heard)

    with suppress(ValueError):  # outside the main thread there are no signals
        signal.signal(number, heard)
    try:
        yield
    finally:
        with suppress(ValueError):
            signal.signal(number, signal.SIG_DFL)
