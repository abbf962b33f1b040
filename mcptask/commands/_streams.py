"""The events of followed tasks as one stream, whatever servers the tasks are on."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace

from mcptask.commands._job import Job
from mcptask.commands._sessions import Sessions
from mcptask.commands._words import lost
from mcptask.errors import McptaskError
from mcptask.protocol.events import Created, Ended, TaskEvent
from mcptask.protocol.follow import follow
from mcptask.protocol.lifecycle import Rules
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.task import Task
from mcptask.render.questions import task_name
from mcptask.render.report import Subject
from mcptask.servers.endpoint import Endpoint
from mcptask.store.records import TaskRecord


@dataclass(frozen=True, kw_only=True)
class Followed:
    """One task to follow. `seed` is the answer to `tools/call` where it was made just now."""

    record: TaskRecord
    endpoint: Endpoint
    subject: Subject
    seed: Task | None = None

    @property
    def name(self) -> str:
        """What to type for this task: its number, or its id where it is not stored."""
        return task_name(self.record.ref or None, self.record.task_id)


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
        frozenset(record.answered),
    )
    return Followed(record=record, endpoint=endpoint, subject=subject, seed=seed)


@asynccontextmanager
async def events_of_all(
    job: Job, tasks: Sequence[Followed], sessions: Sessions, rules: Rules
) -> AsyncIterator[AsyncIterator[tuple[Followed, TaskEvent]]]:
    """The events of all tasks as they come, until the last one has ended."""
    queue: asyncio.Queue[tuple[Followed, TaskEvent] | BaseException] = asyncio.Queue()

    async def pump(item: Followed) -> None:
        try:
            async with aclosing(_events_of(job, item, sessions, rules)) as events:
                async for event in events:
                    queue.put_nowait((item, event))
        except Exception as error:  # noqa: BLE001 - handed to the reader, who must not wait for ever
            queue.put_nowait(error)

    async def merged() -> AsyncIterator[tuple[Followed, TaskEvent]]:
        running = len(tasks)
        while running:
            got = await queue.get()
            if isinstance(got, BaseException):
                raise got
            running -= isinstance(got[1], Ended)
            yield got

    pumps = [asyncio.create_task(pump(item)) for item in tasks]
    try:
        yield merged()
    finally:
        for task in pumps:
            task.cancel()
        await asyncio.gather(*pumps, return_exceptions=True)


async def _events_of(
    job: Job, item: Followed, sessions: Sessions, rules: Rules
) -> AsyncGenerator[TaskEvent, None]:
    try:
        session = sessions.to(item.endpoint)
    except McptaskError as error:
        yield Ended(outcome_of_error(error, item.seed))
        return
    if item.seed is not None:
        yield Created(item.seed)
    async for event in follow(
        session,
        item.record.task_id,
        rules=rules,
        clock=job.env.clock,
        seed=item.seed,
        answered=frozenset(item.record.answered),
    ):
        yield Ended(_explained(job, item, event.outcome)) if isinstance(event, Ended) else event


def _explained(job: Job, item: Followed, outcome: Outcome) -> Outcome:
    """An outcome in words that name the task, the server and the next command."""
    if outcome.name == "lost":
        error = lost(item.record, item.endpoint.name, job.env.clock.wall())
        return outcome_of_error(error, outcome.task)
    if outcome.error is None or outcome.error.hint is not None or outcome.name not in RESUMABLE:
        return outcome
    hint = RESUMABLE[outcome.name].format(item.name)
    return replace(outcome, error=replace(outcome.error, hint=hint))


RESUMABLE: Mapping[str, str] = {
    "timeout": "follow it again: mcptask watch {}",
    "unreachable": "when the server is back: mcptask watch {}",
    "unauthorized": "with a valid token: mcptask watch {}",
    "protocol": "look again: mcptask get {}",
    "input_required": "see what it asks: mcptask get {}",
}
