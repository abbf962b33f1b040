"""`list --refresh`: one `tasks/get` for every task that goes on, all servers at once."""

import asyncio
from contextlib import AsyncExitStack

from mcptask.commands._connect import connected
from mcptask.commands._find import Found
from mcptask.commands._getting import asked
from mcptask.commands._job import Job
from mcptask.commands._run import run
from mcptask.errors import McptaskError
from mcptask.protocol.session import Session
from mcptask.store.tasks import unended

AT_ONCE = 8  # requests in flight for each server (A10.10)


def refresh_tasks(job: Job) -> None:
    """Note the state of every task that goes on; a server that does not answer is a warning."""
    by_server: dict[str, list[Found]] = {}
    for record in unended(job.store.read()):
        try:
            found = Found(record=record, endpoint=job.endpoint_of(record.origin))
        except McptaskError as error:
            job.warn(f"task {record.ref}: {error.message}")
            continue
        by_server.setdefault(found.endpoint.address, []).append(found)

    async def work() -> None:
        async with AsyncExitStack() as stack:
            await asyncio.gather(*(_refresh(job, stack, some) for some in by_server.values()))

    if by_server:
        run(lambda _: work())


async def _refresh(job: Job, stack: AsyncExitStack, tasks: list[Found]) -> None:
    session = await stack.enter_async_context(connected(job, tasks[0].endpoint, known=True))
    gate = asyncio.Semaphore(AT_ONCE)
    await asyncio.gather(*(_ask(job, found, session, gate) for found in tasks))


async def _ask(job: Job, found: Found, session: Session, gate: asyncio.Semaphore) -> None:
    async with gate:
        report = await asked(job, found, session)
    if report.outcome.error is not None and report.outcome.task is None:
        job.warn(report.outcome.error.message)
