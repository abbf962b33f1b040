"""A server that pushes, as a script over virtual time, and what following its tasks looks like.

    course = watched(gets={0: wire(), 7: done()}, streams=[[ack(), at(7), tells(done()), SILENCE]])

A stream is what one `subscriptions/listen` is answered with; the last one is given ever after. Instead of
either, a function that is called at that moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcptask.errors import Unreachable
from mcptask.protocol.events import Ended, TaskEvent
from mcptask.protocol.follow import follow
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.outcome import Outcome
from mcptask.protocol.push import Push
from mcptask.protocol.session import Session
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.memory import MemoryTransport
from mcptask.protocol.view import Rules
from tests.protocol.fakes import ID, Whole, words
from tests.protocol.virtual import Clocks, now, run, until

LISTEN = "subscriptions/listen"
SILENCE = object()  # nothing more, for ever
Stream = Sequence[Any] | Callable[[], Sequence[Any]]
CUT = Unreachable("cut off")
END = {"result": {"resultType": "complete"}}


@dataclass(frozen=True)
class At:
    """The stream goes on at this moment."""

    moment: float


def at(moment: float) -> At:
    return At(moment)


def ack(*ids: str) -> dict[str, Any]:
    return acked({"taskIds": list(ids or (ID,))})


def acked(honoured: Any) -> dict[str, Any]:
    params = {"notifications": honoured}
    return {"method": "notifications/subscriptions/acknowledged", "params": params}


def tells(task: Mapping[str, Any], method: str = "notifications/tasks") -> dict[str, Any]:
    """A notification of this state, which is written as the result of a `tasks/get`."""
    return {"method": method, "params": dict(task)}


@dataclass
class Course:
    """How it went: per task what was told and when; when what was asked for; the remarks for `-v`."""

    told: dict[str, list[str]] = field(default_factory=dict)
    events: dict[str, list[TaskEvent]] = field(default_factory=dict)
    requests: list[tuple[float, Request]] = field(default_factory=list)
    at_once: int = 0  # the most questions that were under way together
    answered: list[float] = field(default_factory=list)  # when each question had its answer
    remarks: list[str] = field(default_factory=list)
    learned: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # methods of what was given up
    ended_at: float = 0.0

    @property
    def polls(self) -> list[float]:
        return [when for when, request in self.requests if request.method == "tasks/get"]

    @property
    def listens(self) -> list[float]:
        return [when for when, request in self.requests if request.method == LISTEN]

    @property
    def modes(self) -> list[str]:
        """Each change of how changes are learned, and when."""
        return [line for line in self.told[ID] if "pushed: " in line or "polled: " in line]

    def outcome(self, task_id: str = ID) -> Outcome:
        last = self.events[task_id][-1]
        assert isinstance(last, Ended)
        return last.outcome


class Server:
    """`gets`: from which moment on a task is how, or for each id such a table; an answer may be a list of
    steps, an exception or a `Whole` message as well. `late` is how long an answer takes.
    """

    def __init__(
        self,
        course: Course,
        gets: Mapping[Any, Any] | Callable[[], Any],
        streams: Sequence[Stream],
        late: float = 0.0,
    ) -> None:
        self._course = course
        self._gets = gets
        self._streams = list(streams)
        self._late = late
        self._under_way = 0
        self.transport = MemoryTransport(self._answer)

    def _answer(self, request: Request) -> Iterator[Any]:
        self._course.requests.append((round(now(), 3), request))
        if request.method == LISTEN:
            stream = self._streams.pop(0) if len(self._streams) > 1 else self._streams[0]
            return self._steps(stream() if callable(stream) else stream)
        return self._got(request.params["taskId"])

    def _got(self, task_id: str) -> Iterator[Any]:
        answer = self._gets() if callable(self._gets) else _now(self._gets.get(task_id, self._gets))
        self._under_way += 1
        self._course.at_once = max(self._course.at_once, self._under_way)
        try:
            yield asyncio.sleep(self._late)
            for step in answer if isinstance(answer, list) else [answer]:
                yield from self._steps([step])
        finally:
            self._under_way -= 1
            self._course.answered.append(round(now(), 3))

    def _steps(self, steps: Iterable[Any]) -> Iterator[Any]:
        for step in steps:
            if isinstance(step, At):
                yield until(step.moment)
            elif step is SILENCE:
                yield asyncio.Event().wait()
            else:
                whole = isinstance(step, Whole | BaseException | Awaitable) or "taskId" not in step
                yield step if whole else {"result": step}


def _now(gets: Mapping[float, Any]) -> Any:
    return gets[max(moment for moment in gets if moment <= now() + 1e-9)]


def watched(
    *,
    gets: Mapping[Any, Any] | Callable[[], Any],
    streams: Sequence[Stream] = ((SILENCE,),),
    ids: Sequence[str] = (ID,),
    late: float = 0.0,
    seed: Any = None,
    known: str | None = None,
    ack_wait: float = 10.0,
    stays: float = 0.0,
    beside: Sequence[Coroutine[Any, Any, None]] = (),
    clocks: Clocks | None = None,
    reached: Callable[[MemoryTransport], None] = lambda transport: None,
    **rules: Any,
) -> Course:
    """Follow these tasks from 0 on, each to its end, with one stream for all of them. The stream `stays` so
    much longer: other tasks of the command, on other servers, go on. `reached` gets the transport first.
    """
    course = Course(told={each: [] for each in ids}, events={each: [] for each in ids})
    server = Server(course, gets, streams, late)
    reached(server.transport)
    clock = (clocks or Clocks()).clock

    async def one(task_id: str, push: Push, session: Session) -> None:
        async for event in follow(
            session,
            task_id,
            rules=Rules(**rules),
            clock=clock,
            seed=seed,
            news=push.inbox(task_id),
            chance=lambda: 1.0,
        ):
            course.events[task_id].append(event)
            course.told[task_id].append(f"{round(now(), 3):g} {words(event)}")

    async def all_of_it() -> None:
        session = Session(server.transport, V20260728(), clock=clock, forced=True)
        push = Push(
            session,
            ids,
            clock,
            known=known,
            learned=course.learned.append,
            told=course.remarks.append,
            ack_wait=ack_wait,
            chance=lambda: 0.0,
        )
        others = [asyncio.ensure_future(work) for work in (push.run(), *beside)]
        await asyncio.gather(*(one(each, push, session) for each in ids))
        course.ended_at = round(now(), 3)
        await asyncio.sleep(stays)
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        course.left = [request.method for request in server.transport.left]

    run(all_of_it())
    return course
