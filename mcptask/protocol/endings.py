"""How the following of a task ended, in words: what `lifecycle` decided, as an outcome. Pure."""

from collections.abc import Callable

from mcptask.errors import McptaskError, ProtocolError, TaskLost, TimedOut, Unreachable
from mcptask.protocol.lifecycle import UNKNOWN_PATIENCE, Finish, Stop
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_task
from mcptask.protocol.view import View


def outcome_of(view: View, action: Finish | Stop) -> Outcome:
    if isinstance(action, Finish) or action.why in AS_SEEN:
        assert view.task is not None  # neither happens without a snapshot
        return outcome_of_task(view.task, view.answered)
    return outcome_of_error(STOPS[action.why](view), view.task)


def why_closed(action: Finish | Stop) -> str:
    return CLOSED.get(action.why, "") if isinstance(action, Stop) else ""


def _lost(view: View) -> McptaskError:
    return TaskLost("the server does not know this task: it expired, or it was never known there")


def _timed_out(view: View) -> McptaskError:
    return TimedOut(f"the time given for waiting is over; {_left_behind(view)}")


def _unreachable(view: View) -> McptaskError:
    seconds = view.failed_at - view.failing_since
    spent = f"{seconds:.0f} s" if seconds < 60 else f"{seconds / 60:.3g} min"
    return Unreachable(f"no contact for {spent} ({view.reason}); {_left_behind(view)}")


def _unknown_status(view: View) -> McptaskError:
    status = view.task.status if view.task else ""
    minutes = UNKNOWN_PATIENCE / 60
    return ProtocolError(f"the task has been {status!r} for {minutes:.0f} min: no known status")


def _left_behind(view: View) -> str:
    """How the task was last seen, for someone who is told that following has stopped."""
    if view.task is None:
        return "nothing was heard of the task, which may go on"
    if view.task.terminal:
        return f"the task is {view.task.status}, but what came of it was not told"
    return f"the task was {view.task.status} and may go on"


AS_SEEN = frozenset({"input_required", "answered"})  # ends that the task itself explains
# Ends of the following, for someone who is just answering a question.
CLOSED: dict[str, str] = {
    "timeout": "the time given for waiting is over",
    "unreachable": "the server was away for too long",
    "lost": "the server does not know the task any more",
}
STOPS: dict[str, Callable[[View], McptaskError]] = {
    "lost": _lost,
    "timeout": _timed_out,
    "unreachable": _unreachable,
    "protocol": _unknown_status,
}
