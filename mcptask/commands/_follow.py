"""Following stored tasks to their end, one or several, over one or several servers.

Events come in from every task; each is written to the state file first, then shown. The only other thing
that happens here is an interruption, which leaves the tasks alone unless the user wants otherwise.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress

from mcptask.commands._connect import server_info
from mcptask.commands._job import Job
from mcptask.commands._keep import keep, keep_lost
from mcptask.commands._run import Interruption
from mcptask.commands._streams import Followed, Sessions, events_of_all
from mcptask.commands._words import interrupted
from mcptask.errors import UsageError, WireError
from mcptask.protocol.events import Created, Ended, Heard, StatusChanged, TaskEvent, Warned
from mcptask.protocol.lifecycle import GIVE_UP_AFTER, Rules
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.render.report import Report, Subject

NOTED_EVERY = 60.0  # s: how often "still the same" is worth a write to the state file
TICK = 5.0  # s between two looks at what a log should hear without any event
CANCEL_WAIT = 5.0  # s for `--on-interrupt cancel`
ON_INTERRUPT = ("leave", "cancel")


def rules_of(job: Job) -> Rules:
    """What the user allows: how long, how often. Nobody can answer a form here yet, but a person at a
    terminal can from another one, so only there is a question waited out."""
    timeout = job.seconds("timeout")
    give_up_after = job.seconds("give_up_after")
    return Rules(
        deadline=None if timeout is None else job.env.clock.now() + timeout,
        give_up_after=GIVE_UP_AFTER if give_up_after is None else give_up_after,
        min_interval=job.seconds("interval") or 0.0,
        stop_for_input=not job.env.interactive or job.options.json or job.options.jsonl,
    )


def check_on_interrupt(job: Job) -> None:
    if job.options.on_interrupt not in (None, *ON_INTERRUPT):
        raise UsageError(f"--on-interrupt is one of {', '.join(ON_INTERRUPT)}")


async def follow_all(
    job: Job,
    tasks: Sequence[Followed],
    interruption: Interruption,
    rules: Rules,
    *,
    session: Session | None = None,
) -> list[Report]:
    """Follow the tasks until each has ended, or the user has had enough; the reports are in their order.

    `session` is one that is open already, where there is just one server.
    """
    outcomes: dict[Subject, Outcome] = {}
    latest: dict[Subject, Task] = {t.subject: t.seed for t in tasks if t.seed is not None}
    notes = _Notes(job)
    async with AsyncExitStack() as stack:
        sessions = Sessions(job, stack, session)
        ticking = asyncio.create_task(_tick(job))
        try:
            async with events_of_all(job, tasks, sessions, rules) as events:
                async for item, event in events:
                    _learn(item, event, latest, outcomes)
                    if isinstance(event, Warned):
                        job.warnings.append(event.message)  # the reporter says it
                    notes.take(item, event)
                    job.reporter.show(item.subject, event)
                    if isinstance(event, Ended) and job.options.jsonl and len(tasks) > 1:
                        _end_line(job, _report(job, item, event.outcome, session))
        except asyncio.CancelledError:
            if interruption.signum is None:
                raise
            await _interrupted(job, tasks, interruption.signum, latest, outcomes, sessions)
        finally:
            ticking.cancel()
            job.reporter.close()
    return [_report(job, item, outcomes[item.subject], session) for item in tasks]


async def _tick(job: Job) -> None:
    """Lets the reporter show that time passes, also while a server wants to be asked only once an hour."""
    while True:
        await job.env.clock.sleep(TICK)
        job.reporter.tick()


class _Notes:
    """Keeps the state file up to date, without writing it at every poll."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._noted_at: dict[int, float] = {}

    def take(self, item: Followed, event: TaskEvent) -> None:
        task = _told(event)
        ref, now = item.record.ref, self._job.env.clock.now()
        if ref and isinstance(event, Ended) and event.outcome.name == "lost":
            keep_lost(self._job, item.record)
            return
        old = isinstance(event, Heard) and now - self._noted_at.get(ref, now) < NOTED_EVERY
        if task is None or ref == 0 or old or isinstance(event, Created):
            self._noted_at.setdefault(ref, now)
            return
        self._noted_at[ref] = now
        keep(self._job, item.record, task)


def _end_line(job: Job, report: Report) -> None:
    """Of several tasks, each has its own `ended` line; the last line of all comes with the answer."""
    from mcptask.render.jsonlines import JsonLinesReporter

    assert isinstance(job.reporter, JsonLinesReporter)
    job.reporter.end(report)


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
        cancelled = job.options.on_interrupt == "cancel" and await _cancel(item, sessions)
        error = interrupted(item.name, signum, cancelled=cancelled)
        outcomes[item.subject] = outcome_of_error(error, latest.get(item.subject))


async def _cancel(item: Followed, sessions: Sessions) -> bool:
    with suppress(WireError, TimeoutError):
        async with asyncio.timeout(CANCEL_WAIT):
            await (await sessions.to(item.endpoint)).cancel(item.record.task_id)
            return True
    return False


def _report(job: Job, item: Followed, outcome: Outcome, session: Session | None) -> Report:
    version = session.version if session is not None else item.record.protocol
    return Report(
        outcome=outcome,
        server=server_info(item.endpoint, version),
        ref=item.record.ref or None,
        tool=item.record.tool,
        warnings=tuple(job.warnings),
    )
