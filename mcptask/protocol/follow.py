"""The loop that follows one task to its end: do what `next_action` says, tell what happened.

It decides nothing, keeps no state but the view, and touches neither files nor the terminal. Time comes in
with the clock, so a test runs a day in a millisecond.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from typing import Any

from mcptask.env import LONGEST_SLEEP, Clock
from mcptask.errors import (
    Garbled,
    HttpRefused,
    McptaskError,
    ProtocolError,
    TaskLost,
    TimedOut,
    Unreachable,
)
from mcptask.protocol.changes import changes
from mcptask.protocol.events import Ended, TaskEvent
from mcptask.protocol.lifecycle import UNKNOWN_PATIENCE, Finish, Get, Stop, Wait, next_action
from mcptask.protocol.observations import (
    Rules,
    View,
    asking,
    begin,
    begin_with,
    denied,
    hinted,
    listening,
    missed,
    observe,
    outdone,
    told,
    woken,
)
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_task
from mcptask.protocol.push import Inbox, Mode, News
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task

# s that passed without us: this machine was suspended, and did not just have much to do.
ASLEEP = 10.0
DOUBTFUL = 2  # changes in a row that the server did not tell of: the stream may be dead


async def follow(
    session: Session,
    task_id: str,
    *,
    rules: Rules,
    clock: Clock,
    seed: Task | None = None,
    answered: frozenset[str] = frozenset(),
    news: Inbox | None = None,
    phase: float = 0.0,
    chance: Callable[[], float] = random.random,
) -> AsyncGenerator[TaskEvent, None]:
    """Yield what happens to the task, `Ended` last; never raises for what a server does.

    `seed` is the answer to `tools/call` where the task was made just now; `answered` holds the keys of
    questions that were answered before, in this process or another. `news` brings what the server tells by
    itself; `phase` puts the first question off, in seconds, where many tasks are followed at once.
    """
    view = before = begin(rules, clock.now(), answered=answered, phase=phase)
    if seed is not None:
        view = begin_with(seed, rules, clock.now(), answered=answered)
    following = _Following(session, task_id, clock, news, chance)
    try:
        while True:
            for event in changes(before, view, clock.now()):
                yield event
            action = next_action(view, clock.now())
            if isinstance(action, Finish | Stop):
                yield Ended(_outcome(view, action))
                return
            before, view = view, await following.step(view, action)
    except McptaskError as error:  # also a program that is gone: other servers have theirs
        yield Ended(outcome_of_error(error, view.task))
    finally:
        await following.end()


class _Following:
    """What is waited for beside the clock: the answer to a question that is under way, and news."""

    def __init__(
        self,
        session: Session,
        task_id: str,
        clock: Clock,
        news: Inbox | None,
        chance: Callable[[], float],
    ) -> None:
        self._session = session
        self._task_id = task_id
        self._clock = clock
        self._news = news
        self._chance = chance
        self._asking: asyncio.Task[Task] | None = None
        self._hearing: asyncio.Task[News] | None = None
        self._outdone = False  # the server told of something while the question was under way
        self._doubtful = False  # the last question went out, and got no answer

    async def step(self, view: View, action: Get | Wait) -> View:
        """Do what the action says until something is observed, and observe it."""
        self._tell_push(view)
        if isinstance(action, Get) and self._asking is None:
            question = self._session.get(self._task_id, attempts=1, doubtful=self._doubtful)
            self._asking, self._outdone = asyncio.ensure_future(question), False
            view = asking(view, self._clock.now())
        view = await self._wait(view, action)
        # News first: an answer that is there at the same moment may be older.
        if self._hearing is not None and self._hearing.done():
            heard, self._hearing = self._hearing, None
            view = self._heard(view, heard.result())
        if self._asking is not None and self._asking.done():
            asked, self._asking = self._asking, None
            view = self._answered(view, asked)
        return view

    async def end(self) -> None:
        """Nothing is waited for any more."""
        if self._news is not None:
            self._news.leave()
        left = [each for each in (self._asking, self._hearing) if each is not None]
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _tell_push(self, view: View) -> None:
        """A task that goes on is worth a stream; one that changes without a word makes it doubtful."""
        if self._news is None or view.task is None or view.task.terminal:
            return
        self._news.want()
        if view.untold >= DOUBTFUL:
            self._news.doubt()

    async def _wait(self, view: View, action: Get | Wait) -> View:
        """Until there is an answer, news, or the time has come."""
        if self._news is not None and self._hearing is None:
            self._hearing = asyncio.ensure_future(self._news.get())
        waited_for = {each for each in (self._asking, self._hearing) if each is not None}
        if self._asking is not None:  # it has limits of its own; only the deadline cuts it short
            left = _time_left(view.rules, self._clock.now())
            await asyncio.wait(waited_for, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            return view
        assert isinstance(action, Wait)
        return await self._sleep(view, action.until, waited_for)

    async def _sleep(self, view: View, until: float, waited_for: set[asyncio.Task[Any]]) -> View:
        """Like `_wait`, with an eye on the clocks: a machine that slept has missed what came meanwhile."""
        began, wall = self._clock.now(), self._clock.wall()
        alarm = asyncio.ensure_future(self._clock.sleep(until - began))
        try:
            await asyncio.wait({alarm, *waited_for}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
        now = self._clock.now()
        passed = (self._clock.wall() - wall).total_seconds()
        skipped = now - min(until, began + LONGEST_SLEEP)
        if max(passed - (now - began), skipped) < ASLEEP:
            return view
        if self._news is not None:
            self._news.renew()
        return woken(view, max(skipped, 0.0), now)

    def _answered(self, view: View, asked: "asyncio.Task[Task]") -> View:
        """What the answer to `tasks/get`, or its absence, makes of the view."""
        now, self._doubtful = self._clock.now(), False
        try:
            snapshot = asked.result()
        except TaskLost:
            return denied(view, now)
        except (Unreachable, Garbled, HttpRefused) as error:
            if isinstance(error, HttpRefused) and not _passing(error, view):
                raise
            self._doubtful = isinstance(error, Unreachable) and error.sent
            wait = error.retry_after if isinstance(error, Unreachable) else None
            return missed(view, error.message, now, retry_after=wait, spread=self._chance())
        if self._outdone and not snapshot.terminal:
            return outdone(view, snapshot, now)
        return observe(view, snapshot, now)

    def _heard(self, view: View, news: News) -> View:
        now = self._clock.now()
        if isinstance(news, Mode):
            return listening(view, news.push, news.why, now)
        if news.task is None:
            return hinted(view, now)
        self._outdone = True
        return told(view, news.task, now)


def _passing(error: HttpRefused, view: View) -> bool:
    """An address that has answered and is not found any more: a proxy says so while a server is replaced."""
    return error.status == 404 and view.task is not None


def _time_left(rules: Rules, now: float) -> float | None:
    return None if rules.deadline is None else max(rules.deadline - now, 0.0)


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
    seconds = view.failed_at - view.failing_since
    spent = f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.3g} min"
    return Unreachable(f"no contact for {spent} ({view.reason}); {_left_behind(view)}")


def _unknown_status(view: View) -> McptaskError:
    status = view.task.status if view.task else ""
    minutes = UNKNOWN_PATIENCE / 60
    return ProtocolError(f"the task has been {status!r} for {minutes:.0f} min: no known status")


def _left_behind(view: View) -> str:
    """How the task was last seen, for someone who is told that following has stopped."""
    if view.task is None:
        return "nothing was heard of the task, which may go on"
    if view.task.terminal:
        return f"the task is {view.task.status}, but what came of it was not told"
    return f"the task was {view.task.status} and may go on"


STOPS: dict[str, Callable[[View], McptaskError]] = {
    "lost": _lost,
    "timeout": _timed_out,
    "unreachable": _unreachable,
    "protocol": _unknown_status,
}
