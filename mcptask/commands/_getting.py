"""How a task stands: from the stored outcome where it ended, else from its server."""

from dataclasses import replace
from typing import TYPE_CHECKING

from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, find_task
from mcptask.commands._job import Job
from mcptask.commands._noting import keep
from mcptask.commands._reports import (
    answer_of,
    name_of,
    problem_lines,
    result_of,
    server_info,
    to_type_for,
)
from mcptask.commands._words import last_seen, lost, with_next_step
from mcptask.errors import ExitCode, ProtocolError, TaskLost, UsageError, WireError
from mcptask.protocol.generations.snapshots import read_task
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_task
from mcptask.protocol.task import Task
from mcptask.render.human import details
from mcptask.render.report import Report

if TYPE_CHECKING:
    from mcptask.protocol.session import Session


def look_up(job: Job, text: str, *, refresh: bool) -> Report:
    """The report of one task. Only what is not known to be over is asked for over the wire."""
    found = find_task(job, text)
    task = None if refresh else stored_outcome(job, found)
    if task is not None:
        return report_of(job, found, outcome_of_task(task))

    from mcptask.commands._run import run, within
    from mcptask.commands._sessions import Sessions

    async def ask() -> Report:
        async with Sessions(job) as sessions, within(job):
            return await asked(job, found, sessions.to(found.endpoint, known=found.stored))

    return run(lambda _: ask())


def stored_outcome(job: Job, found: Found) -> Task | None:
    """The last snapshot of a task that is known to have ended, if it was kept. A damaged one was not."""
    if not found.stored or not found.record.terminal:
        return None
    raw = job.outcomes.load(found.record.origin, found.record.task_id)
    if raw is None:
        return None
    try:
        task = read_task(raw, asked=found.record.task_id)
    except ProtocolError:
        return None
    return task if task.terminal and task.has_payload else None


async def asked(job: Job, found: Found, session: "Session", command: str = "get") -> Report:
    """One `tasks/get`, noted in the state file. `command` is the one to type again if no answer came."""
    try:
        task = await session.get(found.record.task_id)
    except TaskLost:
        return report_of(job, found, outcome_of_error(lost_task(job, found)))
    except WireError as error:
        seen = f"{last_seen(found.record, job.env.clock.wall())}; " if found.stored else ""
        back = f"{seen}when the server is back: mcptask {command} {found.to_type}"
        error = with_next_step(error, found.endpoint, back)
        return report_of(job, found, outcome_of_error(error))
    for warning in task.warnings:
        job.warn(warning)
    if found.stored:
        keep(job, found.record, task)
    outcome = outcome_of_task(task, found.record.answered)
    return report_of(job, found, outcome, session.version)


def lost_task(job: Job, found: Found) -> TaskLost:
    """What to say of a task that its server does not know."""
    if found.stored:
        keep(job, found.record, None)
    record, server = found.record, found.endpoint
    return lost(
        record,
        server.name,
        job.env.clock.wall(),
        over_stdio=not server.is_http,
        to_type=found.to_type,
    )


def report_of(job: Job, found: Found, outcome: Outcome, version: str | None = None) -> Report:
    record = found.record
    return Report(
        outcome=outcome,
        server=server_info(found.endpoint, version or record.protocol),
        ref=record.ref if found.stored else None,
        tool=record.tool,
        warnings=tuple(job.warnings),
        where=found.where,
        task_id=record.task_id,
        answered=record.answered,
    )


def answer(job: Job, report: Report, *, only_result: bool, exit_status: bool) -> Answer:
    """`get` did what it says once the server (or the store) has told the state, whatever that is."""
    told = report.outcome.task is not None
    if only_result and told:
        return _only_result(job, report)
    shown = report if exit_status else untroubled(report)
    text = "\n".join(_told(job, report)) if told else ""
    result = result_of(job, report.outcome)
    return answer_of(job, shown, text="\n\n".join(part for part in (text, result) if part))


def _told(job: Job, report: Report) -> list[str]:
    colour = job.env.colour(job.env.stdout)
    lines = details(report, job.env.clock.wall(), colour=colour)
    failed = report.outcome.name == "failed"
    return [*lines, *problem_lines(job, report)] if failed else lines


def untroubled(report: Report) -> Report:
    """The command did what it says once the state is told, whatever the state is."""
    if report.outcome.task is None:
        return report
    return replace(report, outcome=replace(report.outcome, exit_code=ExitCode.OK))


def _only_result(job: Job, report: Report) -> Answer:
    outcome = report.outcome
    if outcome.result is None and outcome.exit_code == ExitCode.OK:
        status = outcome.task.status if outcome.task else "unknown"
        raise UsageError(
            f"task {name_of(report)} has no result yet: it is {status}",
            hint=f"wait for it: mcptask watch {to_type_for(report)}",
        )
    if outcome.result is None or not (job.options.json or job.options.jsonl):
        return answer_of(job, report)
    return Answer(exit_code=outcome.exit_code, body=lambda: outcome.result)
