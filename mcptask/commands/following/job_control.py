"""Ctrl-Z while tasks are followed or a form is open: the terminal is given back before the process stops,
and taken again after `fg`."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Protocol


class OnTerminal(Protocol):
    """What has the terminal: a view, a form."""

    def aside(self, stop: Callable[[], None]) -> None:
        """Gives it back, calls `stop`, which returns when the process goes on, and takes it again."""
        ...


@asynccontextmanager
async def stoppable(shown: OnTerminal) -> AsyncIterator[None]:
    """Inside, a SIGTSTP stops the process by way of `shown`; of several, the last one steps aside first.
    A signal that is ignored stays ignored.
    """
    number = getattr(signal, "SIGTSTP", None)
    handler = None if number is None else signal.getsignal(number)
    if number is not None and handler is signal.SIG_DFL:
        handler = _Stopping(number, asyncio.get_running_loop())
        handler.handle_by(handler)
    if not isinstance(handler, _Stopping):
        yield
        return
    handler.shown.append(shown)
    try:
        yield
    finally:
        handler.shown.remove(shown)
        if not handler.shown:
            handler.handle_by(signal.SIG_DFL)


class _Stopping:
    """The handler of SIGTSTP. It is found again where signals are kept, so that forms and views share it."""

    def __init__(self, number: int, loop: asyncio.AbstractEventLoop) -> None:
        self.shown: list[OnTerminal] = []
        self._number = number
        self._loop = loop

    def __call__(self, *_: object) -> None:
        # By the loop, since the signal may come in the middle of a frame.
        self._loop.call_soon_threadsafe(self._stop)

    def handle_by(self, how: "_Stopping | signal.Handlers") -> None:
        with suppress(ValueError):  # outside the main thread there are no signals
            signal.signal(self._number, how)

    def _stop(self) -> None:
        stop = self._really
        for each in self.shown:
            stop = partial(each.aside, stop)
        stop()

    def _really(self) -> None:
        self.handle_by(signal.SIG_DFL)
        signal.raise_signal(self._number)  # returns when the process goes on
        if self.shown:
            self.handle_by(self)
