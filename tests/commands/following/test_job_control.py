"""Who steps aside at Ctrl-Z, and in which order. How a shell sees it: tests/e2e/test_job_control.py."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from mcptask.commands.following.job_control import stoppable

pytestmark = pytest.mark.skipif(os.name != "posix", reason="job control of POSIX")


class Shown:
    """A view or a form that keeps a diary."""

    def __init__(self, name: str, diary: list[str]) -> None:
        self.name, self.diary = name, diary

    def aside(self, stop: Callable[[], None]) -> None:
        self.diary.append(f"{self.name} leaves")
        stop()
        self.diary.append(f"{self.name} is back")


@pytest.fixture
def diary(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What happens; a stop of the process is an entry, and `fg` comes at once."""
    entries: list[str] = []

    def stop(number: int) -> None:
        assert signal.getsignal(number) is signal.SIG_DFL
        entries.append("stopped")

    monkeypatch.setattr("mcptask.commands.following.job_control.signal.raise_signal", stop)
    before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
    yield entries
    signal.signal(signal.SIGTSTP, before)


async def ctrl_z() -> None:
    os.kill(os.getpid(), signal.SIGTSTP)
    for _ in range(3):  # until the loop has heard of it
        await asyncio.sleep(0)


def test_a_form_leaves_before_its_view_and_is_back_after_it(diary: list[str]) -> None:
    async def work() -> None:
        async with stoppable(Shown("view", diary)):
            async with stoppable(Shown("form", diary)):
                await ctrl_z()
                await ctrl_z()
            await ctrl_z()

    asyncio.run(work())
    both = ["form leaves", "view leaves", "stopped", "view is back", "form is back"]
    assert diary == [*both, *both, "view leaves", "stopped", "view is back"]
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


def test_a_form_may_stay_longer_than_its_view(diary: list[str]) -> None:
    async def work() -> None:
        async with AsyncExitStack() as view:
            await view.enter_async_context(stoppable(Shown("view", diary)))
            async with stoppable(Shown("form", diary)):
                await view.aclose()
                await ctrl_z()

    asyncio.run(work())
    assert diary == ["form leaves", "stopped", "form is back"]
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


def test_a_ctrl_z_that_is_heard_too_late_stops_without_a_view(diary: list[str]) -> None:
    async def work() -> None:
        async with stoppable(Shown("view", diary)):
            os.kill(os.getpid(), signal.SIGTSTP)
        await asyncio.sleep(0)

    asyncio.run(work())
    assert diary == ["stopped"]
    assert signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL


@pytest.mark.parametrize("handler", [signal.SIG_IGN, lambda *_: None])
def test_a_signal_that_somebody_else_handles_stays_theirs(diary: list[str], handler: Any) -> None:
    async def work() -> None:
        signal.signal(signal.SIGTSTP, handler)
        async with stoppable(Shown("view", diary)):
            assert signal.getsignal(signal.SIGTSTP) is handler
            await ctrl_z()

    asyncio.run(work())
    assert diary == []
    assert signal.getsignal(signal.SIGTSTP) is handler
