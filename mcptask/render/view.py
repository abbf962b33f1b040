"""What is known of each followed task, for drawing: pure values, one step an event. No colours, no clock."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

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
from mcptask.protocol.outcome import Outcome
from mcptask.protocol.questions import (
    Ledger,
    Requests,
    asked_now,
    being_applied,
    is_another,
    open_questions,
)
from mcptask.protocol.task import TERMINAL, Status, Task
from mcptask.render.questions import sent
from mcptask.render.report import Subject
from mcptask.render.style import LOOKS, look
from mcptask.render.text import clean, flat, humane, progress_of

# How the reasons begin that are answers of a server, or of a proxy before it.
_ANSWERS, _TOO_MANY = "HTTP ", "HTTP 429"
# Beyond this, "until 14:32" says nothing.
_SAME_DAY = 12 * 3600.0


@dataclass(frozen=True, slots=True)
class Outage:
    """No contact: the next attempt is at `until` (clock's `now`); `give_up` is a local time, or None."""

    reason: str
    until: float
    give_up: str | None

    @property
    def busy(self) -> bool:
        return self.reason.startswith(_TOO_MANY)

    @property
    def phrase(self) -> str:
        """What the server does: `does not answer (connection refused)`, `answers HTTP 502 Bad Gateway …`."""
        if self.busy:
            return f"asks for fewer requests ({self.reason})"
        answers = self.reason.startswith(_ANSWERS)
        return f"answers {self.reason}" if answers else f"does not answer ({self.reason})"

    @property
    def brief(self) -> str:
        """The same where there is little room."""
        if self.busy:
            return "asks for fewer requests"
        return self.reason if self.reason.startswith(_ANSWERS) else f"no answer ({self.reason})"


@dataclass(frozen=True, slots=True)
class TaskView:
    """One followed task. Times are on the clock's `now`; `None` means not yet known. `changed` are the keys
    of questions that were other ones before, `left` those of questions that nobody answers here.
    """

    subject: Subject
    task: Task | None = None
    visited: frozenset[str] = frozenset()
    answered: Ledger = field(default_factory=dict)
    changed: frozenset[str] = frozenset()
    left: frozenset[str] = frozenset()
    heard_at: float | None = None
    next_poll: float | None = None
    mode: Listening | None = None
    outage: Outage | None = None
    outcome: Outcome | None = None
    ended_at: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def status(self) -> str:
        """The outcome's name once it is over: a lost task is not a working one."""
        if self.outcome:
            return self.outcome.name
        return self.task.status if self.task else Status.WORKING

    @property
    def active(self) -> bool:
        return self.outcome is None and not (self.task and self.task.status in TERMINAL)

    @property
    def message(self) -> str:
        """What the task says of itself, or why it ended badly: one clean line."""
        if self.outcome and self.outcome.error:
            code = self.outcome.error.code
            return flat(self.outcome.error.message) + (f" ({code})" if code is not None else "")
        return flat((self.task and self.task.status_message) or "")

    @property
    def progress(self) -> float | None:
        return progress_of(self.task.status_message) if self.task and self.active else None

    @property
    def questions(self) -> Requests:
        """The questions still open: those that were answered, here or before, are on their way."""
        return open_questions(self.task, self.answered) if self.active else {}

    @property
    def sent(self) -> list[str]:
        """What has become of answers that the task does not show yet: `approve: sent, not yet applied`."""
        under_way = being_applied(self.task, self.answered) if self.active else {}
        return [sent(key, self.answered[key]) for key in under_way]

    @property
    def waits(self) -> bool:
        """Does it ask nothing more, and has not gone on yet?"""
        return bool(self.sent) and not self.questions

    def elapsed(self, now: float) -> float:
        return (now if self.ended_at is None else self.ended_at) - self.subject.started

    def ttl_left(self, now: float) -> float | None:
        """Seconds until the server may forget the task; None where it gave no time to live."""
        ttl = self.task.ttl_ms if self.task else None
        return None if ttl is None else self.subject.started + ttl / 1000 - now


@dataclass(frozen=True, slots=True)
class Screen:
    """What a frame draws. `since`: when following began; `over`: this is the last frame; `form`: whose
    question is put below it, in a form.
    """

    tasks: tuple[TaskView, ...]
    since: float
    over: bool = False
    form: Subject | None = None


def begin(subject: Subject) -> TaskView:
    """The view before anything has happened."""
    return TaskView(subject, answered=subject.answered)


def observe(view: TaskView, event: TaskEvent, now: float, wall: datetime) -> TaskView:
    """The view after an event; `wall` is the date and time at `now`."""
    match event:
        case Created(task):
            return _heard(view, task, None, now)
        case Heard(task, next_poll) | StatusChanged(task, next_poll):
            return _heard(view, task, next_poll, now)
        case InputRequired(task):
            return view if task is None else _asked(_heard(view, task, view.next_poll, now), event)
        case Answered():
            return replace(view, answered={**view.answered, **event.ledger})
        case Left(keys):
            asked = {key: each for key, each in asked_now(view.task).items() if key in keys}
            return replace(_reopened(view, asked), left=view.left | set(keys))
        case Retrying(reason, _, until, give_up_at):
            give_up = time_of_day(wall, give_up_at - now)
            return replace(view, outage=Outage(flat(reason), until, give_up), next_poll=until)
        case Reconnected():
            return replace(view, outage=None, heard_at=now)
        case Listening():
            return replace(view, mode=event, next_poll=event.next_poll)
        case Warned(message):
            return replace(view, warnings=(*view.warnings, flat(message)))
        case Ended(outcome):
            return _ended(view, outcome, now)


def _asked(view: TaskView, event: InputRequired) -> TaskView:
    keys = set(event.requests)
    changed = (view.changed - keys) | set(event.changed)
    return replace(_reopened(view, event.requests), changed=changed, left=view.left - keys)


def _reopened(view: TaskView, requests: Requests) -> TaskView:
    """These are open: an answer to one of them was refused."""
    known = view.answered
    kept = {
        key: answer
        for key, answer in known.items()
        if key not in requests or is_another(key, requests[key], known)
    }
    return replace(view, answered=kept)


def time_of_day(wall: datetime, seconds: float) -> str | None:
    """`14:32`, the local time in so many seconds; None where it is not within half a day."""
    if not 0 <= seconds <= _SAME_DAY:
        return None
    return (wall + timedelta(seconds=seconds)).astimezone().strftime("%H:%M")


def _heard(view: TaskView, task: Task, next_poll: float | None, now: float) -> TaskView:
    return replace(
        view,
        task=task,
        visited=view.visited | {task.status},
        heard_at=now,
        next_poll=next_poll,
        outage=None,
    )


def _ended(view: TaskView, outcome: Outcome, now: float) -> TaskView:
    task = outcome.task or view.task
    visited = view.visited | ({task.status} if task else set())
    over = replace(view, task=task, visited=visited, outcome=outcome, ended_at=now)
    return replace(over, outage=None, next_poll=None)


# ── phrases that several views share ─────────────────────────────────────────────────────────────


def outage_phrase(view: TaskView, now: float) -> str:
    """`studio does not answer (connection refused); trying again in 8 s, until 14:32`

    Of a server that does answer, but not with what was asked for, it says that.
    """
    outage = view.outage
    if outage is None:
        return ""
    wait = max(outage.until - now, 0.0)
    again = f"trying again in {humane(whole(wait))}" if wait >= 0.5 else "trying again now"
    until = f", until {outage.give_up}" if outage.give_up else ""
    return f"{clean(view.subject.server)} {outage.phrase}; {again}{until}"


def hearing_phrase(view: TaskView, now: float) -> str:
    """How changes are learned: `push, last heard 4 s ago`, else `polling every 5 s`."""
    if view.mode is None or not view.mode.push:
        return polling_phrase(view.task)
    if view.heard_at is None:
        return "push"
    ago = (now - view.heard_at) // 1  # tenths would only flicker
    return f"push, last heard {humane(ago)} ago" if ago >= 1 else "push, last heard just now"


def mode_phrase(views: Iterable[TaskView]) -> str:
    """The same for many tasks: `push`, `polling`, or `12 push, 3 poll`; empty while nothing is known."""
    counts = Counter(view.mode.push for view in views if view.mode)
    if len(counts) < 2:
        return "".join("push" if push else "polling" for push in counts)
    return f"{counts[True]} push, {counts[False]} poll"


def polling_phrase(task: Task | None) -> str:
    """`polling every 5 s`, with the interval that the server asks for."""
    interval = task.poll_interval_ms if task else None
    return f"polling every {humane(interval / 1000)}" if interval and interval > 0 else "polling"


def summary(views: Iterable[TaskView]) -> str:
    """`3 working · 1 asks · 12 completed · 1 failed`, always in this order."""
    counts = Counter(view.status for view in views)
    order = sorted(counts, key=lambda name: (_ORDER.get(name, len(_ORDER)), name))
    words = {name: "asks" if name == Status.INPUT_REQUIRED else look(name).word for name in order}
    return " · ".join(f"{counts[name]} {words[name]}" for name in order)


_ORDER = {name: place for place, name in enumerate(LOOKS)}


def whole(seconds: float) -> float:
    """A countdown in whole seconds: never over before it is, never below 0."""
    return max(float(-(-seconds // 1)), 0.0)
