"""From when a task's time is counted; how the events of all tasks come together, and end."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands._options import Options
from mcptask.commands.following import events
from mcptask.commands.following.events import Followed, followed
from mcptask.protocol.events import TaskEvent, Warned
from mcptask.protocol.task import Task
from mcptask.protocol.view import Rules
from mcptask.render.report import Subject
from mcptask.store.records import TaskRecord
from tests.protocol.fakes import FakeClock, run, task

HOUR = 3600.0


def started(ahead: float, seed: Task | None) -> float:
    """When a task began on our clock, whose server says that it was made `ahead` seconds from now."""
    clock = FakeClock().clock
    job: Any = SimpleNamespace(env=SimpleNamespace(clock=clock), options=Options())
    made = clock.wall() + timedelta(seconds=ahead)
    record = TaskRecord(ref=1, task_id="tsk", status="working", created_at=made)
    endpoint: Any = SimpleNamespace(name="studio")
    return followed(job, record, endpoint, seed).subject.started - clock.now()


@pytest.mark.parametrize("ahead", [-HOUR, 0.0, HOUR])
def test_a_task_made_just_now_counts_from_now_whatever_its_server_says_a14_5(ahead: float) -> None:
    assert started(ahead, task()) == 0.0


def test_a_stored_task_counts_from_its_making_but_never_from_the_future_a14_5() -> None:
    assert started(-HOUR, None) == -HOUR
    assert started(HOUR, None) == 0.0


# ── the stream of all events ─────────────────────────────────────────────────────────────────────

ITEM: Any = Followed(
    record=TaskRecord(ref=1, task_id="tsk_1", status="working"),
    endpoint=SimpleNamespace(key=1, name="studio"),  # type: ignore[arg-type]
    subject=Subject("job", "studio", 1, "tsk_1", 0.0),
)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A server that always has news of a task, and what became of following it."""
    became: list[str] = []

    async def follow(*_: object, **__: object) -> AsyncGenerator[TaskEvent, None]:
        try:
            while True:
                yield Warned("news")
        finally:
            await asyncio.sleep(0)
            became.append("left in order")

    monkeypatch.setattr(events, "follow", follow)
    monkeypatch.setattr(events, "_pushed", lambda job, items, sessions: None)
    monkeypatch.setattr(events, "MOST_WAITING", 1)
    return became


async def nothing() -> None:
    """Beside the following."""


async def a_fault() -> None:
    raise ZeroDivisionError


def all_events(beside: Callable[[], Awaitable[None]]) -> Any:
    job: Any = SimpleNamespace(env=SimpleNamespace(clock=FakeClock().clock), sources=None)
    sessions: Any = SimpleNamespace(to=lambda endpoint: None)
    return events.events_of_all(job, [ITEM], sessions, Rules(), beside)


def test_a_task_whose_news_nobody_takes_any_more_is_left_before_its_session_is(
    left: list[str],
) -> None:
    async def course() -> None:
        async with all_events(nothing):
            for _ in range(5):
                await asyncio.sleep(0)
        assert left == ["left in order"]

    run(course())


def test_a_fault_of_what_goes_on_beside_the_following_is_not_swallowed(left: list[str]) -> None:
    async def course() -> None:
        async with all_events(a_fault) as news:
            for _ in range(100):
                await anext(news)

    with pytest.raises(ZeroDivisionError):
        run(course())
    assert left == ["left in order"]
