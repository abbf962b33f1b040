"""The events of followed tasks as one stream, whatever servers the tasks are on."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from mcptask.commands._eras import place_of
from mcptask.commands._job import Job
from mcptask.commands._sessions import Sessions
from mcptask.commands._where import where_unless_stored
from mcptask.commands._words import RESUMABLE, login_hint, lost
from mcptask.commands.answering.desk import TaskDesk
from mcptask.commands.answering.who import Who
from mcptask.errors import McptaskError
from mcptask.protocol.events import Created, Ended, Heard, StatusChanged, TaskEvent
from mcptask.protocol.follow import follow
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.pacing import AT_ONCE
from mcptask.protocol.push import Inbox, Push
from mcptask.protocol.task import Task
from mcptask.protocol.view import Rules
from mcptask.render.questions import task_name, to_type
from mcptask.render.report import Subject
from mcptask.servers.endpoint import Endpoint
from mcptask.store.paths import cache_folder
from mcptask.store.records import TaskRecord, observed
from mcptask.store.unpushed import UnpushedCache

MOST_WAITING = 1000  # events that wait to be shown; then no more are read
LONGEST_SPREAD = 10.0  # s over which the first questions about many tasks are spread


@dataclass(frozen=True, kw_only=True)
class Followed:
    """One task to follow. `seed` is the answer to `tools/call` where it was made just now. `insists`: whoever
    follows asked for its form; `key`: for the form of this question alone.
    """

    record: TaskRecord
    endpoint: Endpoint
    subject: Subject
    seed: Task | None = None
    insists: bool = False
    key: str | None = None

    @property
    def name(self) -> str:
        """What people call this task: its number, or its id where it is not stored."""
        return task_name(self.record.ref or None, self.record.task_id)

    @property
    def to_type(self) -> str:
        """What follows the name of a command about it."""
        return to_type([self.name], self.subject.where)

    @property
    def who(self) -> Who:
        """Who asks, where it asks."""
        tool = self.record.tool or f"task {self.record.task_id}"
        return Who(self.endpoint.name, tool, self.name, self.to_type)


def followed(
    job: Job, record: TaskRecord, endpoint: Endpoint, seed: Task | None = None
) -> Followed:
    """`started` counts from the task's creation, so that a later terminal shows the true age; of a task
    that was made just now it is this moment, whatever the server's clock says (A14.5)."""
    wall, made = job.env.clock.wall(), record.created_at
    age = 0.0 if seed is not None or made is None else (wall - made).total_seconds()
    started = job.env.clock.now() - max(age, 0.0)
    subject = Subject(
        record.tool,
        endpoint.name,
        record.ref or None,
        record.task_id,
        started,
        record.answered,
        where_unless_stored(job, endpoint, record.ref),
    )
    return Followed(record=record, endpoint=endpoint, subject=subject, seed=seed)


@asynccontextmanager
async def events_of_all(
    job: Job,
    tasks: Sequence[Followed],
    sessions: Sessions,
    rules: Rules,
    beside: Callable[[], Awaitable[None]],
) -> AsyncIterator[AsyncIterator[tuple[Followed, TaskEvent]]]:
    """The events of all tasks as they come, until the last one has ended. `beside` is at work meanwhile, and
    what it raises comes out among the events.
    """
    queue: asyncio.Queue[tuple[Followed, TaskEvent] | BaseException] = asyncio.Queue(MOST_WAITING)

    async def handing_over_errors(work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001 - handed to the reader, who must not wait for ever
            await queue.put(error)

    async def pump(item: Followed, news: Inbox | None, phase: float) -> None:
        async with aclosing(_events_of(job, item, sessions, rules, news, phase)) as events:
            async for event in events:
                await queue.put((item, event))

    async def merged() -> AsyncIterator[tuple[Followed, TaskEvent]]:
        running = len(tasks)
        while running:
            got = await queue.get()
            if isinstance(got, BaseException):
                raise got
            running -= isinstance(got[1], Ended)
            yield got

    works = [beside]
    for items in _by_server(tasks):
        push = _pushed(job, items, sessions)
        works += [] if push is None else [push.run]
        for item, phase in zip(items, _phases(items), strict=True):
            inbox = None if push is None else push.inbox(item.record.task_id)
            works.append(partial(pump, item, inbox, phase))
    at_work = [asyncio.create_task(handing_over_errors(work)) for work in works]
    try:
        yield merged()
    finally:
        for each in at_work:
            each.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)


