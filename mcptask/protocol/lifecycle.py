"""The one place that decides what to do next about a followed task. Pure: a view and the time in.

    next_action(view, now) → Get | Wait | Finish | Stop

What is known of the task, and how that grows, is in `view.py` and `observations.py`.
"""

from dataclasses import dataclass

from mcptask.protocol.questions import being_applied, named, open_questions
from mcptask.protocol.task import MOVES, Status
from mcptask.protocol.view import EMPTY_LIMIT, FLOOR, View, interval

UNKNOWN_PATIENCE = 600.0  # s in one status that this client does not know (A9.2)

# While the server tells of changes it is still asked, in case that it forgets to (A11.5): this many
# intervals, and this many seconds, apart.
SAFETY_INTERVALS = 5
SAFETY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Get:
    """Ask the server now."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`, which is in the future."""

    until: float


@dataclass(frozen=True, slots=True)
class Finish:
    """The task is over."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Following ends, the task may go on. `why` is an outcome's name: timeout, unreachable, …"""

    why: str


Action = Get | Wait | Finish | Stop


def next_action(view: View, now: float) -> Action:
    """What to do. Always exactly one thing, and never earlier than the server allows."""
    if _over(view):
        return Finish()
    if (why := _reason_to_stop(view, now)) is not None:
        return Stop(why)
    due = due_at(view)
    if due <= now:
        return Get()
    return Wait(min((due, *_limits(view).values())))


def due_at(view: View) -> float:
    """When the next question may be put."""
    task = view.task
    if view.failures or view.denials:
        return view.resume_at
    if task is None:
        return view.first_poll
    if view.seed and not task.has_payload:
        return view.seen_at  # made already over, or already asking: what came of it is one get away
    # An answer that only came after what was told is no reason for the next question.
    regular = max(view.seen_at, view.polled_at) + _pause(view)
    return regular if view.ask_at is None else min(regular, _soon(view, view.ask_at))


def give_up_at(view: View) -> float:
    """When a run of failures has lasted too long: the first attempt from then on is the last."""
    return max(view.failing_since + view.rules.give_up_after, view.resume_at)


def gave_up(view: View) -> bool:
    """Has it? Only an attempt that fails can tell: a long interval or Retry-After is no failure."""
    spent = view.failed_at - view.failing_since
    return view.failures > 0 and spent >= view.rules.give_up_after


def _pause(view: View) -> float:
    """Seconds without a word before the task is asked for: long ones where the server tells of changes, and
    has told all of this one.
    """
    usual = interval(view.task, view.rules)
    if not view.push or view.untold or view.empty:
        return usual
    return max(SAFETY_INTERVALS * usual, SAFETY_SECONDS)


def _soon(view: View, wanted: float) -> float:
    """A question out of turn keeps the floor, and an interval from the last such one: whoever tells without
    end of something to ask for is asked no more often for it.
    """
    after = max(view.polled_at, view.failed_at) + FLOOR
    if view.urgent:
        return max(wanted, after)
    return max(wanted, after, view.prompted_at + interval(view.task, view.rules))


def _over(view: View) -> bool:
    """Ended, with all that will ever be heard of it: a task that is over may be gone already (A14.2)."""
    task = view.task
    return (
        task is not None
        and task.terminal
        and (task.has_payload or view.empty >= EMPTY_LIMIT or view.denials >= 2)
    )


def _reason_to_stop(view: View, now: float) -> str | None:
    if view.denials >= 2:
        return "lost"
    if view.rules.stop_for_input and _asks(view):
        return "input_required"
    if view.rules.stop_when_answered and settled(view):
        return "answered"
    passed = next((why for why, at in _limits(view).items() if at <= now), None)
    return passed or ("unreachable" if gave_up(view) else None)


def settled(view: View) -> bool:
    """Is nothing open that somebody here answers, or has answered without an acknowledgement? What the server
    has made of an answer is waited for: it may have other questions by then.
    """
    task = view.task
    if task is None or view.seen_at <= view.sent_at:
        return False
    listed = being_applied(task, view.answered)
    under_way = {
        key: answer
        for key, answer in view.answered.items()
        if not answer.acknowledged and (key in listed or (key, answer.fingerprint) in view.sent)
    }
    return not under_way and named(open_questions(task, view.answered)) <= view.left


def _asks(view: View) -> bool:
    """Is a question open that nobody answers here, or does the server insist on one that it does not send?"""
    if view.task is None or view.task.status != Status.INPUT_REQUIRED or not settled(view):
        return False
    return bool(open_questions(view.task, view.answered)) or view.empty >= EMPTY_LIMIT


def _limits(view: View) -> dict[str, float]:
    """When waiting ends of itself, and why; the first that has passed is the reason."""
    limits = {"timeout": view.rules.deadline, "protocol": _unknown_until(view)}
    return {why: at for why, at in limits.items() if at is not None}


def _unknown_until(view: View) -> float | None:
    known = view.task is None or view.task.status in MOVES
    return None if known else view.status_since + UNKNOWN_PATIENCE
