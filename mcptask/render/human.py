"""What a person reads besides progress and results: errors, how to come back, a task's details.

Functions return lines of text without newlines; every word from outside is cleaned here.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from mcptask.protocol.outcome import Problem
from mcptask.protocol.questions import being_applied, is_another
from mcptask.protocol.task import Task, moment
from mcptask.render.answer_line import answer_line, answers_entry, serving_option
from mcptask.render.cells import pad
from mcptask.render.questions import (
    Request,
    fields,
    question,
    sent,
    served_by,
    task_name,
    to_type,
)
from mcptask.render.report import Report, Subject
from mcptask.render.style import look, paint
from mcptask.render.text import clean, clean_block, flat, humane, unmistaken

_LABEL = 10


def error_lines(problem: Problem, *, colour: bool = False) -> list[str]:
    """`error: …` and `hint: …`; further lines of either are marked with `|` so they cannot pass for ours."""
    lines = _labelled("error", problem.message, "red", colour)
    if problem.code is not None:
        lines[0] += f" ({problem.code})"
    return lines + (_labelled("hint", problem.hint, "cyan", colour) if problem.hint else [])


def created_lines(subject: Subject, task: Task) -> list[str]:
    """What stderr says when a call is left running; stdout has the task id."""
    name = task_name(subject.ref, subject.task_id)
    task_to_type = to_type([name], clean(subject.where))
    message = f": {flat(task.status_message)}" if task.status_message else ""
    state = f"Task {name} is {look(task.status).word} on {clean(subject.server)}{message}"
    kept = f"Kept for {humane(task.ttl_ms / 1000)}. " if task.ttl_ms is not None else ""
    follow = f"Follow it, here or in any later terminal:  mcptask watch {task_to_type}"
    return [state if state.endswith((".", "!", "?", "…")) else f"{state}.", kept + follow]


def open_requests(problem: Problem | None) -> Mapping[str, Request]:
    """The open questions of an outcome that is `input_required`: key → request; empty for any other."""
    if problem is None or problem.kind != "input":
        return {}
    requests: Mapping[str, Request] | None = (problem.data or {}).get("inputRequests")
    return requests or {}


def question_lines(subject: Subject, requests: Mapping[str, Request]) -> list[str]:
    """Each question, its fields, and the exact line that answers it. `requests` are the open ones."""
    lines: list[str] = []
    for key, request in requests.items():
        another = is_another(key, request, subject.answered)
        answer = answer_line(
            subject.ref, subject.task_id, key, request, len(requests), subject.where
        )
        asked = _question(subject.server, key, request, changed=another)
        served = served_by(subject.ref, subject.task_id, request, subject.where)
        lines += [*asked, f"  answer:  {answer}", *([f"  or:  {served}"] if served else [])]
    return lines


def opening_lines(server: str, requests: Mapping[str, Request]) -> list[str]:
    """The same for what a tool asks before it starts; it is answered from a file, whose entry is shown."""
    lines: list[str] = []
    for key, request in requests.items():
        lines += [
            *_question(server, key, request),
            f"  in the file:  {answers_entry(key, request)}",
        ]
        if option := serving_option(request):
            lines.append(f"  or:  mcptask call … {option}")
    return lines


def _question(server: str, key: str, request: Request, *, changed: bool = False) -> list[str]:
    asked = unmistaken(question(server, key, request, changed=changed))
    return [asked, *(f"  {text}" for text in fields(request))]


def sent_lines(subject: Subject, task: Task) -> list[str]:
    """What has become of answers whose questions the task still lists (A12.4), and who sends again those
    that may be lost (A12.8).
    """
    name = to_type([task_name(subject.ref, subject.task_id)], subject.where)
    lines: list[str] = []
    for key in being_applied(task, subject.answered):
        answer = subject.answered[key]
        again = "" if answer.acknowledged else f"; mcptask watch {name} sends it again"
        lines.append(unmistaken(f"{sent(key, answer)}{again}"))
    return lines


def details(report: Report, wall: datetime, *, colour: bool = False) -> list[str]:
    """What `get` prints of a task: who, state, message, times, time to live, questions. `wall` is now."""
    task = report.outcome.task
    if task is None:
        return []
    lines = [f"{pad(label, _LABEL)}{value}" for label, value in _facts(report, task, wall, colour)]
    server = report.server.label if report.server else "the server"
    subject = Subject(
        report.tool, server, report.ref, task.task_id, 0.0, report.answered, report.where
    )
    questions = question_lines(subject, open_requests(report.outcome.error))
    questions += sent_lines(subject, task)
    return [*lines, "", *questions] if questions else lines


def _facts(report: Report, task: Task, wall: datetime, colour: bool) -> Iterator[tuple[str, str]]:
    ref = f"{report.ref} · " if report.ref is not None else ""
    yield "task", f"{ref}{clean(task.task_id)}"
    if report.tool:
        yield "tool", clean(report.tool)
    if report.server:
        yield "server", clean(report.server.name or report.server.endpoint)
    style = look(report.outcome.name if task.terminal else task.status)
    yield "state", paint(f"{style.glyph} {style.word}", style.colour, colour)
    if task.status_message:
        yield "message", flat(task.status_message)
    yield from _times(task, wall)


def _times(task: Task, wall: datetime) -> Iterator[tuple[str, str]]:
    created = moment(task.created_at)
    if created:
        yield "created", _ago(created, wall)
    updated = moment(task.raw.get("lastUpdatedAt"))
    if updated:
        yield "changed", _ago(updated, wall)
    if task.ttl_ms is None:
        return
    left = task.ttl_ms / 1000 - ((wall - created).total_seconds() if created else 0.0)
    yield ("kept for", humane(left)) if left > 0 else ("expired", f"{humane(-left)} ago")


def _ago(when: datetime, wall: datetime) -> str:
    local = when.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return f"{local}, {humane(max((wall - when).total_seconds() // 1, 0.0))} ago"


def _labelled(label: str, text: str, colour: str, on: bool) -> list[str]:
    first, *rest = [clean(line) for line in clean_block(text).split("\n")] or [""]
    marked = [f"{' ' * len(label)}| {line}" for line in rest if line.strip()]
    return [f"{paint(label + ':', colour, on)} {first}", *marked]
