"""A bound on the time that work on hostile data may take."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raises TimeoutError out of the body once it has computed for that long; a match of `re` too.

    CPU time, so a busy machine does not count. Only where there are such signals, and they reach us:
    on Windows, and outside the main thread, nothing is bounded.
    """
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGVTALRM, _out_of_time)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous)


def _out_of_time(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError
