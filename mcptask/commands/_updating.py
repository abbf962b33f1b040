"""Answering a task's questions: ask what is open now, check the answer, send it, remember it."""

from dataclasses import dataclass, replace

from mcptask.commands import _answers
from mcptask.commands._answer import Answer
from mcptask.commands._connect import connected
from mcptask.commands._find import Found, find_task
from mcptask.commands._follow import check_on_interrupt, follow_all, rules_of
from mcptask.commands._getting import asked, report_of
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of
from mcptask.commands._run import Interruption, run
from mcptask.commands._streams import followed
from mcptask.errors import ExitCode, RpcError, StateError, UsageError, WireError
from mcptask.protocol.generations.jsonrpc import INVALID_PARAMS
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task, open_questions
from mcptask.render.report import Report


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the command line says: fields, the key of the question, how to answer, or all as JSON."""

    fields: tuple[str, ...] = ()
    key: str | None = None
    actions: tuple[str, ...] = ()
    raw: str | None = None


def update_task(job: Job, text: str, reply: Reply, *, wait: bool) -> Answer:
    check_on_interrupt(job)
    if len(reply.actions) > 1:
        raise UsageError(f"--{' and --'.join(reply.actions)} exclude each other")
    found = find_task(job, text)

    async def work(interruption: Interruption) -> Answer:
        async with connected(job, found.endpoint, known=found.stored) as session:
            return await _update(job, found, reply, session, interruption, wait)

    return run(work)


async def _update(
    job: Job, found: Found, reply: Reply, session: Session, interruption: Interruption, wait: bool
) -> Answer:
    report = await asked(job, found, session)
    task = report.outcome.task
    if task is None:
        return answer_of(job, report)
    responses = _responses(job, found, task, reply)
    try:
        await session.update(task.task_id, responses)
    except WireError as error:
        return answer_of(job, report_of(job, found, _refused(error, task)))
    found = _remembered(job, found, frozenset(responses))
    if wait:
        item = followed(job, found.record, found.endpoint)
        (report,) = await follow_all(job, [item], interruption, rules_of(job), session=session)
        return answer_of(job, report)
    return _sent(job, found, task, frozenset(responses), session)


def _responses(job: Job, found: Found, task: Task, reply: Reply) -> dict[str, dict[str, object]]:
    """The answers to send, checked against what the task asks at this moment."""
    name = str(found.record.ref or task.task_id)
    still_open = open_questions(task, frozenset(found.record.answered))
    if task.status != "input_required":
        raise UsageError(f"task {name} asks nothing: it is {task.status}", hint=_look(name))
    if not still_open:
        raise UsageError(
            f"task {name} has its answers already; the server has not applied them yet",
            hint=_look(name),
        )
    return _answers.responses(
        still_open,
        list(reply.fields),
        reply.key,
        reply.actions[0] if reply.actions else _answers.ACCEPT,
        reply.raw,
        read_file=job.read_file,
        read_stdin=job.env.stdin.read,
        ref=name,
    )


def _refused(error: WireError, task: Task) -> Outcome:
    """A server that knows the task but not the answer's fields says so, and the question stays open."""
    outcome = outcome_of_error(error, task)
    if isinstance(error, RpcError) and error.code == INVALID_PARAMS:
        return replace(outcome, name="usage", exit_code=ExitCode.USAGE)
    return outcome


def _look(name: str) -> str:
    return f"mcptask get {name}"


def _remembered(job: Job, found: Found, keys: frozenset[str]) -> Found:
    """An answer that was acknowledged is never sent again, from any terminal."""
    record = found.record
    if found.stored:
        try:
            job.store.answered(record.ref, keys)
        except StateError as error:
            job.warn(f"that task {record.ref} was answered could not be noted: {error.message}")
    return replace(found, record=replace(record, answered=(*record.answered, *sorted(keys))))


def _sent(job: Job, found: Found, task: Task, keys: frozenset[str], session: Session) -> Answer:
    """Acknowledged is not applied: the task shows that later."""
    outcome = Outcome(name=task.status, exit_code=ExitCode.OK, task=task)
    report: Report = report_of(job, found, outcome, session.version)
    name = found.record.ref or task.task_id
    left = open_questions(task, frozenset(found.record.answered))
    more = f" Still open: {', '.join(left)}." if left else ""
    sent = f"Sent the answer to {', '.join(sorted(keys))}; the server has not applied it yet.{more}"
    return answer_of(job, report, remarks=(sent, f"See what comes of it:  mcptask watch {name}"))
