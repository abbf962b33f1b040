"""Following stored tasks to their end, one or several, over one or several servers.

Events come in from every task; each is noted for the state file, shown, and told to `--notify` and `--exec`.
The only other thing that happens here is an interruption, which leaves the tasks alone unless the user wants
otherwise.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from mcptask.commands._job import Job
from mcptask.commands._reports import server_info
from mcptask.commands._run import Interruption
from mcptask.commands._sessions import Sessions
from mcptask.commands.following.batches import Note, keeping
from mcptask.commands.following.events import Followed, events_of_all
from mcptask.commands.following.job_control import stoppable
from mcptask.commands.following.leaving import leave, left_running
from mcptask.commands.following.reader_gone import while_read
from mcptask.commands.following.telling import telling
from mcptask.errors import ExitCode
from mcptask.protocol.events import (
    Answered,
    Created,
    Ended,
    Heard,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.outcome import Outcome, outcome_of_task
from mcptask.protocol.questions import Ledger
from mcptask.protocol.task import Task
from mcptask.protocol.view import GIVE_UP_AFTER, Rules
from mcptask.render.report import Report, Reporter, Subject
from mcptask.store.records import TaskRecord


def never(outcome: Outcome) -> bool:
    """No outcome of one task ends the following of the others."""
    return False


def rules_of(job: Job) -> Rules:
    """What the user allows: how long, how often. A person at a terminal can answer later, from another one,
    so only there is a question waited out that nobody here answers."""
    options = job.options
    return Rules(
        deadline=job.deadline,
        give_up_after=options.give_up_after or GIVE_UP_AFTER,
        min_interval=options.interval or 0.0,
        stop_for_input=not job.by_hand,
    )


def until_answered(job: Job) -> Rules:
    """The same, but only until nothing is open that somebody here answers."""
    return replace(rules_of(job), stop_when_answered=True)


async def follow_all(
    job: Job,
    tasks: Sequence[Followed | Report],
    interruption: Interruption,
    sessions: Sessions,
    *,
    rules: Rules | None = None,
    several: bool = False,
    enough: Callable[[Outcome], bool] = never,
) -> list[Report]:
    """Follow the tasks until each has ended, or one did so that it is `enough`, or the user has had enough.
    A task that is over already comes as its report, and that is told as if it had just ended.

    The reports are in the order of the tasks; those that are left to go on are reported as last seen.
    `several`: the answer will be that of several, however many they are.
    """
    over = [each for each in tasks if isinstance(each, Report)]
    going_on = [each for each in tasks if isinstance(each, Followed)]
    known = _Known(job, going_on)
    reporter = job.reporter_for(several=several)
    if any(enough(report.outcome) for report in over):
        going_on = []
    try:
        async with (
            while_read(job.env.stdout, interruption),
            stoppable(reporter),
            keeping(job, several=several) as notes,
            telling(job, notes.settle) as told,
            events_of_all(
                job,
                going_on,
                sessions,
                rules or rules_of(job),
                beside=partial(tick_when_due, job, reporter),
            ) as events,
        ):
            for report in over:
                told.tell(report)
                if several:
                    reporter.end(report)
            async for item, event in events:
                known.learn(item.subject, event)
                _note(notes.note, item, event)
                reporter.show(item.subject, event)
                told.hear(item.subject, event, partial(known.report, item), known.answered(item))
                if isinstance(event, Ended):
                    if several:
                        reporter.end(known.report(item))
                    if enough(event.outcome):
                        break
            going_on = []  # from now on a signal ends the telling, and leaves no task
    except asyncio.CancelledError:
        if interruption.signum is None:
            raise
        sessions.hurry = True
        left = [item for item in going_on if item.subject not in known.outcomes]
        known.outcomes |= await leave(job, left, known.latest, interruption, sessions)
    except BrokenPipeError:
        unended = [known.report(each) for each in going_on if each.subject not in known.outcomes]
        if unended:
            job.say(f"Nobody reads stdout any more. {left_running(unended)}")
        raise
    finally:
        reporter.close()
    job.sources.close()
    return [
        known.report(each)
        if isinstance(each, Followed)
        else replace(each, warnings=tuple(job.warnings))
        for each in tasks
    ]


class _Known:
    """What was heard of each task so far."""

    def __init__(self, job: Job, tasks: Sequence[Followed]) -> None:
        self._job = job
        self.outcomes: dict[Subject, Outcome] = {}
        self.latest: dict[Subject, Task] = {t.subject: t.seed for t in tasks if t.seed is not None}
        self._warned: dict[Subject, list[str]] = {}
        self._answered: dict[Subject, Ledger] = {}
        self._sent: dict[Subject, set[str]] = {}

    def learn(self, subject: Subject, event: TaskEvent) -> None:
        if isinstance(event, Warned):
            self._warned.setdefault(subject, []).append(event.message)
        elif isinstance(event, Answered):
            self._answered[subject] = event.ledger
            if not event.elsewhere:
                self._sent.setdefault(subject, set()).update(event.keys)
        elif isinstance(event, Ended):
            self.outcomes[subject] = event.outcome
        elif isinstance(event, Created | Heard | StatusChanged):
            self.latest[subject] = event.task

    def answered(self, item: Followed) -> Ledger:
        """What was answered so far."""
        return self._answered.get(item.subject, item.record.answered)

    def report(self, item: Followed, outcome: Outcome | None = None) -> Report:
        """Of a task that came to this outcome, else to the one that was heard, else as it was last seen."""
        subject = item.subject
        seen = outcome or self.outcomes.get(subject)
        warnings = (*self._job.warnings, *self._warned.get(subject, ()))
        return Report(
            outcome=seen or last_seen(item.record, self.latest.get(subject)),
            server=server_info(item.endpoint, item.record.protocol),
            ref=item.record.ref or None,
            tool=item.record.tool,
            warnings=tuple(dict.fromkeys(warnings)),
            where=subject.where,
            task_id=subject.task_id,
            answered=self.answered(item),
            sent=frozenset(self._sent.get(subject, ())),
        )


def last_seen(record: TaskRecord, task: Task | None) -> Outcome:
    """Of a task that is left to go on, or was over without our waiting for its last word. `task` is None
    where the server was not heard in this run: then all that is known is the stored status."""
    if task is None:
        return Outcome(name=record.status, exit_code=ExitCode.OK)
    outcome = outcome_of_task(task, record.answered)
    return outcome if task.terminal else replace(outcome, exit_code=ExitCode.OK)


async def tick_when_due(job: Job, reporter: Reporter) -> None:
    """Lets the reporter show that time passes, when it wants to: also while no server says a word."""
    clock = job.env.clock
    while (due := reporter.due) is not None:
        await clock.sleep(due - clock.now())
        reporter.tick()


def _note(note: Note, item: Followed, event: TaskEvent) -> None:
    """What the state file should know of it. The store sees to it that not every poll is a write."""
    if not item.record.ref:
        return
    if isinstance(event, Ended) and event.outcome.name == "lost":
        note(item.record, None)
    elif isinstance(event, Heard | StatusChanged):
        note(item.record, event.task)
