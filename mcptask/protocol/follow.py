"""The loop that follows one task to its end: do what `next_action` says, tell what happened.

It decides nothing, keeps no state but the view, and touches neither files nor the terminal. Time comes in
with the clock, so a test runs a day in a millisecond.
"""

import asyncio
import math
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import replace
from typing import Any

from mcptask.env import LONGEST_SLEEP, Clock
from mcptask.errors import (
    Garbled,
    HttpRefused,
    McptaskError,
    TaskLost,
    Unreachable,
)
from mcptask.protocol.answering import Answering
from mcptask.protocol.changes import changes
from mcptask.protocol.desk import Desk
from mcptask.protocol.endings import outcome_of, why_closed
from mcptask.protocol.events import Ended, TaskEvent
from mcptask.protocol.lifecycle import Finish, Get, Stop, Wait, next_action
from mcptask.protocol.observations import (
    asking,
    denied,
    hinted,
    listening,
    missed,
    observe,
    outdone,
    told,
    woken,
)
from mcptask.protocol.outcome import outcome_of_error
from mcptask.protocol.push import Inbox, Mode, News
from mcptask.protocol.questions import NOTHING_ANSWERED, Ledger, named, open_questions
from mcptask.protocol.replies import Reply, remembering, replied
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.protocol.view import Rules, View, begin, begin_with

# s that passed without us: this machine was suspended, and did not just have much to do.
ASLEEP = 10.0
LOOK_EVERY = (
    1.0  # s, while a question is in somebody's hands: another terminal may have answered it
)
LAST_WORD = 1.0  # s for the acknowledgement of an answer, where the following has ended meanwhile
DOUBTFUL = 2  # changes in a row that the server did not tell of: the stream may be dead


async def follow(
    session: Session,
    task_id: str,
    *,
    rules: Rules,
    clock: Clock,
    seed: Task | None = None,
    answered: Ledger = NOTHING_ANSWERED,
    desk: Desk | None = None,
    news: Inbox | None = None,
    phase: float = 0.0,
    chance: Callable[[], float] = random.random,
) -> AsyncGenerator[TaskEvent, None]:
    """Yield what happens to the task, `Ended` last; never raises for what a server does.

    `seed` is the answer to `tools/call` where the task was made just now; `answered` holds the
    questions that were answered before, in this process or another; `desk` answers those that are open, and
    without one they are left to others. `news` brings what the server tells by
    itself; `phase` puts the first question off, in seconds, where many tasks are followed at once.
    """
    view = before = begin(rules, clock.now(), answered=answered, phase=phase)
    if seed is not None:
        view = begin_with(seed, rules, clock.now(), answered=answered)
    answering = _answering(session, task_id, desk, clock, rules)
    following = _Following(session, task_id, clock, news, answering, chance)
    try:
        while True:
            for event in changes(before, view, clock.now()):
                yield event
            # Whoever is to answer has been told what is asked.
            before, view = view, following.attend(view)
            if view is not before:
                for event in changes(before, view, clock.now()):
                    yield event
            action = next_action(view, clock.now())
            if isinstance(action, Finish | Stop):
                # A form is closed before the end is told, and an answer that went out has its word.
                await following.end(why_closed(action), LAST_WORD)
                before, view = view, following.recall(view)
                for event in changes(before, view, clock.now()):
                    yield event
                yield Ended(outcome_of(view, action))
                return
            before, view = view, await following.step(view, action)
    except McptaskError as error:  # also a program that is gone: other servers have theirs
        await following.end()
        yield Ended(outcome_of_error(error, view.task))
    finally:
        await following.end()


def _answering(
    session: Session, task_id: str, desk: Desk | None, clock: Clock, rules: Rules
) -> Answering | None:
    return None if desk is None else Answering(session, task_id, desk, clock, rules.give_up_after)


class _Following:
    """What is waited for beside the clock: the answer to a question that is under way, and news."""

    def __init__(
        self,
        session: Session,
        task_id: str,
        clock: Clock,
        news: Inbox | None,
        answering: Answering | None,
        chance: Callable[[], float],
    ) -> None:
        self._session = session
        self._task_id = task_id
        self._clock = clock
        self._news = news
        self._answering = answering
        self._chance = chance
        self._asking: asyncio.Task[Task] | None = None
        self._hearing: asyncio.Task[News] | None = None
        self._replying: asyncio.Task[Sequence[Reply]] | None = None
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
        if self._replying is not None and self._replying.done():
            replies, self._replying = self._replying, None
            for each in replies.result():
                view = replied(view, each, self._clock.now())
        # News first: an answer that is there at the same moment may be older.
        if self._hearing is not None and self._hearing.done():
            heard, self._hearing = self._hearing, None
            view = self._heard(view, heard.result())
        if self._asking is not None and self._asking.done():
            asked, self._asking = self._asking, None
            view = self._answered(view, asked)
        return view

    def attend(self, view: View) -> View:
        """See to the questions of the view. Where nobody answers any, each is left at once."""
        if self._answering is None:
            left = named(open_questions(view.task, view.answered))
            return replace(view, left=view.left | left)
        return remembering(view, self._answering.attend(view), self._answering.own)

    def recall(self, view: View) -> View:
        """What was answered by the end."""
        if self._answering is None:
            return view
        return remembering(view, self._answering.recall(view), self._answering.own)

    async def end(self, why: str = "", patience: float = 0.0) -> None:
        """Nothing is waited for any more, but for `patience` seconds an answer that is under way."""
        if self._news is not None:
            self._news.leave()
        left = [each for each in self._waited_for if each is not None]
        for each in left:
            each.cancel()
        if self._answering is not None:
            await self._answering.end(why, patience)
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
        if self._answering is not None and self._replying is None:
            self._replying = asyncio.ensure_future(self._answering.get())
        waited_for = {each for each in self._waited_for if each is not None}
        if self._asking is not None:  # it has limits of its own; only the deadline cuts it short
            left = min(_time_left(view.rules, self._clock.now()), self._patience)
            seconds = None if left == math.inf else left
            await asyncio.wait(waited_for, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return view
        assert isinstance(action, Wait)
        return await self._sleep(
            view, min(action.until, self._clock.now() + self._patience), waited_for
        )

    @property
    def _patience(self) -> float:
        """Seconds until it is worth looking at what other terminals answered."""
        in_hand = self._answering is not None and self._answering.in_hand
        return LOOK_EVERY if in_hand else math.inf

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

    @property
    def _waited_for(self) -> Sequence["asyncio.Task[Any] | None"]:
        return self._asking, self._hearing, self._replying

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


def _time_left(rules: Rules, now: float) -> float:
    return math.inf if rules.deadline is None else max(rules.deadline - now, 0.0)
