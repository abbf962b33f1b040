"""Progress where nothing can be redrawn: logs, pipes, CI, dumb terminals. One flushed line for each change.

Every line starts with our own name, so no runner takes a server's words for a command of its own.
"""

from collections.abc import Iterable
from typing import TextIO

from mcptask.env import Clock
from mcptask.protocol.events import (
    Answered,
    Created,
    Ended,
    Heard,
    InputRequired,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.render.answer_line import answer_line
from mcptask.render.cells import shorten_middle
from mcptask.render.questions import fields, question
from mcptask.render.report import Report, Subject
from mcptask.render.streams import try_write
from mcptask.render.style import look, paint
from mcptask.render.text import clean, clock_time, flat, humane
from mcptask.render.view import TaskView, begin, observe, outage_phrase, polling_phrase, summary

PREFIX = "mcptask: "
# CI systems end jobs that are silent for minutes; the contract promises a line at least this often (s).
HEARTBEAT = 30.0


class LineReporter:
    """A `Reporter` of lines on stderr. `several`: each line names its task. `quiet`: shows nothing."""

    printed = 0

    def __init__(
        self,
        stderr: TextIO,
        clock: Clock,
        *,
        quiet: bool = False,
        several: bool = False,
        colour: bool = False,
    ) -> None:
        self._stderr = stderr
        self._clock = clock
        self._quiet = quiet
        self._several = several
        self._colour = colour
        self._views: dict[tuple[str, str], TaskView] = {}
        self._last_line = clock.now()

    @property
    def stays(self) -> bool:
        return not self._quiet

    def show(self, subject: Subject, event: TaskEvent) -> None:
        if self._quiet:
            return
        now = self._clock.now()
        before = self._views.get((subject.server, subject.task_id))
        view = observe(before or begin(subject), event, now, self._clock.wall())
        self._views[(subject.server, subject.task_id)] = view
        if before is None:
            self._write(f"{self._introduction(view)}")
        for text in self._news(view, before, event, now):
            self._write(f"{self._name(view)}{text}")
        self.tick()

    def note(self, text: str) -> None:
        self._last_line = self._clock.now()
        try_write(self._stderr, f"{clean(text)}\n")

    def tick(self) -> None:
        """Writes the heartbeat if it is due. To be called every few seconds while nothing happens."""
        now = self._clock.now()
        if self._quiet or now - self._last_line < HEARTBEAT:
            return
        active = [view for view in self._views.values() if view.active]
        if len(active) > 1:
            self._write(f"still following: {summary(self._views.values())}")
        elif active:
            self._write(f"{self._name(active[0])}{self._still(active[0], now)}")

    def end(self, report: Report) -> None:
        """Its `Ended` was shown."""

    def close(self) -> None:
        """Every line is complete already."""

    def _write(self, text: str) -> None:
        self._last_line = self._clock.now()
        try_write(self._stderr, f"{PREFIX}{text}\n")

    def _introduction(self, view: TaskView) -> str:
        subject = view.subject
        task_id, number = clean(subject.task_id), subject.ref
        which = f"task {number} ({task_id})" if number is not None else f"task {task_id}"
        what = f"{clean(subject.tool or 'task')} on {clean(subject.server)}"
        return f"{what} is {which}, {polling_phrase(view.task)}"

    def _name(self, view: TaskView) -> str:
        if not self._several:
            return ""
        subject = view.subject
        return f"{subject.ref or shorten_middle(clean(subject.task_id), 16)} · "

    def _news(
        self, view: TaskView, before: TaskView | None, event: TaskEvent, now: float
    ) -> Iterable[str]:
        at = clock_time(view.elapsed(now))
        match event:
            case Created() | StatusChanged():
                news = before is None or _said(before) != _said(view)
                if news and not event.task.terminal:  # how it ended is told by `Ended`, once
                    yield f"{at} {self._state(view)}"
            case InputRequired():
                yield from self._asks(view, at)
            case Answered(keys):
                yield f"{at} answered: {', '.join(map(clean, keys))}"
            case Retrying():
                yield f"{at} {outage_phrase(view, now)}"
            case Reconnected(away):
                yield f"{at} {clean(view.subject.server)} answers again after {humane(away)}"
            case Warned(message):
                yield f"warning: {flat(message)}"
            case Ended():
                yield f"{at} {self._state(view)}"
            case Heard():
                return

    def _state(self, view: TaskView) -> str:
        style = look(view.status)
        word = paint(style.word, style.colour, self._colour)
        return f"{word} · {view.message}" if view.message else word

    def _still(self, view: TaskView, now: float) -> str:
        at = clock_time(view.elapsed(now))
        return f"{at} {outage_phrase(view, now) if view.outage else 'still ' + self._state(view)}"

    def _asks(self, view: TaskView, at: str) -> Iterable[str]:
        subject = view.subject
        for key, request in view.questions.items():
            yield f"{at} {question(subject.server, key, request)}"
            yield from (f"  {text}" for text in fields(request))
            total = len(view.questions)
            yield f"  answer: {answer_line(subject.ref, subject.task_id, key, request, total)}"


def _said(view: TaskView) -> tuple[str, str]:
    return view.status, view.message
