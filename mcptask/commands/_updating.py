"""Answering a task's questions: ask what is open now, check the answer, send it, remember it."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mcptask.arguments.responses import ACCEPT, not_asked, responses_to
from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, find_task
from mcptask.commands._getting import asked, report_of, untroubled
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of
from mcptask.commands._run import Interruption, run, within
from mcptask.commands._sessions import Sessions
from mcptask.commands._words import unanswered, with_next_step
from mcptask.commands.following.events import followed
from mcptask.commands.following.loop import follow_all
from mcptask.errors import (
    AnswerNeeded,
    ExitCode,
    Interrupted,
    RpcError,
    StateError,
    TimedOut,
    UsageError,
    WireError,
)
from mcptask.protocol.events import Answered
from mcptask.protocol.generations.jsonrpc import INVALID_PARAMS
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task, open_questions
from mcptask.render.answer_line import answer_line
from mcptask.render.report import Report
from mcptask.render.text import clean


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """What the command line says: fields, the key of the question, how to answer, or all as JSON."""

    fields: tuple[str, ...] = ()
    key: str | None = None
    actions: tuple[str, ...] = ()
    raw: str | None = None

    @property
    def empty(self) -> bool:
        """Is there no answer in it? Then a form asks for it, at a terminal."""
        return not (self.fields or self.actions or self.raw is not None)


def update_task(
    job: Job, text: str, given: GivenAnswer, *, wait: bool, dry_run: bool = False
) -> Answer:
    if len(given.actions) > 1:
        raise UsageError(f"--{' and --'.join(given.actions)} exclude each other")
    found = find_task(job, text)
    job.read_stdin_early(given.raw, *given.fields)
    if dry_run:
        from mcptask.commands._dry_run import dry_update

        return dry_update(job, found, given, lambda asked: _responses(job, found, asked, given))

    async def work(interruption: Interruption) -> Answer:
        async with Sessions(job) as sessions:
            return await _update(job, found, given, sessions, interruption, wait)

    return run(work)


async def _update(
    job: Job,
    found: Found,
    given: GivenAnswer,
    sessions: Sessions,
    interruption: Interruption,
    wait: bool,
) -> Answer:
    session = sessions.to(found.endpoint, known=found.stored)
    async with within(job):
        report = await asked(job, found, session, "update")
    task = report.outcome.task
    if task is None:
        return answer_of(job, report)
    still_open = _still_open(found, task)
    try:
        responses = await _answers(job, found, still_open, given, interruption)
    except (AnswerNeeded, Interrupted, TimedOut) as stopped:
        return answer_of(job, report_of(job, found, outcome_of_error(stopped, task)))
    if not responses:
        return _later(job, found, report, still_open)
    async with within(job):
        try:
            await session.update(task.task_id, responses)
        except WireError as error:
            back = f"whether it took the answer is not known: mcptask get {found.to_type}"
            error = with_next_step(error, found.endpoint, back)
            return answer_of(job, report_of(job, found, _refused(error, task)))
    found = _remembered(job, found, frozenset(responses))
    if wait or job.options.jsonl:
        item = followed(job, found.record, found.endpoint)
        job.reporter_for().show(item.subject, Answered(tuple(sorted(responses))))
    if wait:
        (followed_to,) = await follow_all(job, [item], interruption, sessions)
        return answer_of(job, followed_to)
    return await _seen_since(job, found, session, report, frozenset(responses))


async def _seen_since(
    job: Job, found: Found, session: Session, before: Report, keys: frozenset[str]
) -> Answer:
    """Acknowledged is not applied: only the task itself can show that. Not seeing it undoes nothing."""
    with suppress(TimedOut):
        async with within(job):
            now = untroubled(await asked(job, found, session))
            if now.outcome.task is not None:
                return answer_of(job, now, remarks=_told(found, now.outcome.task, keys), text="")
    sent = (
        f"Sent the answer to {_names(keys)}.",
        f"See what comes of it:  mcptask get {found.to_type}",
    )
    return answer_of(job, untroubled(before), remarks=sent, text="")


def _still_open(found: Found, task: Task) -> Mapping[str, Mapping[str, Any]]:
    """What the task asks at this moment. UsageError where that is nothing."""
    name, look = found.name, f"mcptask get {found.to_type}"
    still_open = open_questions(task, frozenset(found.record.answered))
    if task.status != "input_required":
        raise UsageError(f"task {name} asks nothing: it is {task.status}", hint=look)
    if not still_open:
        raise UsageError(
            f"task {name} has its answers already; the server has not applied them yet", hint=look
        )
    return still_open


async def _answers(
    job: Job,
    found: Found,
    still_open: Mapping[str, Mapping[str, Any]],
    given: GivenAnswer,
    interruption: Interruption,
) -> dict[str, dict[str, Any]]:
    """From the command line; where it gives none, by the person at the terminal, if there is one."""
    if not given.empty:
        return _responses(job, found, still_open, given)
    if not job.by_hand:
        raise AnswerNeeded(
            "no answer is given, and nobody can be asked for one here; nothing was sent",
            data={"inputRequests": dict(still_open)},
        )
    try:
        with interruption.as_error():
            async with within(job):
                return await _answered_by_hand(job, found, still_open, given.key)
    except (Interrupted, TimedOut) as error:
        raise unanswered(error, found.name, found.to_type) from None


async def _answered_by_hand(
    job: Job, found: Found, still_open: Mapping[str, Mapping[str, Any]], key: str | None
) -> dict[str, dict[str, Any]]:
    """A form for each open question, or for the one of `--key`; what is left for later has no answer."""
    from mcptask.commands._asking import ask

    if key is not None and key not in still_open:
        raise not_asked(key, still_open)
    server, tool = found.endpoint.name, found.record.tool or f"task {found.record.task_id}"
    responses = {}
    for each in still_open if key is None else (key,):
        if (response := await ask(job.env, server, tool, each, still_open[each])) is not None:
            responses[each] = response
    return responses


def _later(
    job: Job, found: Found, report: Report, still_open: Mapping[str, Mapping[str, Any]]
) -> Answer:
    """The form was left: the person knows what is asked, so only the way back is told."""
    lines = (
        f"Nothing was sent. Still open: {_names(still_open)}.",
        f"Answer later:  mcptask update {found.to_type}",
    )
    return replace(answer_of(job, report, text=""), errors=lines)


def _responses(
    job: Job, found: Found, still_open: Mapping[str, Mapping[str, Any]], given: GivenAnswer
) -> dict[str, dict[str, Any]]:
    """The answers on the command line, checked against what the task asks."""
    return responses_to(
        still_open,
        list(given.fields),
        given.key,
        given.actions[0] if given.actions else ACCEPT,
        given.raw,
        read_file=job.read_file,
        read_stdin=lambda: job.stdin_text,
        answer_line=partial(
            answer_line, found.record.ref or None, found.record.task_id, where=found.where
        ),
    )


def _refused(error: WireError, task: Task) -> Outcome:
    """A server that knows the task but not the answer's fields says so, and the question stays open."""
    outcome = outcome_of_error(error, task)
    if isinstance(error, RpcError) and error.code == INVALID_PARAMS:
        return replace(outcome, name="usage", exit_code=ExitCode.USAGE)
    return outcome


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
    name = found.name
    listed = task.input_requests if task.status == "input_required" else None
    waiting = sorted(keys & set(listed or ()))
    sent = f"Sent the answer to {_names(keys)}"
    if waiting:
        sent += "; the server has not applied it yet"
    left = open_questions(task, frozenset(found.record.answered))
    more = f" Still open: {_names(left)}." if left else ""
    if task.terminal:
        return (
            f"{sent}. Task {name} ended: {task.status}.",
            f"See the result:  mcptask get {found.to_type}",
        )
    return (f"{sent}.{more}", f"See what comes of it:  mcptask watch {found.to_type}")


def _names(keys: Iterable[str]) -> str:
    return ", ".join(clean(key) for key in sorted(keys))
