"""Noting what servers say while tasks are followed.

A change of the state file writes all of it. So of several tasks, all that came in goes into one write, and
the writes keep their distance; on every way out, what is still to be written is.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from mcptask.commands._job import Job
from mcptask.commands._noting import keep_all
from mcptask.protocol.task import Task
from mcptask.store.records import Sighting, TaskRecord

# How long the file is left alone after a write, in times of what that took: writing costs 5 % at most.
REST = 20
LEAST_REST = 0.25  # s

Note = Callable[[TaskRecord, Task | None], None]


class Notes(NamedTuple):
    """`note(record, task)` is `keep`; of several tasks it returns before anything is written. `settle(ref)`
    is for what must not be read before it is written: the task with this number."""

    note: Note
    settle: Callable[[int], None]


@asynccontextmanager
async def keeping(job: Job, *, several: bool) -> AsyncIterator[Notes]:
    """What is noted inside is written by the end."""
    unwritten: dict[int, tuple[TaskRecord, Sighting]] = {}
    news = asyncio.Event()

    def note(record: TaskRecord, task: Task | None) -> None:
        unwritten[record.ref] = (record, Sighting(task, job.env.clock.wall()))
        if several:
            news.set()
        else:
            write()

    def write() -> None:
        """What cannot be written now is tried again with what comes next, and at the end."""
        if not unwritten:
            return
        what = "what was seen of the tasks" if several else f"task {next(iter(unwritten))}"
        if keep_all(job, unwritten, what):
            unwritten.clear()

    def settle(ref: int) -> None:
        if ref in unwritten:
            write()

    async def write_in_turns() -> None:
        clock = job.env.clock
        while await news.wait():
            news.clear()
            began = clock.now()
            write()
            await clock.sleep(max(REST * (clock.now() - began), LEAST_REST))

    writing = asyncio.create_task(write_in_turns())
    try:
        yield Notes(note, settle)
    finally:
        writing.cancel()
        write()
