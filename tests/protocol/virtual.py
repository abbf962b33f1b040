"""An event loop in which time passes only while nothing else is to be done: a day takes a millisecond.

For whatever runs several tasks at once, where `fakes.FakeClock` would move for each of them on its own.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from mcptask.env import Clock, sleep

T = TypeVar("T")


LONGEST = 20_000.0  # s of one run: whatever goes on after that has lost its end


class _Jumping(selectors.DefaultSelector):
    """Jumps to the next moment that anything waits for, instead of waiting."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 0.0

    def select(self, timeout: float | None = None) -> Any:
        assert timeout is not None, "nothing will ever happen any more"
        self.time += timeout
        assert self.time < LONGEST, "it goes on for ever"
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        return self._jumping.time


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`, from 0 on; fails where everything waits for something that cannot come."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(coroutine)


def now() -> float:
    return asyncio.get_running_loop().time()


async def until(moment: float) -> None:
    await asyncio.sleep(max(moment - now(), 0.0))


class Clocks:
    """The clocks of a machine that may be suspended: `nap` tells them apart from the loop's own time."""

    def __init__(self) -> None:
        self.skipped = 0.0  # of `now`, which stands still on some systems while the machine sleeps
        self.slept = 0.0  # of `wall`, which never does

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: now() + self.skipped, wall=self._wall, sleep=sleep)

    async def nap(self, at: float, seconds: float, *, counted: bool = False) -> None:
        """The machine sleeps; `counted`: and `now` knows."""
        await until(at)
        self.slept += seconds
        self.skipped += seconds if counted else 0.0

    def _wall(self) -> datetime:
        return datetime(2026, 9, 12, tzinfo=UTC) + timedelta(seconds=now() + self.slept)
