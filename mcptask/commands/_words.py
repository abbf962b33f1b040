"""Errors about a task in words for people: what happened, to which task, what it means, what to type next."""

from datetime import datetime, timedelta

from mcptask.errors import Interrupted, McptaskError, TaskLost, TimedOut
from mcptask.render.text import humane
from mcptask.store.records import TaskRecord


def interrupted(name: str, signum: int, *, cancelled: bool) -> Interrupted:
    """A signal ended the following of a task."""
    if cancelled:
        message = f"Stopped following task {name}, and asked the server to cancel it"
        return Interrupted(
            message, signum=signum, hint=f"see what became of it: mcptask get {name}"
        )
    return Interrupted(
        f"Stopped following task {name}; it was left alone",
        signum=signum,
        hint=f"follow it again: mcptask watch {name}; cancel it: mcptask cancel {name}",
    )


def unanswered(error: Interrupted | TimedOut, name: str) -> McptaskError:
    """The waiting ended while the form of a task's question was open."""
    text, hint = (
        f"Nothing was sent to task {name}; it goes on asking",
        f"answer it: mcptask update {name}",
    )
    if isinstance(error, Interrupted):
        return Interrupted(text, signum=error.signum, hint=hint)
    return TimedOut(text, hint=hint)


def lost(record: TaskRecord, server: str, wall: datetime) -> TaskLost:
    """The server does not know a task that we know: expired, or never known to it (A14.4, A16.4)."""
    return TaskLost(
        f"{server} no longer knows task {record.ref} ({record.task_id}): {_why(record, wall)}",
        hint=f"{_last_seen(record, wall)}; start it again with: mcptask call {record.tool or 'TOOL'} …",
    )


def lost_by_hand(task_id: str, server: str) -> TaskLost:
    """The same for an id that is not stored here."""
    return TaskLost(
        f"{server} does not know task {task_id}: it expired, or was never known there",
        hint="is it the right server? mcptask list shows the tasks stored here",
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


def _why(record: TaskRecord, wall: datetime) -> str:
    if record.origin.command and not record.terminal:
        return "a stdio server's tasks often end with its process"
    if record.ttl_ms is not None and record.created_at is not None:
        try:
            end = record.created_at + timedelta(milliseconds=record.ttl_ms)
        except OverflowError:
            end = wall
        if end < wall:
            kept, over = record.ttl_ms / 1000, (wall - end).total_seconds()
            return f"its {humane(kept)} ran out {humane(over)} ago"
    return "it was purged, the server was restarted, or you are someone else to it now"


def _last_seen(record: TaskRecord, wall: datetime) -> str:
    if record.seen_at is None:
        return f'the last state seen was "{record.status}"'
    ago = humane(max((wall - record.seen_at).total_seconds(), 0.0))
    return f'the last state seen was "{record.status}", {ago} ago'
