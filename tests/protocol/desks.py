"""The questions of one task, on virtual time: a desk that says what it is told, a server that takes it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from mcptask.errors import RpcError
from mcptask.protocol.answering import Answering
from mcptask.protocol.observations import observe
from mcptask.protocol.questions import Answer, Ledger, Question, Response, fingerprint
from mcptask.protocol.replies import (
    Reply,
    remembering,
)
from mcptask.protocol.task import Task
from mcptask.protocol.view import GIVE_UP_AFTER, Rules, View, begin
from mcptask.store import ledger
from tests.protocol.fakes import ID, QUESTION, task
from tests.protocol.virtual import Clocks, now, run

OTHER = {"method": "elicitation/create", "params": {"message": "Pay 500?"}}
YES: Response = {"action": "accept", "content": {"room": "a"}}
NO: Response = {"action": "decline"}
ROOM, FEE = ("room", fingerprint(QUESTION)), ("fee", fingerprint(OTHER))
BAD = RpcError(-32602, "no such room")


def asks(**requests: Mapping[str, Any]) -> Task:
    return task("input_required", input_requests=requests or {"room": QUESTION})


@dataclass
class Desk:
    """`says` answers; `known` is the state file."""

    says: Callable[[Question], Coroutine[Any, Any, Response | None]]
    known: dict[str, Answer] = field(default_factory=dict)
    put: list[Question] = field(default_factory=list)
    back: list[Any] = field(default_factory=list)

    async def answer(self, question: Question) -> Response | None:
        self.put.append(question)
        try:
            return await self.says(question)
        except asyncio.CancelledError as gone:
            self.back.append(gone.args[0])
            raise

    def claim(self, answers: Ledger) -> Ledger:
        after, due = ledger.claimed(self.known, answers)
        self.known = dict(after)
        return due

    def acknowledged(self, answers: Ledger) -> None:
        self.known = dict(ledger.acknowledged(self.known, answers))

    def refused(self, answers: Ledger) -> None:
        self.known = dict(ledger.unclaimed(self.known, answers))

    def ledger(self) -> Ledger:
        return dict(self.known)


def at_once(
    response: Response | None,
) -> Callable[[Question], Coroutine[Any, Any, Response | None]]:
    async def says(question: Question) -> Response | None:
        return response

    return says


async def never(question: Question) -> Response | None:
    await asyncio.Event().wait()
    return None


class Case:
    """One task's questions. `fates` are what becomes of each update: None or an exception."""

    def __init__(self, desk: Desk, *fates: BaseException | None) -> None:
        self.desk = desk
        self.fates = list(fates)
        self.updates: list[tuple[float, dict[str, Response]]] = []
        self.view = begin(Rules(), 0.0, answered=desk.ledger())
        session: Any = SimpleNamespace(update=self._update)
        clock = replace(Clocks().clock, now=self._now)
        self.ticks = 0
        self.answering = Answering(session, ID, desk, clock, GIVE_UP_AFTER)
        self.heard: list[Reply] = []

    async def _update(self, task_id: str, responses: dict[str, Response], *, attempts: int) -> None:
        assert attempts == 1, "whoever sends has a pace of its own"
        assert responses, "an empty update answers nothing (A12.8)"
        self.updates.append((now(), responses))
        fate = self.fates.pop(0) if self.fates else None
        if fate is not None:
            raise fate

    def _now(self) -> float:
        """No two looks at a real clock see the same time."""
        self.ticks += 1
        return now() + self.ticks * 1e-9

    def sees(self, snapshot: Task) -> View:
        self.view = observe(self.view, snapshot, now())
        return self.attends()

    def attends(self) -> View:
        self.view = remembering(self.view, self.answering.attend(self.view), self.answering.own)
        return self.view

    async def hears(self) -> Reply:
        if not self.heard:
            self.heard += await asyncio.wait_for(self.answering.get(), 400.0)
        return self.heard.pop(0)

    async def after(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def played(
    course: Callable[[Case], Coroutine[Any, Any, None]], desk: Desk, *fates: BaseException | None
) -> Case:
    async def whole() -> Case:
        case = Case(desk, *fates)
        await course(case)
        await case.answering.end("")
        return case

    return run(whole())
