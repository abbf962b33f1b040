"""Errors about a task in words for people: what happened, to which task, what it means, what to type next."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from mcptask.errors import (
    Interrupted,
    McptaskError,
    TaskLost,
    TimedOut,
    Unauthorized,
    Unreachable,
    WireError,
)
from mcptask.protocol.outcome import Outcome
from mcptask.render.text import humane
from mcptask.servers.endpoint import Endpoint
from mcptask.store.records import TaskRecord

# By the outcome of a task that goes on: how to come back to it. `{0}` is its name, `{1}` what to type for it.
RESUMABLE: Mapping[str, str] = {
    "timeout": "follow it again: mcptask watch {1}",
    "unreachable": "when the server is back: mcptask watch {1}",
    "unauthorized": "task {0} was left as it was; with a valid token: mcptask watch {1}",
    "protocol": "look again: mcptask get {1}",
    "input_required": "once it is answered, follow it again: mcptask watch {1}",
}


def with_next_step(error: WireError, endpoint: Endpoint, back: str) -> WireError:
    """The same error; where it has no hint, one about the login, or `back`: what to do once the server is
    there again."""
    if error.hint is None and isinstance(error, Unauthorized):
        error.hint = login_hint(endpoint)
    elif error.hint is None and isinstance(error, Unreachable):
        wait = f"it asks to wait {humane(error.retry_after)}; " if error.retry_after else ""
        error.hint = wait + back
    return error


def login_hint(endpoint: Endpoint) -> str:
    """Which login the server did not take."""
    if endpoint.bearer_env is not None:
        return f"the token of ${endpoint.bearer_env} was refused"
    if any(name.lower() == "authorization" for name in endpoint.headers):
        return "the Authorization header was refused"
    return "no token was sent: --bearer-env VAR, or bearer_env in the config"


def left_unanswered(outcome: Outcome, name: str, to_type: str) -> Outcome:
    """The waiting ended before a task's question was answered."""
    assert outcome.error is not None
    text, hint = f"Nothing was sent to task {name}", f"answer it: mcptask update {to_type}"
    return replace(outcome, error=replace(outcome.error, message=text, hint=hint))


def nobody_answers(outcome: Outcome) -> Outcome:
    """`update` without an answer, where none comes from elsewhere either."""
    assert outcome.error is not None
    text = "nobody here answers what the task asks"
    return replace(outcome, error=replace(outcome.error, message=text))


def lost(
    record: TaskRecord, server: str, wall: datetime, *, over_stdio: bool, to_type: str
) -> TaskLost:
    """The server does not know a task that we know: expired, or never known to it (A14.4, A16.4).

    `record` as it was last seen; its number is 0 where the task is not stored here.
    """
    if not record.ref and record.seen_at is None:  # given by hand, and never seen
        return TaskLost(
            f"{server} does not know task {record.task_id}: it expired, or was never known there",
            hint="is it the right server? mcptask list shows the tasks stored here",
        )
    name = f"{record.ref} ({record.task_id})" if record.ref else record.task_id
    over = _time_over(record, wall)
    again = f"start it again with: mcptask call {record.tool or 'TOOL'} …"
    if over is None:
        again = f"if the server was only away: mcptask watch {to_type}; else {again}"
    return TaskLost(
        f"{server} no longer knows task {name}: {over or _why(record, over_stdio)}",
        hint=f"{last_seen(record, wall)}; {again}",
    )


def unknown_outcome(error: McptaskError, tool: str, server: str, ref: int | None) -> McptaskError:
    """The same error, which says that a `tools/call` was sent and its answer never came: it may or may not
    have been done (A4.5)."""
    note = f"; mcptask forget {ref} drops the note of it" if ref is not None else ""
    error.message = (
        f"{tool} was sent to {server}, but no answer came that could be read ({error.message}): "
        "whether it was done there is not known"
    )
    error.args = (error.message,)
    error.hint = f"it is not sent again, so that it is not done twice{note}"
    return error


def not_waited_for(error: Interrupted, tool: str, server: str) -> Interrupted:
    """A signal cut a `tools/call` off: that may have cancelled it, or not (A5.10)."""
    return Interrupted(
        f"{tool} was sent to {server}, and had not answered when the waiting was stopped: "
        "whether it was done there is not known",
        signum=error.signum,
        hint="mcptask list shows the note of it",
    )


def not_begun(error: Interrupted | TimedOut, tool: str) -> McptaskError:
    """The waiting ended while a question was open that the tool asks before it starts."""
    text = f"{tool} asked something first, and got no answer: nothing was started"
    if isinstance(error, Interrupted):
        return Interrupted(text, signum=error.signum)
    return TimedOut(text)


def _time_over(record: TaskRecord, wall: datetime) -> str | None:
    """That its time to live is over, where it is: nothing will bring it back."""
    if record.ttl_ms is not None and record.created_at is not None:
        try:
            end = record.created_at + timedelta(milliseconds=record.ttl_ms)
        except OverflowError:
            end = wall
        if end < wall:
            kept, over = record.ttl_ms / 1000, (wall - end).total_seconds()
            return f"its {humane(kept)} ran out {humane(over)} ago"
    return None


def _why(record: TaskRecord, over_stdio: bool) -> str:
    if over_stdio and not record.terminal:
        return "a stdio server's tasks often end with its process"
    return "it was purged, the server was restarted, or you are someone else to it now"


def last_seen(record: TaskRecord, wall: datetime) -> str:
    """The last that a server said of a task."""
    if record.seen_at is None:
        return f'the last state seen was "{record.status}"'
    ago = humane(max((wall - record.seen_at).total_seconds(), 0.0))
    return f'the last state seen was "{record.status}", {ago} ago'
