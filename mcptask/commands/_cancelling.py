"""Asking servers to cancel tasks. An acknowledgement is not an end, so the state is looked at afterwards.

First every task is asked for, then every one is followed or looked at: a signal that ends the waiting
starts nothing new.
"""

from dataclasses import replace

from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, check_credentials, find_task
from mcptask.commands._getting import asked, lost_task, report_of, stored_outcome, untroubled
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of, name_of, to_type_for
from mcptask.commands._reports_of_several import answer_of_all
from mcptask.commands._run import Interruption, run, within
from mcptask.commands._sessions import Sessions
from mcptask.commands._words import with_next_step
from mcptask.commands.following.events import followed
from mcptask.commands.following.loop import follow_all
from mcptask.errors import TaskLost, WireError
from mcptask.protocol.outcome import outcome_of_error, outcome_of_task
from mcptask.render.report import Report


def cancel_tasks(job: Job, texts: tuple[str, ...], *, wait: bool, dry_run: bool = False) -> Answer:
    found = list(
        {(f.endpoint.key, f.record.task_id): f for f in (find_task(job, t) for t in texts)}.values()
    )
    check_credentials(job, found)
    if dry_run:
        from mcptask.commands._dry_run import dry_cancel

        return dry_cancel(job, found)

    async def work(interruption: Interruption) -> list[Report]:
        async with Sessions(job) as sessions:
            async with within(job):
                settled = [await _ask(job, one, sessions) for one in found]
                pairs = list(zip(found, settled, strict=True))
                if not wait:
                    return [
                        untroubled(report) if report else await _look(job, one, sessions)
                        for one, report in pairs
                    ]
            tasks = [report or followed(job, one.record, one.endpoint) for one, report in pairs]
            return await follow_all(job, tasks, interruption, sessions, several=len(tasks) > 1)

    reports = run(work)
    answer = answer_of(job, reports[0]) if len(reports) == 1 else answer_of_all(job, reports)
    return replace(answer, remarks=() if wait else tuple(_remarks(reports)))


async def _ask(job: Job, found: Found, sessions: Sessions) -> Report | None:
    """Ask for cancellation. None where the server took note; else how the task stands already."""
    over = stored_outcome(job, found)
    if over is not None:
        return report_of(job, found, outcome_of_task(over))  # nothing is left to cancel (A13.2)
    try:
        await sessions.to(found.endpoint).cancel(found.record.task_id)
    except TaskLost:
        return report_of(job, found, outcome_of_error(lost_task(job, found)))
    except WireError as error:
        back = f"when the server is back: mcptask cancel {found.to_type}"
        error = with_next_step(error, found.endpoint, back)
        return report_of(job, found, outcome_of_error(error))
    return None


async def _look(job: Job, found: Found, sessions: Sessions) -> Report:
    """The state after the request. Asking was all that was promised: any state is fine."""
    return untroubled(await asked(job, found, sessions.to(found.endpoint)))


def _remarks(reports: list[Report]) -> list[str]:
    return [line for report in reports for line in _remark(report)]


def _remark(report: Report) -> list[str]:
    task = report.outcome.task
    if task is None:
        return []
    name = name_of(report)
    if task.terminal:
        return [f"Task {name} is over: {task.status}."]
    return [
        f"Asked the server to cancel task {name}. It is a request: the task is {task.status}.",
        f"See how it ends:  mcptask watch {to_type_for(report)}",
    ]
