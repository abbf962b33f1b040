"""The questions of one followed task while they are answered: each is put once, and what comes is sent.

Polling and push go on meanwhile: a question that is gone is taken back from whoever answers it. Decides
nothing about the task, and knows neither files nor the terminal: those are the desk's.
"""

import asyncio
from collections.abc import Collection, Coroutine, Sequence
from typing import Any

from mcptask.env import Clock
from mcptask.protocol.desk import Desk
from mcptask.protocol.questions import (
    Answer,
    Ledger,
    Name,
    Question,
    Request,
    asked_now,
    fingerprint,
    is_another,
    named,
    names_of,
    open_questions,
)
from mcptask.protocol.replies import LeftOpen, Reply, is_changed
from mcptask.protocol.session import Session
from mcptask.protocol.updates import Updates
from mcptask.protocol.view import NEVER, View

# s that an answer of another process may stay unacknowledged: then it may be dead, and we send it again.
PATIENCE = 30.0


class Answering:
    """`attend` to every new view; `get` tells what became of the questions."""

    def __init__(
        self, session: Session, task_id: str, desk: Desk, clock: Clock, give_up_after: float
    ) -> None:
        self._desk = desk
        self._clock = clock
        self._replies: asyncio.Queue[Reply | BaseException] = asyncio.Queue()
        self._asking: dict[Name, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # also those that were taken back
        self._put: dict[Name, float] = {}  # to the desk, and when, in this run
        told, begin = self._replies.put_nowait, self._begin
        self._updates = Updates(session, task_id, desk, clock, told, begin, give_up_after)
        # Answers that some other process sent and heard nothing of, and when we met them. Those that are as
        # old as we are were sent by one that is gone.
        met = clock.now() - PATIENCE
        self._unheard = dict.fromkeys(_unacknowledged(desk.ledger()), met)

    def attend(self, view: View) -> Ledger:
        """Puts what is new, takes back what is gone. Returns what was answered so far."""
        listed = asked_now(view.task)
        if not (listed or self._asking or self._unheard or self.own):
            return view.answered  # a thousand tasks that ask nothing cost nothing
        if view.task is not None and not listed and not view.task.has_payload:
            return view.answered  # it asks, and does not say what: nothing is gone for that (A9.7)
        names = dict(named(listed))
        self._updates.notice(names)
        ledger = self._desk.ledger()
        still_open = open_questions(view.task, ledger)
        for name in self._asking.keys() - named(still_open):
            self._asking.pop(name).cancel(_why_gone(name, view, ledger))
            self._put.pop(name)  # a node that lags behind may have hidden it
        # What a key was before it was another question may be asked once more, as such.
        self._put = {n: at for n, at in self._put.items() if names.get(n[0], n[1]) == n[1]}
        now = self._clock.now()  # the same for all: what is asked together is no repetition
        for key, request in still_open.items():
            self._put_once(view, key, request, now)
        self._send_again(view, ledger)
        return ledger

    @property
    def in_hand(self) -> bool:
        """Is somebody answering just now?"""
        return bool(self._asking)

    @property
    def own(self) -> Collection[Name]:
        """What was answered from here."""
        return self._updates.own

    def recall(self, view: View) -> Ledger:
        """What was answered by the end."""
        return self._desk.ledger() if self.own else view.answered

    async def get(self) -> Sequence[Reply]:
        """What became of questions, in the order of its becoming. Raises what ends the following."""
        replies: list[Reply] = []
        while not replies or not self._replies.empty():
            got = await self._replies.get()
            if isinstance(got, BaseException):
                raise got
            replies.append(got)
        return replies

    async def end(self, why: str, patience: float = 0.0) -> None:
        """Nothing is asked or sent any more; what is under way has `patience` seconds to come to its end."""
        for each in self._asking.values():
            each.cancel(why)
        if patience and self._updates.under_way:
            await asyncio.wait(self._tasks, timeout=patience)
        for each in self._tasks:
            if not each.cancelling():  # one that gives the terminal back must not be disturbed
                each.cancel(why)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _put_once(self, view: View, key: str, request: Request, now: float) -> None:
        """One that the server refused the answer to is put again once it was heard asking again (A12.8)."""
        name = (key, fingerprint(request))
        message, said_at = self._updates.refusals.get(name, (None, NEVER))
        since_then = self._put.get(name, NEVER) > said_at
        if since_then or view.seen_at <= said_at or name in self._updates.under_way:
            return
        self._put[name] = now
        changed = is_changed(view, key, request)
        question = Question(key, request, changed=changed, refused=message, since=now)
        self._asking[name] = self._begin(self._ask(name, question))

    async def _ask(self, name: Name, question: Question) -> None:
        response = await self._desk.answer(question)
        self._asking.pop(name, None)
        if response is None:
            self._replies.put_nowait(LeftOpen(name))
        else:
            self._updates.send({question.key: Answer(name[1], response)})

    def _send_again(self, view: View, ledger: Ledger) -> None:
        """What another process sent and heard nothing of goes out as it was, if it is still asked (A12.8).
        That it is not says little: a node that lags behind may hide it.
        """
        now, listed = self._clock.now(), asked_now(view.task)
        waiting = names_of(_unacknowledged(ledger)) - self._updates.under_way
        self._unheard = {key: self._unheard.get(key, now) for key, _ in waiting}
        late = {
            key: ledger[key]
            for key, met in self._unheard.items()
            if now - met >= PATIENCE
            and view.seen_at > met
            and key in listed
            and not is_another(key, listed[key], ledger)
        }
        if late:
            self._updates.send({}, again=late)

    def _begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        async def handing_over_errors() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - for whoever follows the task
                self._replies.put_nowait(error)

        task = asyncio.ensure_future(handing_over_errors())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _unacknowledged(ledger: Ledger) -> Ledger:
    return {key: answer for key, answer in ledger.items() if not answer.acknowledged}


def _why_gone(name: Name, view: View, ledger: Ledger) -> str:
    """Why a question is open no more, as a clause."""
    key, task = name[0], view.task
    if task is None or task.terminal:
        return f"the task is {task.status if task else 'gone'}"
    if key in ledger and key not in open_questions(task, ledger):
        return "it was answered in another terminal"
    if key in asked_now(task):
        return "the server asks something else in its place"
    return "the server does not ask it any more"
