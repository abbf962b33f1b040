"""A clock that only moves when someone sleeps, a session over a scripted peer, and short words for events."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from hypothesis import strategies as st

from mcptask.env import LONGEST_SLEEP, Clock
from mcptask.protocol.events import (
    Answered,
    Ended,
    Heard,
    InputRequired,
    Left,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.follow import follow
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.outcome import Outcome
from mcptask.protocol.questions import Answer
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.memory import MemoryTransport
from mcptask.protocol.view import Rules

T = TypeVar("T")

ID = "tsk_8f21"
QUESTION = {"method": "elicitation/create", "params": {"message": "Which room?"}}
RESULT = {"content": [{"type": "text", "text": "moved 138"}], "isError": False}


class FakeClock:
    """Begins at 0; `sleep` moves it at once, never by more than the real one would."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.time, wall=self._wall, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        assert seconds > 0, "nobody waits for what is past"
        self.slept.append(seconds)
        self.time += min(seconds, LONGEST_SLEEP)

    def _wall(self) -> datetime:
        return datetime(2026, 9, 12, tzinfo=UTC) + timedelta(seconds=self.time)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(coroutine)


def task(status: str = "working", **fields: Any) -> Task:
    return Task(task_id=ID, status=status, **fields)


def wire(status: str = "working", **fields: Any) -> dict[str, Any]:
    """The result object of a `tasks/get`."""
    return {"resultType": "complete", "taskId": ID, "status": status, "ttlMs": None, **fields}


def done(**fields: Any) -> dict[str, Any]:
    return wire("completed", result=RESULT, **fields)


class Whole(dict[str, Any]):
    """A whole message, where a plain dictionary stands for the result of one."""


def refused(code: int, message: str = "no", data: Any = None) -> Whole:
    """A JSON-RPC error."""
    return Whole(error={"code": code, "message": message, "data": data})


class Peer:
    """Answers the requests in order, the last answer for ever; notes when each request came.

    An answer is a result object, a `Whole` message, an exception, or a list of these.
    """

    def __init__(self, answers: Iterable[Any], *, time: Callable[[], float] = lambda: 0.0) -> None:
        self._answers = list(answers)
        self._time = time
        self.times: list[float] = []
        self.transport = MemoryTransport(self._answer)

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.transport.requests]

    def _answer(self, request: Request) -> Any:
        self.times.append(self._time())
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return _message(answer)


def _message(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_message(step) for step in answer]
    return {"result": answer} if type(answer) is dict else answer


def session_with(
    peer: Peer, time: FakeClock | None = None, *, forced: bool = True, **more: Any
) -> Session:
    """`forced`: the server is not doubted. `more`: what else `Session` takes."""
    clock = (time or FakeClock()).clock
    return Session(peer.transport, V20260728(), clock=clock, forced=forced, **more)


@dataclass
class Course:
    """How following went: what was told and when, when the server was asked, and how it ended."""

    told: list[str] = field(default_factory=list)
    events: list[TaskEvent] = field(default_factory=list)
    polls: list[float] = field(default_factory=list)
    ended_at: float = 0.0

    @property
    def outcome(self) -> Outcome:
        assert isinstance(self.events[-1], Ended)
        return self.events[-1].outcome


def followed(
    answers: Sequence[Any],
    *,
    seed: Task | None = None,
    answered: Iterable[str] = (),
    chance: float = 1.0,
    **rules: Any,
) -> Course:
    """Follow a task over these answers to `tasks/get`, from 0 on the clock."""
    time, course = FakeClock(), Course()
    peer = Peer(answers, time=lambda: time.time)

    async def all_of_it() -> None:
        events = follow(
            session_with(peer, time),
            ID,
            rules=Rules(**rules),
            clock=time.clock,
            seed=seed,
            answered={key: Answer() for key in answered},
            chance=lambda: chance,
        )
        async for event in events:
            course.events.append(event)
            course.told.append(f"{time.time:g} {words(event)}")

    run(all_of_it())
    course.polls = peer.times
    course.ended_at = time.time
    return course


def words(event: TaskEvent) -> str:
    match event:
        case StatusChanged(task, next_poll):
            return f"status {task.status}, next {_at(next_poll)}"
        case Heard(task, next_poll):
            return f"still {task.status}, next {_at(next_poll)}"
        case InputRequired(_, requests):
            return f"asks {' '.join(requests)}"
        case Left(keys):
            return f"left {' '.join(keys)}"
        case Answered(keys, elsewhere):
            return f"answered {' '.join(keys)}{' elsewhere' * elsewhere}"
        case Retrying(_, attempt, until, _):
            return f"failure {attempt}, next {until:g}"
        case Reconnected(away):
            return f"back after {away:g}"
        case Listening(push, why, _):
            return f"{'pushed' if push else 'polled'}: {why}"
        case Warned(message):
            return f"warning {message}"
        case Ended(outcome):
            return f"ended {outcome.name} {outcome.exit_code:d}"
        case _:
            raise AssertionError(event)


def _at(time: float | None) -> str:
    return "never" if time is None else f"{time:g}"


# The names that mean something somewhere on this wire: random ones would never be read.
NAMES = (
    "resultType",
    "taskId",
    "status",
    "statusMessage",
    "createdAt",
    "ttlMs",
    "ttl",
    "pollIntervalMs",
    "pollInterval",
    "result",
    "error",
    "inputRequests",
    "requestState",
    "task",
    "_meta",
    "modelcontextprotocol.io/task",
    "content",
    "isError",
    "code",
    "message",
    "data",
    "supported",
    "supportedVersions",
    "serverInfo",
    "name",
    "capabilities",
    "extensions",
    "tools",
    "nextCursor",
    "cacheScope",
    "protocolVersion",
)

_WORDS = [ID, "", "x", "working", "completed", "input_required", "task", "complete", "2026-07-28"]
_NUMBERS = [0, -1, 7, 2**53, 10**400, -(10**400), 1.5, -0.5, 1e308, math.nan, math.inf, -math.inf]
_LEAVES = st.sampled_from([None, True, False, *_WORDS, *_NUMBERS])

# Anything that JSON can hold, and Python's NaN and infinities, which its parser lets through.
JSON: st.SearchStrategy[Any] = st.recursive(
    _LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
    ),
    max_leaves=8,
)
JSON_OBJECTS = st.dictionaries(st.sampled_from(NAMES), JSON, max_size=6)