def _pushed(job: Job, items: Sequence[Followed], sessions: Sessions) -> Push | None:
    """The stream for these tasks of one server; None where there is not even a session."""
    endpoint, now = items[0].endpoint, job.env.clock.wall()
    try:
        session = sessions.to(endpoint)
    except McptaskError:  # each task's own events say so
        return None
    cache, place = UnpushedCache(cache_folder(job.env)), place_of(endpoint)
    found = cache.load(place, now)
    known = found and f"{found.why} (remembered from {found.since.astimezone():%Y-%m-%d %H:%M})"

    def explain(text: str) -> None:
        job.explain(f"{endpoint.name}: {text}")

    def learned(why: str) -> None:
        cache.save(place, why, job.env.clock.wall())

    ids = dict.fromkeys(item.record.task_id for item in items)
    return Push(session, ids, job.env.clock, known=known, learned=learned, told=explain)


def _by_server(tasks: Sequence[Followed]) -> Collection[list[Followed]]:
    found: dict[object, list[Followed]] = {}
    for item in tasks:
        found.setdefault(item.endpoint.key, []).append(item)
    return found.values()


def _phases(items: Sequence[Followed]) -> Iterator[float]:
    """When each task of one server is first asked for, in seconds from now: the first few at once, the others
    spread over an interval, which keeps their later polls apart as well (A10.10).
    """
    for place, item in enumerate(items):
        every = min((item.record.poll_interval_ms or 1000) / 1000, LONGEST_SPREAD)
        yield max(place - AT_ONCE, 0) / len(items) * every


async def _events_of(
    job: Job,
    item: Followed,
    sessions: Sessions,
    rules: Rules,
    news: Inbox | None,
    phase: float,
) -> AsyncGenerator[TaskEvent, None]:
    try:
        session = sessions.to(item.endpoint)
    except McptaskError as error:
        yield Ended(outcome_of_error(error, item.seed))
        return
    if item.seed is not None:
        yield Created(item.seed)
    wall = job.env.clock.wall
    seen = item.record.seen_at or wall()
    desk = TaskDesk(job, job.sources, item.who, item.subject, insists=item.insists, only=item.key)
    following = follow(
        session,
        item.record.task_id,
        rules=rules,
        clock=job.env.clock,
        seed=item.seed,
        answered=item.record.answered,
        desk=desk,
        news=news,
        phase=phase,
    )
    async with aclosing(following) as events:
        async for event in events:
            if isinstance(event, Heard | StatusChanged):
                seen = wall()
            if isinstance(event, Ended):
                event = Ended(_explained(job, item, event.outcome, seen))
            yield event


def _explained(job: Job, item: Followed, outcome: Outcome, seen: datetime) -> Outcome:
    """An outcome in words that name the task, the server and the next command."""
    if outcome.name == "lost":
        record = _last_known(job, item, outcome.task, seen)
        over_stdio = not item.endpoint.is_http
        error = lost(
            record,
            item.endpoint.name,
            job.env.clock.wall(),
            over_stdio=over_stdio,
            to_type=item.to_type,
        )
        return outcome_of_error(error, outcome.task)
    if outcome.error is None or outcome.error.hint is not None or outcome.name not in RESUMABLE:
        return outcome
    hint = RESUMABLE[outcome.name].format(item.name, item.to_type)
    if outcome.name == "unauthorized":
        hint = f"{login_hint(item.endpoint)}; {hint}"
    return replace(outcome, error=replace(outcome.error, hint=hint))


def _last_known(job: Job, item: Followed, task: Task | None, seen: datetime) -> TaskRecord:
    """The record by the latest snapshot (A14.3), which came at `seen`; the time of a task that was made here
    counts from here (A14.5)."""
    record = item.record if task is None else observed(item.record, task, seen)
    if item.seed is None:
        return record
    age = timedelta(seconds=job.env.clock.now() - item.subject.started)
    return replace(record, created_at=job.env.clock.wall() - age)
