"""When a reporter is told that time has passed: when it wants to be, and never without a cause."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands.following.loop import tick_when_due
from tests.protocol.fakes import FakeClock, run


class Ticked:
    """A reporter that wants to be ticked at these moments."""

    def __init__(self, fake: FakeClock, *dues: float | None) -> None:
        self._fake, self._dues = fake, list(dues)
        self.ticks: list[float] = []

    @property
    def due(self) -> float | None:
        return self._dues[0]

    def tick(self) -> None:
        self.ticks.append(self._fake.time)
        self._dues.pop(0)


@pytest.mark.parametrize("dues", [(None,), (30.0, 75.0, None)])
def test_nobody_wakes_up_but_for_a_tick_that_is_due(dues: tuple[float | None, ...]) -> None:
    fake = FakeClock()
    reporter: Any = Ticked(fake, *dues)
    job: Any = SimpleNamespace(env=SimpleNamespace(clock=fake.clock))
    run(asyncio.wait_for(tick_when_due(job, reporter), 5))
    assert reporter.ticks == list(dues[:-1])
    assert len(fake.slept) == len(reporter.ticks)
