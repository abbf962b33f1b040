"""Running a command's asynchronous part, and what Ctrl-C, SIGTERM and SIGHUP do to it.

A signal cancels the work, which then says how to come back. While a `tools/call` is unanswered that would
cancel the call itself (A5.10), so the first signal waits a little for the handle to be stored.
"""

import asyncio
import contextlib
import signal
import socket
from asyncio.log import logger
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Any, TypeVar

from mcptask.commands._job import Job
from mcptask.errors import Interrupted, TimedOut

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
            with self.as_error():
                return await work
        finally:
            self._grace = None

    @contextlib.contextmanager
    def as_error(self) -> Iterator[None]:
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


@contextlib.asynccontextmanager
async def within(job: Job) -> AsyncIterator[None]:
    """Inside, `--timeout` is an error like any other: `TimedOut`. Following has its own, gentler way."""
    left = None if job.deadline is None else max(job.deadline - job.env.clock.now(), 0.0)
    try:
        async with asyncio.timeout(left):
            yield
    except TimeoutError:
        raise TimedOut("the time given for waiting is over, and no answer has come") from None


def run(work: Callable[[Interruption], Coroutine[Any, Any, T]]) -> T:
    """`asyncio.run`, with the signals turned into an `Interruption`."""

    async def main() -> T:
        interruption = Interruption()
        loop = asyncio.get_running_loop()
        usual = _hear_signals(loop, interruption)
        try:
            with _woken_by_signals(loop), interruption.as_error():
                return await work(interruption)
        finally:
            # After one signal was obeyed, more of them must not cut off what is said about it.
            for signum, handler in usual.items():
                signal.signal(signum, signal.SIG_IGN if interruption.signum else handler)

    # What asyncio has to log (a child that was reaped before its watcher came, an exception that nobody
    # fetched) would land on stderr in words that are not ours, with values in a traceback.
    logger.disabled = True
    return asyncio.run(main())


def _hear_signals(loop: asyncio.AbstractEventLoop, interruption: Interruption) -> dict[int, Any]:
    """Hand the signals to the interruption; returns what took care of them before.

    Not by the loop's own `add_signal_handler`: to take that away puts Python's default in its place first,
    and for a moment one more Ctrl-C would end the process without a word.
    """
    usual: dict[int, Any] = {}
    for name in SIGNALS:
        signum = getattr(signal, name, None)
        # One that is ignored already (nohup, a background job) stays ignored.
        if signum is None or signal.getsignal(signum) is signal.SIG_IGN:
            continue
        with contextlib.suppress(ValueError):  # outside the main thread there are none
            usual[signum] = signal.signal(
                signum, lambda number, _: loop.call_soon_threadsafe(interruption.arrived, number)
            )
    return usual


@contextlib.contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Inside, a signal wakes the loop, also one that arrives just as it goes to sleep: Python's handler would
    otherwise wait for whatever wakes it next, which may be seconds away."""
    with contextlib.ExitStack() as undo:
        # Windows' loop does so by itself.
        with contextlib.suppress(NotImplementedError, ValueError):
            reader, writer = (undo.enter_context(end) for end in socket.socketpair())
            reader.setblocking(False)
            writer.setblocking(False)
            loop.add_reader(reader, reader.recv, 4096)
            undo.callback(loop.remove_reader, reader)
            usual = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
            undo.callback(signal.set_wakeup_fd, usual)
        yield
