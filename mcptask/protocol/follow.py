"""The loop that follows one task to its end: do what `next_action` says, tell what happened.

It decides nothing, keeps no state but the view, and touches neither files nor the terminal. Time comes in
with the clock, so a test runs a day in a millisecond.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable

from mcptask.env import Clock
from mcptask.errors import (
    Garbled,
    McptaskError,
    ProtocolError,
    TaskLost,
    TimedOut,
    Unreachable,
    WireError,
)
from mcptask.protocol.changes import changes
from mcptask.protocol.events import Ended, TaskEvent
from mcptask.protocol.lifecycle import (
    UNKNOWN_PATIENCE,
    Finish,
    Rules,
    Stop,
    View,
    Wait,
    begin,
    begin_with,
    denied,
    missed,
    next_action,
    observe,
)
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_task
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task


async def follow(
    session: Session,
    task_id: str,
    *,
    rules: Rules,
    clock: Clock,
    seed: Task | None = None,
    answered: frozenset[str] = frozenset(),
    chance: Callable[[], float] = random.random,
) -> AsyncIterator[TaskEvent]:
    """Yield what happens to the task, `Ended` last; never raises for what a server does.

    `seed` is the answer to `tools/call` where the task was made just now; `answered` holds the keys of
    questions that were answered before, in this process or another.
    """
    now = clock.now()
    view = begin(rules, now, answered=answered)
    if seed is not None:
        unseen, view = view, begin_with(seed, rules, now, answered=answered)
        for event in changes(unseen, view, now):
            yield event
    while True:
        now = clock.now()
        action = next_action(view, now)
        if isinstance(action, Wait):
            await clock.sleep(action.until - now)
            continue
        if isinstance(action, Finish | Stop):
            yield Ended(_outcome(view, action))
            return
        before = view
        try:
            async with asyncio.timeout(_time_left(rules, now)):
                view = await _ask(session, task_id, view, clock, chance)
        except TimeoutError:  # the deadline cuts a question short; what that means is decided above
            continue
        except WireError as error:
            yield Ended(outcome_of_error(error, view.task))
            return
        for event in changes(before, view, clock.now()):
            yield event


async def _ask(
    session: Session, task_id: str, view: View, clock: Clock, chance: Callable[[], float]
) -> View:
    """One `tasks/get`, and what its answer or its absence makes of the view."""
    try:
        snapshot = await session.get(task_id, attempts=1)
    except TaskLost:
        return denied(view, clock.now())
    except (Unreachable, Garbled) as error:
        wait = error.retry_after if isinstance(error, Unreachable) else None
        return missed(view, error.message, clock.now(), retry_after=wait, spread=chance())
    return observe(view, snapshot, clock.now())


def _time_left(rules: Rules, now: float) -> float | None:
    return None if rules.deadline is None else rules.deadline - now


def _outcome(view: View, action: Finish | Stop) -> Outcome:
    if isinstance(action, Finish) or action.why == "input_required":
        assert view.task is not None  # neither happens without a snapshot
        return outcome_of_task(view.task, view.answered)
    return outcome_of_error(STOPS[action.why](view), view.task)


def _lost(view: View) -> McptaskError:
    return TaskLost("the server does not know this task: it expired, or it was never known there")


def _timed_out(view: View) -> McptaskError:
    return TimedOut(f"the time given for waiting is over; {_left_behind(view)}")


def _unreachable(view: View) -> McptaskError:
    minutes = (view.failed_at - view.failing_since) / 60
    return Unreachable(f"no contact for {minutes:.3g} min ({view.reason}); {_left_behind(view)}")


def _unknown_status(view: View) -> McptaskError:
    status = view.task.status if view.task else ""
    minutes = UNKNOWN_PATIENCE / 60
    return ProtocolError(f"the task has been {status!r} for {minutes:.0f} min: no known status")


def _left_behind(view: View) -> str:
    """How the task was last seen, for someone who is told that following has stopped."""
    if view.task is None:
        return "the task was not heard of"
    if view.task.terminal:
        return f"the task is {view.task.status}, but what came of it was not told"
    return f"the task was {view.task.status} and may go on"


STOPS: dict[str, Callable[[View], McptaskError]] = {
    "lost": _lost,
    "timeout": _timed_out,
    "unreachable": _unreachable,
    "protocol": _unknown_status,
}
