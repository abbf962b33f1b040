"""Answering a task's questions: ask what is open now, check the answer, send it, remember it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from mcptask.arguments.responses import ACCEPT, responses_to
from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, find_task
from mcptask.commands._follow import follow_all
from mcptask.commands._getting import asked, report_of, untroubled
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of
from mcptask.commands._run import Interruption, run, within
from mcptask.commands._sessions import Sessions
from mcptask.commands._streams import followed
from mcptask.errors import ExitCode, RpcError, StateError, TimedOut, UsageError, WireError
from mcptask.protocol.events import Answered
from mcptask.protocol.generations.jsonrpc import INVALID_PARAMS
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.task import Task, open_questions
from mcptask.render.answer_line import answer_line


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the command line says: fields, the key of the question, how to answer, or all as JSON."""

    fields: tuple[str, ...] = ()
    key: str | None = None
    actions: tuple[str, ...] = ()
    raw: str | None = None


def update_task(job: Job, text: str, reply: Reply, *, wait: bool) -> Answer:
    if len(reply.actions) > 1:
        raise UsageError(f"--{' and --'.join(reply.actions)} exclude each other")
    found = find_task(job, text)
    job.read_stdin_early(reply.raw, *reply.fields)

    async def work(interruption: Interruption) -> Answer:
        async with Sessions(job) as sessions:
            return await _update(job, found, reply, sessions, interruption, wait)

    return run(work)


async def _update(
    job: Job, found: Found, reply: Reply, sessions: Sessions, interruption: Interruption, wait: bool
) -> Answer:
    session = sessions.to(found.endpoint, known=found.stored)
    async with within(job):
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
    item = followed(job, found.record, found.endpoint)
    if wait or job.options.jsonl:
        job.reporter_for(1).show(item.subject, Answered(tuple(sorted(responses))))
    if wait:
        (report,) = await follow_all(job, [item], interruption, sessions)
        return answer_of(job, report)
    # Acknowledged is not applied: only the task itself can show that. Not seeing it undoes nothing.
    with suppress(TimedOut):
        async with within(job):
            now = untroubled(await asked(job, found, session))
            if now.outcome.task is not None:
                sent = _told(found, now.outcome.task, frozenset(responses))
                return answer_of(job, now, remarks=sent, text="")
    sent = (
        f"Sent the answer to {', '.join(sorted(responses))}.",
        f"See what comes of it:  {_look(item.name)}",
    )
    return answer_of(job, untroubled(report), remarks=sent, text="")


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
    return responses_to(
        still_open,
        list(reply.fields),
        reply.key,
        reply.actions[0] if reply.actions else ACCEPT,
        reply.raw,
        read_file=job.read_file,
        read_stdin=lambda: job.stdin_text,
        answer_line=partial(answer_line, found.record.ref or None, task.task_id),
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


def _told(found: Found, task: Task, keys: frozenset[str]) -> tuple[str, ...]:
    """What to say after an answer was sent, by what the task looks like now."""
    name = found.record.ref or task.task_id
    listed = task.input_requests if task.status == "input_required" else None
    waiting = sorted(keys & set(listed or ()))
    sent = f"Sent the answer to {', '.join(sorted(keys))}"
    if waiting:
        sent += "; the server has not applied it yet"
    left = open_questions(task, frozenset(found.record.answered))
    more = f" Still open: {', '.join(left)}." if left else ""
    if task.terminal:
        return (
            f"{sent}. Task {name} ended: {task.status}.",
            f"See the result:  mcptask get {name}",
        )
    return (f"{sent}.{more}", f"See what comes of it:  mcptask watch {name}")
