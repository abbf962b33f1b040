"""One ring a second at most, however many tasks end; what is left is said at the end."""

import asyncio
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.commands.following import telling
from mcptask.commands.following.telling import GAP, Bell, Ring
from mcptask.env import Clock, Env


class Screen(io.StringIO):
    encoding = "utf-8"


class Paced:
    """A clock whose sleepers wake when the test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self._sleeper: asyncio.Future[None] | None = None

    async def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        self._sleeper = asyncio.get_running_loop().create_future()
        await self._sleeper

    async def wake(self) -> None:
        await asyncio.sleep(0)
        assert self._sleeper is not None
        self._sleeper.set_result(None)
        for _ in range(3):
            await asyncio.sleep(0)


DONE, FAILED, ASKS = Ring("completed", "✓ job"), Ring("failed", "✗ job"), Ring("asks", "◐ job asks")


def rung(script: Callable[[Bell, Paced, Screen], object]) -> tuple[Paced, str]:
    """What a kitty got while the script ran."""
    paced, screen = Paced(), Screen()

    async def main() -> None:
        env = Env(
            stdin=io.StringIO(),
            stdout=io.StringIO(),
            stderr=screen,
            environ={"TERM": "xterm-kitty"},
            cwd=Path(),
            clock=Clock(sleep=paced.sleep),
        )
        bell = Bell(env)
        await script(bell, paced, screen)  # type: ignore[misc]
        bell.close()

    asyncio.run(main())
    return paced, screen.getvalue()


def kitty(*texts: str) -> str:
    return "".join(f"\a\x1b]99;;{text}\x1b\\" for text in texts)


def test_the_first_rings_at_once_and_the_next_ones_together_a_second_later() -> None:
    async def script(bell: Bell, paced: Paced, screen: Screen) -> None:
        bell.ring(DONE)
        assert screen.getvalue() == kitty("✓ job")
        for news in (DONE, FAILED, DONE, ASKS):
            bell.ring(news)
        await asyncio.sleep(0)
        assert screen.getvalue() == kitty("✓ job")
        await paced.wake()
        assert screen.getvalue() == kitty("✓ job", "2 completed · 1 failed · 1 asks")

    paced, _ = rung(script)
    assert paced.asked == [GAP, GAP]


def test_a_single_one_that_had_to_wait_keeps_its_own_words() -> None:
    async def script(bell: Bell, paced: Paced, screen: Screen) -> None:
        bell.ring(DONE)
        bell.ring(FAILED)
        await paced.wake()

    assert rung(script)[1] == kitty("✓ job", "✗ job")


def test_after_a_quiet_second_the_next_rings_at_once_and_nothing_wakes_meanwhile() -> None:
    async def script(bell: Bell, paced: Paced, screen: Screen) -> None:
        bell.ring(DONE)
        await paced.wake()
        assert len(paced.asked) == 1
        bell.ring(FAILED)
        assert screen.getvalue() == kitty("✓ job", "✗ job")

    rung(script)


def test_what_was_gathered_is_said_when_the_waiting_ends() -> None:
    async def script(bell: Bell, paced: Paced, screen: Screen) -> None:
        for news in (DONE, DONE, DONE):
            bell.ring(news)

    assert rung(script)[1] == kitty("✓ job", "2 completed")


def test_a_fault_in_a_ring_that_had_to_wait_is_not_swallowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def script(bell: Bell, paced: Paced, screen: Screen) -> None:
        bell.ring(DONE)
        bell.ring(DONE)
        monkeypatch.setattr(telling, "summed_up", None)
        await paced.wake()

    with pytest.raises(TypeError):
        rung(script)
