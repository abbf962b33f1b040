"""Progress where nothing can be redrawn: logs, pipes, CI, dumb terminals. One flushed line for each change.

Every line starts with our own name, so that no CI system takes a server's words for a command of its own.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from mcptask.env import Clock
from mcptask.protocol.events import (
    Answered,
    Created,
    Ended,
    Heard,
    InputRequired,
    Left,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.questions import Requests
from mcptask.render.answer_line import answer_line
from mcptask.render.cells import shorten_middle
from mcptask.render.questions import APPLYING, fields, question, served_by
from mcptask.render.report import Report, Subject
from mcptask.render.rows import tell
from mcptask.render.style import look, paint
from mcptask.render.text import clean, clock_time, flat, humane
from mcptask.render.view import TaskView, begin, observe, outage_phrase, summary

PREFIX = "mcptask: "
# CI systems end jobs that are silent for minutes; the contract promises a line at least this often (s).
HEARTBEAT = 30.0


# Ends of the watching, not of the task: the words for them are the error that the command then prints.
_ENDS_OF_WATCHING = frozenset(
    {"timeout", "interrupted", "unreachable", "unauthorized", "lost", "protocol", "input_required"}
)
# Of several tasks, those that come to all of them at once: the others are news while some go on.
_ENDS_OF_ALL = frozenset({"timeout", "interrupted"})


class LineReporter:
    """A `Reporter` of lines on stderr. `several`: each line names its task. `quiet`: shows nothing.
    `errors_follow`: what ends the watching is said once more, by the command, and so not here.
    """

    printed = 0

    def __init__(
        self,
        stderr: TextIO,
        clock: Clock,
        *,
        quiet: bool = False,
        several: bool = False,
        colour: bool = False,
        errors_follow: bool = False,
    ) -> None:
        self._stderr = stderr
        self._clock = clock
        self._quiet = quiet
        self._several = several
        said_later = _ENDS_OF_ALL if several else _ENDS_OF_WATCHING
        self._said_later = said_later if errors_follow else frozenset()
        self._colour = colour
        self._views: dict[tuple[str, str], TaskView] = {}
        self._away: Counter[str] = Counter()  # tasks without an answer, by server
        self._introduced: set[tuple[str, str]] = set()
        self._last_line = clock.now()

    @property
    def stays(self) -> bool:
        return not self._quiet

    def show(self, subject: Subject, event: TaskEvent) -> None:
        if self._quiet:
            return
        now, key = self._clock.now(), (subject.server, subject.task_id)
        before = self._views.get(key) or begin(subject)
        view = observe(before, event, now, self._clock.wall())
        self._views[key] = view
        self._away[subject.server] += bool(view.outage) - bool(before.outage)
        news = list(self._news(view, before, event, now))
        if news and key not in self._introduced:
            self._introduced.add(key)
            self._write(_introduction(view))
        whose = "" if not news or self._shared(view, event) else self._name(view)
        for text in news:
            self._write(f"{whose}{text}")
        self.tick()

    def note(self, text: str) -> None:
        self._last_line = self._clock.now()
        tell(self._stderr, clean(text))

    @property
    def due(self) -> float | None:
        return None if self._quiet else self._last_line + HEARTBEAT

    def tick(self) -> None:
        """Writes the heartbeat if it is due."""
        now = self._clock.now()
        if self.due is None or now < self.due:
            return
        self._last_line = now  # also where there is nothing to say: the next one is due later
        active = [view for view in self._views.values() if view.active]
        if len(active) > 1:
            away = sum(self._away.values())
            unheard = f"; no answer about {away} of them" if away else ""
            self._write(f"still following: {summary(self._views.values())}{unheard}")
        elif active:
            self._write(f"{self._name(active[0])}{self._still(active[0], now)}")

    def end(self, report: Report) -> None:
        """Its `Ended` was shown."""

    def hold(self, subject: Subject) -> AbstractContextManager[None]:
        """Whoever can be shown a form has the live view, or nothing to look at."""
        return nullcontext()

    def aside(self, stop: Callable[[], None]) -> None:
        """The terminal is as it was."""
        stop()

    def close(self) -> None:
        """Every line is complete already."""

    def _write(self, text: str) -> None:
        self._last_line = self._clock.now()
        tell(self._stderr, f"{PREFIX}{text}")

    def _shared(self, view: TaskView, event: TaskEvent) -> bool:
        """Is it news of a server that has more tasks than this one?"""
        if not isinstance(event, Retrying | Reconnected):
            return False
        here = (each for each in self._views.values() if each.subject.server == view.subject.server)
        return sum(each.active for each in here) > 1

    def _name(self, view: TaskView) -> str:
        if not self._several:
            return ""
        subject = view.subject
        return f"{subject.ref or shorten_middle(clean(subject.task_id), 16)} · "

    def _news(
        self, view: TaskView, before: TaskView, event: TaskEvent, now: float
    ) -> Iterable[str]:
        at = clock_time(view.elapsed(now))
        match event:
            case Created() | StatusChanged():
                news = before.task is None or _said(before) != _said(view)
                if news and not event.task.terminal:  # how it ended is told by `Ended`, once
                    yield f"{at} {self._state(view)}"
            case InputRequired(_, requests):
                yield from self._asks(view, at, requests)
            case Answered(keys, elsewhere):
                how = "answered in another terminal" if elsewhere else APPLYING
                yield f"{at} {_listed(keys)}: {how}{_still_open(view)}"
            case Left(keys):
                yield from self._left(view, keys)
            case Retrying():
                # Of a thousand tasks on a server that is away, one line says it.
                if not self._several or (
                    self._away[view.subject.server] == 1 and not before.outage
                ):
                    yield f"{at} {outage_phrase(view, now)}"
            case Reconnected(away):
                if not self._several or not self._away[view.subject.server]:
                    yield f"{at} {clean(view.subject.server)} answers again after {humane(away)}"
            case Warned(message):
                yield f"warning: {flat(message)}"
            case Ended(outcome) if outcome.name not in self._said_later:
                yield f"{at} {self._state(view)}"
            case Heard() | Listening() | Ended():
                return

    def _state(self, view: TaskView) -> str:
        style = look(view.status)
        word = paint(style.word, style.colour, self._colour)
        return f"{word} · {view.message}" if view.message else word

    def _still(self, view: TaskView, now: float) -> str:
        at = clock_time(view.elapsed(now))
        if view.outage:
            return f"{at} {outage_phrase(view, now)}"
        return f"{at} {' · '.join([f'still {self._state(view)}', *view.sent])}"

    def _asks(self, view: TaskView, at: str, requests: Requests) -> Iterable[str]:
        """What is asked now; what was open before has been told."""
        for key, request in requests.items():
            changed = key in view.changed
            yield f"{at} {question(view.subject.server, key, request, changed=changed)}"
            yield from (f"  {text}" for text in fields(request))

    def _left(self, view: TaskView, keys: Iterable[str]) -> Iterable[str]:
        subject, asked = view.subject, view.questions
        for key in keys:
            if key in asked:
                name = (subject.ref, subject.task_id)
                answer = answer_line(*name, key, asked[key], len(asked), subject.where)
                yield f"  answer: {answer}"
                if served := served_by(*name, asked[key], subject.where):
                    yield f"  or: {served}"


def _said(view: TaskView) -> tuple[str, str]:
    return view.status, view.message


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(map(clean, keys))


def _still_open(view: TaskView) -> str:
    return f"; still open: {_listed(view.questions)}" if view.questions else ""


def _introduction(view: TaskView) -> str:
    subject = view.subject
    task_id, number = clean(subject.task_id), subject.ref
    which = f"task {number} ({task_id})" if number is not None else f"task {task_id}"
    server = clean(subject.server)
    if subject.tool is None:
        return f"following {which} on {server}"
    return f"{clean(subject.tool)} on {server} is {which}"
