"""`list --refresh`: one `tasks/get` for every task that goes on, all servers at once."""

import asyncio
from collections.abc import Callable

from mcptask.commands._find import Found
from mcptask.commands._getting import asked
from mcptask.commands._job import Job
from mcptask.commands._run import run
from mcptask.commands._sessions import Sessions
from mcptask.errors import McptaskError
from mcptask.origin import Origin
from mcptask.protocol.session import Session
from mcptask.store.lookup import unended


def refresh_tasks(job: Job, wanted: Callable[[Origin], bool]) -> None:
    """Note the state of every task that goes on, on the servers that are `wanted`.

    A server that does not answer is a warning.
    """
    by_server: dict[object, list[Found]] = {}
    for record in unended(job.store.read()):
        if not wanted(record.origin):
            continue
        try:
            found = Found(record=record, endpoint=job.endpoint_of(record.origin))
        except McptaskError as error:
            job.warn(f"task {record.ref}: {error.message}")
            continue
        by_server.setdefault(found.endpoint.key, []).append(found)

    async def work() -> None:
        async with Sessions(job) as sessions:
            await asyncio.gather(*(_refresh(job, sessions, some) for some in by_server.values()))

    if by_server:
        run(lambda _: work())


async def _refresh(job: Job, sessions: Sessions, tasks: list[Found]) -> None:
    try:
        session = sessions.to(tasks[0].endpoint)
    except McptaskError as error:
        job.warn(f"{tasks[0].endpoint.name}: {error.message}")
        return
    await asyncio.gather(*(_ask(job, found, session) for found in tasks))


async def _ask(job: Job, found: Found, session: Session) -> None:
    try:
        report = await asked(job, found, session)
    except McptaskError as error:  # a command that is gone, a token that is not set
        job.warn(f"{found.endpoint.name}: {error.message}")
        return
    if report.outcome.error is not None and report.outcome.task is None:
        job.warn(report.outcome.error.message)
