"""Following stored tasks to their end, one or several, over one or several servers.

Events come in from every task; each is written to the state file first, then shown. The only other thing
that happens here is an interruption, which leaves the tasks alone unless the user wants otherwise.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress

from mcptask.commands._job import Job
from mcptask.commands._keep import keep, keep_lost
from mcptask.commands._reports import server_info
from mcptask.commands._run import Interruption
from mcptask.commands._sessions import Sessions
from mcptask.commands._streams import Followed, events_of_all
from mcptask.commands._words import interrupted
from mcptask.errors import WireError
from mcptask.protocol.events import Created, Ended, Heard, StatusChanged, TaskEvent, Warned
from mcptask.protocol.lifecycle import GIVE_UP_AFTER, Rules
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.render.report import Report, Reporter, Subject

TICK = 5.0  # s between two looks at what a log should hear without any event
CANCEL_WAIT = 5.0  # s for `--on-interrupt cancel`


def rules_of(job: Job) -> Rules:
    """What the user allows: how long, how often. Nobody can answer a form here yet, but a person at a
    terminal can from another one, so only there is a question waited out."""
    options = job.options
    return Rules(
        deadline=job.deadline,
        give_up_after=options.give_up_after or GIVE_UP_AFTER,
        min_interval=options.interval or 0.0,
        stop_for_input=not job.env.interactive or options.format != "text",
    )


async def follow_all(
    job: Job,
    tasks: Sequence[Followed],
    interruption: Interruption,
    sessions: Sessions,
) -> list[Report]:
    """Follow the tasks until each has ended, or the user has had enough; the reports are in their order."""
    outcomes: dict[Subject, Outcome] = {}
    latest: dict[Subject, Task] = {t.subject: t.seed for t in tasks if t.seed is not None}
    reporter = job.reporter_for(len(tasks))
    ticking = asyncio.create_task(_tick(job, reporter))
    try:
        async with events_of_all(job, tasks, sessions, rules_of(job)) as events:
            async for item, event in events:
                _learn(item, event, latest, outcomes)
                if isinstance(event, Warned):
                    job.list_warning(event.message)  # the reporter says it
                _note(job, item, event)
                reporter.show(item.subject, event)
                if isinstance(event, Ended) and len(tasks) > 1:
                    reporter.end(_report(job, item, event.outcome))
    except asyncio.CancelledError:
        if interruption.signum is None:
            raise
        sessions.hurry = True
        await _interrupted(job, tasks, interruption.signum, latest, outcomes, sessions)
    finally:
        ticking.cancel()
        reporter.close()
    return [_report(job, item, outcomes[item.subject]) for item in tasks]


async def _tick(job: Job, reporter: Reporter) -> None:
    """Lets the reporter show that time passes, also while a server wants to be asked only once an hour."""
    while True:
        await job.env.clock.sleep(TICK)
        reporter.tick()


def _note(job: Job, item: Followed, event: TaskEvent) -> None:
    """What the state file should know of it. The store sees to it that not every poll is a write."""
    if not item.record.ref:
        return
    if isinstance(event, Ended) and event.outcome.name == "lost":
        keep_lost(job, item.record)
    elif isinstance(event, Heard | StatusChanged):
        keep(job, item.record, event.task)


def _learn(
    item: Followed, event: TaskEvent, latest: dict[Subject, Task], outcomes: dict[Subject, Outcome]
) -> None:
    if (task := _told(event)) is not None:
        latest[item.subject] = task
    if isinstance(event, Ended):
        outcomes[item.subject] = event.outcome


def _told(event: TaskEvent) -> Task | None:
    if isinstance(event, Created | Heard | StatusChanged):
        return event.task
    return event.outcome.task if isinstance(event, Ended) else None


async def _interrupted(
    job: Job,
    tasks: Sequence[Followed],
    signum: int,
    latest: Mapping[Subject, Task],
    outcomes: dict[Subject, Outcome],
    sessions: Sessions,
) -> None:
    """The outcome of every task that had not ended when the signal came."""
    current = asyncio.current_task()
    if current is not None:
        current.uncancel()
    for item in tasks:
        if item.subject in outcomes:
            continue
        cancelled = job.options.on_interrupt == "cancel" and await ask_to_cancel(
            sessions.to(item.endpoint), item.record.task_id
        )
        error = interrupted(item.name, signum, cancelled=cancelled)
        outcomes[item.subject] = outcome_of_error(error, latest.get(item.subject))


async def ask_to_cancel(session: Session, task_id: str) -> bool:
    """On the way out: one request, `CANCEL_WAIT` seconds at most; did the server take note?"""
    with suppress(WireError, TimeoutError):
        async with asyncio.timeout(CANCEL_WAIT):
            await session.cancel(task_id)
            return True
    return False


def _report(job: Job, item: Followed, outcome: Outcome) -> Report:
    return Report(
        outcome=outcome,
        server=server_info(item.endpoint, item.record.protocol),
        ref=item.record.ref or None,
        tool=item.record.tool,
        warnings=tuple(job.warnings),
    )
