"""A server that asks, loses, refuses, withdraws and changes its mind, on virtual time.

A `World` is what happens, in seconds from 0, and a `Course` how it went. Every response says which request it
was made for, so that one that comes to another request is found out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mcptask.errors import Unreachable
from mcptask.protocol.events import Ended, TaskEvent
from mcptask.protocol.questions import Ledger, Name, Question, fingerprint
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.memory import MemoryTransport
from tests.protocol.fakes import RESULT, refused, wire
from tests.protocol.pushing import LISTEN, ack, tells
from tests.protocol.virtual import now, until

RELISTED = 5.0  # s that a question is listed again after it was applied
REFUSAL = refused(-32602, "no such room")


@dataclass(frozen=True)
class Asked:
    """A question under one key, and `becomes` another one at that moment. An answer that was taken is applied
    `late`, and listed once more `relisted` after that; the first ones may be refused.
    """

    opens: float
    withdrawn: float | None = None
    becomes: float | None = None
    late: float = 0.0
    relisted: float | None = None
    refusals: int = 0

    def request(self, second: bool) -> dict[str, Any]:
        message = "another one" if second else "the first one"
        return {"method": "elicitation/create", "params": {"message": message}}


class Fate(NamedTuple):
    """What becomes of one `tasks/update`: when it arrives, whether it does, and whether its answer does."""

    late: float = 0.0
    arrives: bool = True
    heard: bool = True


@dataclass(frozen=True)
class Follower:
    """One run: `gives` says after how long each question put to it is answered, or not at all (False).
    It is killed after so many seconds, or with the so-manyth claim, before anything goes out.
    """

    starts: float
    gives: Sequence[tuple[float, bool]]
    stops: str = ""  # the name of a rule
    killed_after: float | None = None
    killed_with_claim: int | None = None
    by_hand: bool = True
    by_file: bool = False  # the same as from every such run


@dataclass(frozen=True)
class World:
    asked: Sequence[Asked]
    works_until: float
    followers: Sequence[Follower]
    fates: Sequence[Fate]
    away: Sequence[tuple[float, float]]  # since when, and for how long
    hidden: Sequence[
        tuple[float, float]
    ]  # since when, and for how long, a node that lags says "working"
    pushed: Sequence[
        tuple[float, bool]
    ]  # when it tells of the task, and whether in full; empty: it cannot
    answers_take: float


class Put(NamedTuple):
    """A question in the hands of whoever answers in one run. `back` is why it was taken back."""

    name: Name
    question: Question
    since: float
    till: float
    back: str | None


@dataclass(eq=False)
class Run:
    """How it went for one follower."""

    follower: Follower
    number: int
    put: list[Put] = field(default_factory=list)
    events: list[TaskEvent] = field(default_factory=list)
    turned_down: list[Any] = field(
        default_factory=list
    )  # key and response, where one alone was refused
    # The request under each key as it was heard last, and since when.
    seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    ended_at: float | None = None
    claims: int = 0
    killed: asyncio.Event = field(default_factory=asyncio.Event)
    dead: bool = False

    @property
    def outcome(self) -> str:
        last = self.events[-1] if self.events else None
        return last.outcome.name if isinstance(last, Ended) else ""


class Sent(NamedTuple):
    """One response on its way."""

    at: float
    name: Name  # what it was made for
    seen: tuple[str, float] | None  # what the sender had last heard under that key, and since when
    response: dict[str, Any]
    noted: bool  # is it in the state file
    refused: bool  # did this run hear a no to it


@dataclass
class Course:
    world: World
    runs: list[Run] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    empty: int = 0  # updates without an answer
    taken: dict[Name, tuple[float, dict[str, Any]]] = field(default_factory=dict)
    mistaken: list[str] = field(default_factory=list)  # responses that came to another question
    refusals: dict[Name, int] = field(default_factory=dict)
    claimed: list[tuple[float, Name]] = field(default_factory=list)

    def asks(self, key: str, at: float) -> dict[str, Any] | None:
        """What the server asks under this key at that moment."""
        asked = self.world.asked[int(key)]
        second = asked.becomes is not None and asked.becomes <= at
        if at < asked.opens or (
            not second and asked.withdrawn is not None and asked.withdrawn <= at
        ):
            return None
        request = asked.request(second)
        taken = self.taken.get((key, fingerprint(request)))
        if taken is None or at < taken[0] + asked.late:
            return request
        if asked.relisted is None:
            return None
        again = taken[0] + asked.late + asked.relisted
        return request if again <= at < again + RELISTED else None

    def listed(self, at: float) -> dict[str, dict[str, Any]]:
        found = {str(each): self.asks(str(each), at) for each in range(len(self.world.asked))}
        return {key: request for key, request in found.items() if request is not None}

    def over(self, at: float) -> bool:
        """Each question had its answer, and no more comes."""
        return at >= self.world.works_until and all(
            self._done(str(key), asked, at) for key, asked in enumerate(self.world.asked)
        )

    def _done(self, key: str, asked: Asked, at: float) -> bool:
        last = asked.becomes if asked.becomes is not None else asked.opens
        second = asked.becomes is not None
        if at < last:
            return False
        taken = self.taken.get((key, fingerprint(asked.request(second))))
        if taken is None:
            return not second and asked.withdrawn is not None and asked.withdrawn <= at
        return at >= taken[0] + asked.late + (asked.relisted or 0.0) + RELISTED


class Server:
    """What all runs talk to."""

    def __init__(self, course: Course, stored: Callable[[], Ledger]) -> None:
        self._course, self._world, self._stored = course, course.world, stored
        self._fates = list(course.world.fates)

    def transport(self, who: Run) -> MemoryTransport:
        return MemoryTransport(lambda request: self._answer(who, request))

    def _answer(self, who: Run, request: Request) -> Iterator[Any]:
        if who.dead:
            raise asyncio.CancelledError
        assert who.ended_at is None, "nothing goes out after the end"
        if request.method == LISTEN:
            yield from self._tells(who)
        elif request.method == "tasks/update":
            yield from self._updated(who, request.params["inputResponses"])
        else:
            state = self._state()
            yield asyncio.sleep(self._world.answers_take)
            yield from self._reachable()
            self._heard(who, state)
            yield {"result": state}

    def _state(self) -> dict[str, Any]:
        asked = self._course.listed(now())
        if self._course.over(now()):
            return wire("completed", result=RESULT)
        if any(since <= now() < since + lasts for since, lasts in self._world.hidden):
            return wire()
        return wire("input_required", inputRequests=asked) if asked else wire()

    def _heard(self, who: Run, state: dict[str, Any]) -> None:
        for key, request in state.get("inputRequests", {}).items():
            if key not in who.seen or who.seen[key][0] != fingerprint(request):
                who.seen[key] = fingerprint(request), now()

    def _reachable(self) -> Iterator[Any]:
        if any(since <= now() < since + lasts for since, lasts in self._world.away):
            yield Unreachable("reset")

    def _tells(self, who: Run) -> Iterator[Any]:
        if not self._world.pushed:
            yield refused(-32601)
            return
        yield ack()
        for moment, whole in self._world.pushed:
            if moment >= now():
                yield until(moment)
                state = self._state()
                self._heard(who, state)
                yield tells(state if whole else wire(state["status"]))
        yield asyncio.Event().wait()  # nothing more, for ever

    def _updated(self, who: Run, responses: dict[str, Any]) -> Iterator[Any]:
        self._course.empty += not responses
        stored = self._stored()
        for key, response in responses.items():
            noted = key in stored and stored[key].response in (None, response)
            name = (key, response["content"]["for"])
            again = (key, response) in who.turned_down
            self._course.sent.append(Sent(now(), name, who.seen.get(key), response, noted, again))
        fate = self._fates.pop(0) if self._fates else Fate()
        yield asyncio.sleep(fate.late)
        yield from self._reachable()
        if not fate.arrives:
            yield Unreachable("lost on the way")
        answer = self._take(responses)
        if not fate.heard:
            yield Unreachable("its answer was lost")
        if answer is REFUSAL and len(responses) == 1:
            who.turned_down += responses.items()
        yield answer

    def _take(self, responses: dict[str, Any]) -> dict[str, Any]:
        course, listed = self._course, self._course.listed(now())
        names = {key: (key, fingerprint(listed[key])) for key in responses if key in listed}
        new = {key: name for key, name in names.items() if name not in course.taken}
        for key, name in new.items():
            if course.refusals.get(name, 0) < self._world.asked[int(key)].refusals:
                course.refusals[name] = course.refusals.get(name, 0) + 1
                return REFUSAL
        for key, name in new.items():
            course.taken[name] = now(), responses[key]
            if responses[key]["content"]["for"] != name[1]:
                course.mistaken.append(f"{now()} {key}")
        return {"result": {"resultType": "complete"}}
