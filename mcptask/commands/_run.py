"""Running a command's asynchronous part, and what Ctrl-C, SIGTERM and SIGHUP do to it.

A signal cancels the work, which then says how to come back. While a `tools/call` is unanswered that would
cancel the call itself (A5.10), so the first signal waits a little for the handle to be stored.
"""

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from mcptask.errors import Interrupted

T = TypeVar("T")

GRACE = 5.0  # s that an unanswered tools/call gets after the first signal
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # not all of them exist everywhere


class Interruption:
    """`signum` is the signal that asked us to stop, or None."""

    def __init__(self) -> None:
        self.signum: int | None = None
        self._task = asyncio.current_task()
        self._grace: Callable[[], None] | None = None

    def arrived(self, signum: int) -> None:
        first = self.signum is None
        self.signum = self.signum if self.signum is not None else signum
        if first and self._grace is not None:
            self._grace()
            asyncio.get_running_loop().call_later(GRACE, self._stop_if_still_waiting)
        else:
            self._stop()

    async def patiently(self, work: Awaitable[T], on_signal: Callable[[], None]) -> T:
        """Await something that one signal must not tear: it has `GRACE` seconds to come to its end."""
        self._grace = on_signal
        try:
            with self.told():
                return await work
        finally:
            self._grace = None

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Inside, being cancelled by a signal is an `Interrupted`, an error like any other."""
        try:
            yield
        except asyncio.CancelledError:
            if self.signum is None or self._task is None:
                raise
            self._task.uncancel()
            raise Interrupted("interrupted", signum=self.signum) from None

    def _stop_if_still_waiting(self) -> None:
        if self._grace is not None:
            self._stop()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()


def run(work: Callable[[Interruption], Coroutine[Any, Any, T]]) -> T:
    """`asyncio.run`, with the signals turned into an `Interruption`."""

    async def main() -> T:
        interruption = Interruption()
        loop = asyncio.get_running_loop()
        for name in SIGNALS:
            signum = getattr(signal, name, None)
            # Windows has no such handlers: there Ctrl-C stays a KeyboardInterrupt.
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                if signum is not None:
                    loop.add_signal_handler(signum, interruption.arrived, int(signum))
        try:
            with interruption.told():
                return await work(interruption)
        finally:
            _disarm(loop, interruption)

    return asyncio.run(main())


def _disarm(loop: asyncio.AbstractEventLoop, interruption: Interruption) -> None:
    """Before the loop closes: a signal that met its closed pipe would print a traceback.

    After one signal was obeyed, more of them must not cut off what is said about it.
    """
    for name in SIGNALS:
        signum = getattr(signal, name, None)
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            if signum is not None and loop.remove_signal_handler(signum) and interruption.signum:
                signal.signal(signum, signal.SIG_IGN)
