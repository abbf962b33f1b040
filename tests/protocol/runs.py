"""Several runs of mcptask that follow one task and answer it, with one state file between them.

    course = played(world)

What a killed run was about to do is not done; what it had noted by then stays noted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from copy import deepcopy
from types import SimpleNamespace
from typing import Any

from mcptask.commands.answering.desk import TaskDesk
from mcptask.commands.answering.who import Who
from mcptask.protocol.follow import follow
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.push import Push
from mcptask.protocol.questions import Ledger, Question, Response, fingerprint
from mcptask.protocol.session import Session
from mcptask.protocol.view import Rules
from mcptask.store import ledger
from tests.protocol.fakes import ID
from tests.protocol.questioning import Course, Put, Run, Server, World
from tests.protocol.virtual import Clocks, now, run, until

REF = 1
LONGEST = 1000.0  # s of a course: what goes on then would go on for ever


class StateFile:
    """The ledger of the task as its TOML says it: all that a run knows of those before it."""

    path = None

    def __init__(self, course: Course) -> None:
        self._course = course
        self._table: dict[str, Any] = {}

    def ledger(self, ref: int = REF) -> Ledger:
        table = deepcopy(self._table)
        return ledger.read(table, tuple(table.get("answered", ())))

    def claim_all(self, ref: int, wanted: Ledger) -> Ledger:
        after, due = ledger.claimed(self.ledger(), wanted)
        self._write(after)
        self._course.claimed += [
            (now(), (key, each.fingerprint or "")) for key, each in due.items()
        ]
        return due

    def acknowledged(self, ref: int, keys: Collection[str]) -> None:
        self._write(ledger.acknowledged(self.ledger(), keys))

    def unclaim(self, ref: int, keys: Collection[str]) -> None:
        self._write(ledger.unclaimed(self.ledger(), keys))

    def _write(self, after: Ledger) -> None:
        self._table = ledger.written(after, None)


class OwnView:
    """The state file as one run has it: a dead one neither reads nor writes."""

    path = None

    def __init__(self, file: StateFile, who: Run) -> None:
        self._file, self._who = file, who

    def __getattr__(self, name: str) -> Any:
        if self._who.dead:
            raise asyncio.CancelledError
        assert self._who.ended_at is None or name == "ledger", f"{name} after the end"
        return getattr(self._file, name)

    def claim_all(self, ref: int, wanted: Ledger) -> Ledger:
        due = self.__getattr__("claim_all")(ref, wanted)
        self._who.claims += 1
        if self._who.claims == self._who.follower.killed_with_claim:
            self._who.dead = True
            self._who.killed.set()
            raise asyncio.CancelledError
        return due


class Answerer:
    """In place of `Sources`: answers as the follower's script says, and notes what it was asked."""

    def __init__(self, who: Run) -> None:
        self._who = who

    async def answer(self, whom: Who, question: Question, form: Any) -> Response | None:
        since, back = now(), None
        name = (question.key, fingerprint(question.request))
        number = len(self._who.put)
        self._who.put.append(Put(name, question, since, float("inf"), None))
        try:
            return await self._given(question, name[1], number)
        except asyncio.CancelledError as cancelled:
            back = str(*cancelled.args)
            raise
        finally:
            self._who.put[number] = Put(name, question, since, now(), back)

    async def _given(self, question: Question, made_for: str, number: int) -> Response | None:
        follower = self._who.follower
        delay, answers = follower.gives[number % len(follower.gives)]
        again = question.changed or question.refused is not None
        if again and not follower.by_hand:
            return None
        await asyncio.sleep(delay)
        by = "file" if follower.by_file and not again else f"{self._who.number}.{number}"
        return {"action": "accept", "content": {"for": made_for, "by": by}} if answers else None


def played(world: World) -> Course:
    course = Course(world)
    file = StateFile(course)
    server = Server(course, file.ledger)
    course.runs = [Run(follower, number) for number, follower in enumerate(world.followers)]

    async def all_of_it() -> None:
        lives = [asyncio.ensure_future(_life(each, server, file)) for each in course.runs]
        await asyncio.wait(lives, timeout=LONGEST)
        for each in course.runs:
            each.killed.set()
        await asyncio.gather(*lives)

    run(all_of_it())
    return course


async def _life(who: Run, server: Server, file: StateFile) -> None:
    """From its start to its end, or until it is killed."""
    await until(who.follower.starts)
    work = asyncio.ensure_future(_following(who, server, file))
    death = asyncio.ensure_future(_killed(who))
    await asyncio.wait({work, death}, return_when=asyncio.FIRST_COMPLETED)
    for each in (work, death):
        each.cancel()
    await asyncio.wait({work, death})
    who.ended_at = now()
    if not work.cancelled():
        work.result()


async def _killed(who: Run) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(who.follower.killed_after):
            await who.killed.wait()
    who.dead = True


async def _following(who: Run, server: Server, file: StateFile) -> None:
    clock = Clocks().clock
    session = Session(server.transport(who), V20260728(), clock=clock, forced=True)
    push = Push(session, [ID], clock, chance=lambda: 0.0)
    pushing = asyncio.ensure_future(push.run())
    own: Any = OwnView(file, who)
    job: Any = SimpleNamespace(store=own, warn=lambda text: None, reporter=None)
    subject: Any = SimpleNamespace(ref=REF, answered=own.ledger())
    desk = TaskDesk(job, Answerer(who), Who("studio", "job", "1"), subject)
    rules = Rules(**({who.follower.stops: True} if who.follower.stops else {}))
    events = follow(
        session,
        ID,
        rules=rules,
        clock=clock,
        answered=own.ledger(),
        desk=desk,
        news=push.inbox(ID),
        chance=lambda: 1.0,
    )
    try:
        async for event in events:
            who.events.append(event)
    finally:
        pushing.cancel()
        await asyncio.gather(pushing, return_exceptions=True)
