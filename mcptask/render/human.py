"""What a person reads besides progress and results: errors, how to come back, a task's details.
Lines of text.

Functions return lines without newlines; every word from outside is cleaned here.
"""

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime

from mcptask.protocol.outcome import Problem
from mcptask.protocol.task import Status, Task
from mcptask.render.answer_line import answer_line
from mcptask.render.cells import pad
from mcptask.render.questions import fields, question, task_name
from mcptask.render.report import Report, Subject
from mcptask.render.style import look, paint
from mcptask.render.text import clean, clean_block, flat, humane

EMPTY_RESULT = "The result is empty."
_LABEL = 10


def error_lines(problem: Problem, *, colour: bool = False) -> list[str]:
    """`error: …` and `hint: …`; further lines of either are marked with `|` so they cannot pass
    for ours.
    """
    lines = _labelled("error", problem.message, "red", colour)
    if problem.code is not None:
        lines[0] += f" ({problem.code})"
    return lines + (_labelled("hint", problem.hint, "cyan", colour) if problem.hint else [])


def warning_lines(warning: str, *, colour: bool = False) -> list[str]:
    """`warning: …`"""
    return _labelled("warning", warning, "yellow", colour)


def created_lines(subject: Subject, task: Task) -> list[str]:
    """What stderr says when a call is left running; stdout has the task id."""
    name = task_name(subject.ref, subject.task_id)
    message = f": {flat(task.status_message)}" if task.status_message else ""
    state = f"Task {name} is {look(task.status).word} on {clean(subject.server)}{message}"
    kept = f"Kept for {humane(task.ttl_ms / 1000)}. " if task.ttl_ms is not None else ""
    follow = f"Follow it, here or in any later terminal:  mcptask watch {name}"
    return [state if state.endswith((".", "!", "?", "…")) else f"{state}.", kept + follow]


def interrupted_lines(subject: Subject) -> list[str]:
    """After Ctrl-C while following: what goes on, how to come back, how to stop it for good."""
    name = task_name(subject.ref, subject.task_id)
    what = f"{clean(subject.tool)} " if subject.tool else ""
    return [
        f"Task {name} ({what}on {clean(subject.server)}) goes on. "
        f"Follow it again:  mcptask watch {name}",
        f"To ask the server to cancel it:  mcptask cancel {name}",
    ]


def question_lines(subject: Subject, task: Task) -> list[str]:
    """Each question that the task asks, its fields, and the exact line that answers it."""
    asked = task.input_requests or {}
    lines: list[str] = []
    for key, request in asked.items():
        answer = answer_line(subject.ref, subject.task_id, key, request, len(asked))
        lines.append(question(subject.server, key, request))
        lines += [f"  {text}" for text in fields(request)]
        lines.append(f"  answer:  {answer}")
    return lines


def details(report: Report, wall: datetime, *, colour: bool = False) -> list[str]:
    """What `get` prints of a task: who, state, message, times, time to live, questions. `wall` is
    now.
    """
    task = report.outcome.task
    if task is None:
        return []
    lines = [f"{pad(label, _LABEL)}{value}" for label, value in _facts(report, task, wall, colour)]
    server = report.server.label if report.server else "the server"
    subject = Subject(report.tool, server, report.ref, task.task_id, 0.0)
    questions = question_lines(subject, task) if task.status == Status.INPUT_REQUIRED else []
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
    created = _moment(task.created_at)
    if created:
        yield "created", _ago(created, wall)
    updated = _moment(task.raw.get("lastUpdatedAt"))
    if updated:
        yield "changed", _ago(updated, wall)
    if task.ttl_ms is None:
        return
    left = task.ttl_ms / 1000 - ((wall - created).total_seconds() if created else 0.0)
    yield ("kept for", humane(left)) if left > 0 else ("expired", f"{humane(-left)} ago")


def _ago(moment: datetime, wall: datetime) -> str:
    local = moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    return f"{local}, {humane(max((wall - moment).total_seconds() // 1, 0.0))} ago"


def _moment(text: object) -> datetime | None:
    """A time that the server sent, leniently: None where it is none."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _labelled(label: str, text: str, colour: str, on: bool) -> list[str]:
    first, *rest = [clean(line) for line in clean_block(text).split("\n")] or [""]
    marked = [f"{' ' * len(label)}| {line}" for line in rest if line.strip()]
    return [f"{paint(label + ':', colour, on)} {first}", *marked]


def shell_line(*words: str) -> str:
    """A command to type, quoted for the shell."""
    return "mcptask " + " ".join(shlex.quote(clean(word)) for word in words)
