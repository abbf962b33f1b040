"""Answering a task's questions: ask what is open now, check the answer, send it, remember it."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from mcptask.arguments.responses import not_asked
from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, find_task
from mcptask.commands._getting import asked, report_of, untroubled
from mcptask.commands._given_answer import GivenAnswer, check_who_answers, responses_given
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of
from mcptask.commands._run import Interruption, run, within
from mcptask.commands._sessions import Sessions
from mcptask.commands._words import left_unanswered, nobody_answers, with_next_step
from mcptask.commands.answering.desk import TaskDesk
from mcptask.commands.following.events import followed
from mcptask.commands.following.loop import follow_all, until_answered
from mcptask.errors import (
    ExitCode,
    RpcError,
    TimedOut,
    UsageError,
    WireError,
)
from mcptask.protocol.events import Answered
from mcptask.protocol.generations.jsonrpc import INVALID_PARAMS
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.questions import Answer as Noted
from mcptask.protocol.questions import (
    Ledger,
    Requests,
    Response,
    asked_now,
    fingerprint,
    open_questions,
    unanswered,
)
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.protocol.updates import passes, refuses
from mcptask.render.report import Report
from mcptask.render.text import clean

_STOPPED = frozenset({"interrupted", "timeout"})  # by whoever waits, and not by the task
_OF_THE_TASK = ("input_required", "tool_error")  # outcomes that its status does not name


def update_task(
    job: Job, text: str, given: GivenAnswer, *, wait: bool, dry_run: bool = False
) -> Answer:
    if len(given.actions) > 1:
        raise UsageError(f"--{' and --'.join(given.actions)} exclude each other")
    found = find_task(job, text)
    job.read_stdin_early(given.raw, *given.fields)
    check_who_answers(job, given, wait)
    if dry_run:
        from mcptask.commands._dry_run import dry_update

        return dry_update(
            job, found, given, lambda asked: responses_given(job, found, asked, given)
        )

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
    if given.empty:
        if given.key is not None and given.key not in still_open:
            raise not_asked(given.key, still_open)
        return await _by_sources(job, found, given.key, sessions, interruption, wait)
    responses = responses_given(job, found, still_open, given)
    item = followed(job, found.record, found.endpoint)
    desk = TaskDesk(job, job.sources, item.who, item.subject)
    due = _claimed(found, desk, still_open, responses)
    try:
        async with within(job):
            await session.update(task.task_id, {key: due[key].response or {} for key in due})
    except (WireError, TimedOut) as error:
        outcome = _unsent(job, found, error, task, desk, due)
        return answer_of(job, report_of(job, found, outcome))
    desk.acknowledged(due)
    record = replace(found.record, answered=desk.ledger())
    found, item = replace(found, record=record), replace(item, record=record)
    if wait or job.options.jsonl:
        told = Answered(tuple(sorted(due)), ledger=record.answered)
        job.reporter_for().show(item.subject, told)
    if wait:
        (followed_to,) = await follow_all(job, [item], interruption, sessions)
        return answer_of(job, followed_to)
    return await _seen_since(job, found, session, report, frozenset(due))


async def _by_sources(
    job: Job,
    found: Found,
    key: str | None,
    sessions: Sessions,
    interruption: Interruption,
    wait: bool,
) -> Answer:
    """Followed until its questions are answered, by whoever answers here: `--answers`, a form, …"""
    item = replace(followed(job, found.record, found.endpoint), insists=True, key=key)
    (report,) = await follow_all(
        job, [item], interruption, sessions, rules=None if wait else until_answered(job)
    )
    outcome, task = report.outcome, report.outcome.task
    answered = report.sent
    if not wait and outcome.name in _STOPPED and not answered:
        outcome = left_unanswered(outcome, found.name, found.to_type)
        return answer_of(job, replace(report, outcome=outcome))
    if wait or task is None or outcome.name not in (task.status, *_OF_THE_TASK):
        return answer_of(job, report)
    left = open_questions(task, report.answered)
    if left and not answered and job.by_hand:
        return replace(answer_of(job, report, text=""), errors=_later(found, left))
    if left and not answered:
        report = replace(report, outcome=nobody_answers(outcome))
    remarks = _told(found, task, answered, report.answered) if answered else ()
    if left and not (answered and job.by_hand):  # what a person leaves for later is no trouble
        return answer_of(job, report, remarks=remarks[:1], text="")
    return answer_of(job, _done(report), remarks=remarks, text="")


def _done(report: Report) -> Report:
    """The answers were sent, whatever became of the task; what it still asks is no error."""
    error = report.outcome.error
    asks = error is not None and error.kind == "input"
    outcome = replace(report.outcome, error=None if asks else error)
    return untroubled(replace(report, outcome=outcome))


def _claimed(
    found: Found,
    desk: TaskDesk,
    still_open: Requests,
    responses: Mapping[str, Response],
) -> Ledger:
    """The answers, noted before they go out; what is on its way already may go out again as it was.
    UsageError where one was given before: then none is noted or sent.
    """
    wanted = {
        key: Noted(fingerprint(still_open[key]), response) for key, response in responses.items()
    }
    known = desk.ledger()
    again = {key: each for key, each in wanted.items() if known.get(key) == each}
    new = {key: each for key, each in wanted.items() if key not in again}
    late = new.keys() - unanswered(still_open, known).keys()
    claimed = {} if late else desk.claim(new)
    if outrun := late or new.keys() - claimed.keys():
        desk.refused(claimed)
        raise UsageError(
            f"{_names(outrun)} was answered before, from another terminal or an earlier run; "
            "no question is answered twice",
            hint=f"what was sent without an acknowledgement goes out again: mcptask watch {found.to_type}",
        )
    return wanted


async def _seen_since(
    job: Job, found: Found, session: Session, before: Report, keys: frozenset[str]
) -> Answer:
    """Acknowledged is not applied: only the task itself can show that. Not seeing it undoes nothing."""
    with suppress(TimedOut):
        async with within(job):
            now = _done(await asked(job, found, session))
            if (task := now.outcome.task) is not None:
                remarks = _told(found, task, keys, found.record.answered)
                return answer_of(job, now, remarks=remarks, text="")
    sent = (
        f"Sent the answer to {_names(keys)}.",
        f"See what comes of it:  mcptask get {found.to_type}",
    )
    return answer_of(job, _done(before), remarks=sent, text="")


def _still_open(found: Found, task: Task) -> Requests:
    """What the task asks at this moment, and what was answered without an acknowledgement. UsageError where
    that is nothing."""
    name, look = found.name, f"mcptask get {found.to_type}"
    ledger = found.record.answered
    taken = {key: answer for key, answer in ledger.items() if answer.acknowledged}
    still_open = open_questions(task, taken)
    if task.status != "input_required":
        raise UsageError(f"task {name} asks nothing: it is {task.status}", hint=look)
    if not still_open:
        raise UsageError(
            f"task {name} has its answers already; the server has not applied them yet", hint=look
        )
    return still_open


def _later(found: Found, still_open: Iterable[str]) -> tuple[str, ...]:
    """The form was left: the person knows what is asked, so only the way back is told."""
    return (
        f"Nothing was sent. Still open: {_names(still_open)}.",
        f"Answer later:  mcptask update {found.to_type}",
    )


def _unsent(
    job: Job, found: Found, error: WireError | TimedOut, task: Task, desk: TaskDesk, due: Ledger
) -> Outcome:
    """An answer that the server said no to, or never got, was none: its question stays open. Of one of which
    nobody knows, the same goes out again, and no other (A12.8)."""
    in_doubt = getattr(
        error, "in_doubt", False
    )  # the last of several attempts is not the whole story
    lost = (
        isinstance(error, TimedOut) or (passes(error) and getattr(error, "sent", True)) or in_doubt
    )
    back = f"answer it again: mcptask update {found.to_type}"
    if (refuses(error) and not in_doubt) or not lost:
        desk.refused(due)
    else:
        back = f"whether it took the answer is not known; to send it again: mcptask watch {found.to_type}"
    if isinstance(error, WireError):
        error = with_next_step(error, found.endpoint, back)
    error.hint = error.hint or back
    outcome = outcome_of_error(error, task)
    if isinstance(error, RpcError) and error.code == INVALID_PARAMS:
        return replace(outcome, name="usage", exit_code=ExitCode.USAGE)
    return outcome


def _told(found: Found, task: Task, keys: frozenset[str], answered: Ledger) -> tuple[str, ...]:
    """What to say after an answer was sent, by what the task looks like now."""
    name = found.name
    sent = f"Sent the answer to {_names(keys)}"
    if keys & asked_now(task).keys():
        sent += "; the server has not applied it yet"
    left = open_questions(task, answered)
    more = f" Still open: {_names(left)}." if left else ""
    if task.terminal:
        return (
            f"{sent}. Task {name} ended: {task.status}.",
            f"See the result:  mcptask get {found.to_type}",
        )
    return (f"{sent}.{more}", f"See what comes of it:  mcptask watch {found.to_type}")


def _names(keys: Iterable[str]) -> str:
    return ", ".join(clean(key) for key in sorted(keys))
