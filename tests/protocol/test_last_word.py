"""An answer that is under way when its task ends: it has a moment to be acknowledged, and is told of."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.protocol.events import Answered, Ended, TaskEvent
from mcptask.protocol.follow import LAST_WORD, follow
from mcptask.protocol.questions import Answer
from mcptask.protocol.task import Task
from mcptask.protocol.view import Rules
from tests.protocol.desks import ROOM, YES, Desk, asks, at_once
from tests.protocol.fakes import ID, RESULT, task
from tests.protocol.virtual import Clocks, now, run

DONE = task("completed", result=RESULT)


def followed(desk: Desk, acknowledged_after: float) -> tuple[list[TaskEvent], float]:
    """A task that asks at 0 and is over at 1, by the answer that it was given."""

    async def get(*_: object, **__: object) -> Task:
        return asks() if now() < 1 else DONE

    async def update(*_: object, **__: object) -> None:
        await asyncio.sleep(acknowledged_after)

    async def whole() -> tuple[list[TaskEvent], float]:
        session: Any = SimpleNamespace(get=get, update=update)
        clock = Clocks().clock
        events = [e async for e in follow(session, ID, rules=Rules(), clock=clock, desk=desk)]
        return events, now()

    return run(whole())


def test_an_acknowledgement_that_comes_just_after_the_end_is_told_before_it_a12_4() -> None:
    desk = Desk(at_once(YES))
    events, ended = followed(desk, 1 + LAST_WORD / 2)
    assert [type(event) for event in events[-2:]] == [Answered, Ended]
    assert events[-2] == Answered(("room",))
    assert (desk.known, ended) == ({"room": Answer(ROOM[1])}, 1 + LAST_WORD / 2)


@pytest.mark.parametrize("late", [2 * LAST_WORD, 100.0])
def test_no_end_waits_long_for_it_a12_8(late: float) -> None:
    desk = Desk(at_once(YES))
    events, ended = followed(desk, 1 + late)
    assert not any(isinstance(event, Answered) for event in events)
    assert (desk.known, ended) == ({"room": Answer(ROOM[1], YES)}, 1 + LAST_WORD)
