"""Asking servers to cancel tasks. An acknowledgement is not an end, so the state is looked at afterwards."""

from mcptask.commands._answer import Answer
from mcptask.commands._connect import connected
from mcptask.commands._find import Found, find_task
from mcptask.commands._follow import check_on_interrupt, follow_all, rules_of
from mcptask.commands._getting import asked, lost_task, report_of, stored_outcome
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of, answer_of_all
from mcptask.commands._run import Interruption, run
from mcptask.commands._streams import followed
from mcptask.errors import ExitCode, TaskLost, WireError
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_task
from mcptask.protocol.session import Session
from mcptask.render.report import Report


def cancel_tasks(job: Job, texts: tuple[str, ...], *, wait: bool) -> Answer:
    check_on_interrupt(job)
    found = {(f.endpoint.address, f.record.task_id): f for f in (find_task(job, t) for t in texts)}

    async def work(interruption: Interruption) -> list[Report]:
        return [await _cancel(job, one, interruption, wait) for one in found.values()]

    reports = run(work)
    remarks = tuple(line for report in reports for line in _remarks(report, wait))
    if len(reports) == 1:
        return answer_of(job, reports[0], remarks=remarks)
    answer = answer_of_all(job, reports)
    return Answer(
        exit_code=answer.exit_code,
        body=answer.body,
        text=answer.text,
        remarks=remarks,
        errors=answer.errors,
    )


async def _cancel(job: Job, found: Found, interruption: Interruption, wait: bool) -> Report:
    over = stored_outcome(job, found)
    if over is not None:
        # Nothing is left to cancel; what came of the task is the answer (A13.2).
        return report_of(job, found, _done(outcome_of_task(over), wait))
    async with connected(job, found.endpoint, known=found.stored) as session:
        try:
            await session.cancel(found.record.task_id)
        except TaskLost:
            return report_of(job, found, outcome_of_error(lost_task(job, found)))
        except WireError as error:
            return report_of(job, found, outcome_of_error(error))
        return await _what_came(job, found, session, interruption, wait)


async def _what_came(
    job: Job, found: Found, session: Session, interruption: Interruption, wait: bool
) -> Report:
    if wait:
        item = followed(job, found.record, found.endpoint)
        (report,) = await follow_all(job, [item], interruption, rules_of(job), session=session)
        return report
    report = await asked(job, found, session)
    return report_of(job, found, _done(report.outcome, wait), session.version)


def _done(outcome: Outcome, wait: bool) -> Outcome:
    """Asking was all that this command promised: only --wait answers for how the task ends."""
    if wait or outcome.task is None:
        return outcome
    return Outcome(
        name=outcome.name, exit_code=ExitCode.OK, task=outcome.task, result=outcome.result
    )


def _remarks(report: Report, wait: bool) -> list[str]:
    task = report.outcome.task
    if wait or task is None:
        return []
    name = report.ref or task.task_id
    if task.terminal:
        return [f"Task {name} is over: {task.status}."]
    return [
        f"Asked the server to cancel task {name}. It is a request: the task is {task.status}.",
        f"See how it ends:  mcptask watch {name}",
    ]
