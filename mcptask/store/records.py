"""What the state file remembers, as frozen values: tasks, and calls without an answer.

Never a secret: no header, no token, no tool argument; where a task lives is an `Origin`, which has none. What
a question was answered with is there until the server has acknowledged it, and no longer than the task runs.
The values know nothing of files; `format` turns them into TOML and back.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from mcptask.origin import Origin
from mcptask.protocol.questions import Ledger
from mcptask.protocol.task import TERMINAL, Task, may_follow, moment
from mcptask.store import ledger

# TOML promises integers of 64 bits and no more. As a duration in ms this is 292 million years.
LARGEST_INTEGER = 2**63 - 1

# A status message is shown on a line or two; a server may send megabytes at every poll.
LONGEST_MESSAGE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRecord:
    """One stored task. `ref` is the short number that people type.

    `status` is the server's word, also one that we do not know. Durations are in ms, moments in UTC:
    `seen_at` is when the server last spoke of the task, `ended_at` when we first saw that it had ended.
    `lost_at` is when the server said that it does not know the task (any more). `tool_error` is True where it
    completed and its tool reports an error. `answered` holds the questions that were answered, from any
    terminal. `extra` holds what the file says beyond these fields, so that it survives being written again.
    """

    ref: int
    task_id: str
    origin: Origin = field(default_factory=Origin)
    protocol: str | None = None
    tool: str | None = None
    status: str
    status_message: str | None = None
    created_at: datetime | None = None
    ttl_ms: int | None = None
    poll_interval_ms: int | None = None
    seen_at: datetime | None = None
    ended_at: datetime | None = None
    lost_at: datetime | None = None
    tool_error: bool | None = None
    answered: Ledger = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A `tools/call` that was sent and has no answer yet: its task, if it made one, will take this `ref`."""

    ref: int
    origin: Origin = field(default_factory=Origin)
    protocol: str | None = None
    tool: str | None = None
    sent_at: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The whole file. `next_ref` only grows: a number is never given to a second task."""

    version: int = 1
    next_ref: int = 1
    tasks: tuple[TaskRecord, ...] = ()
    calls: tuple[CallRecord, ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)


class Sighting(NamedTuple):
    """What a server said of a stored task, and when (UTC). `task` is None where it does not know it."""

    task: Task | None
    at: datetime


def new_record(
    task: Task, now: datetime, *, ref: int, origin: Origin, tool: str | None, protocol: str | None
) -> TaskRecord:
    """The record of a task that is stored for the first time."""
    blank = TaskRecord(
        ref=ref,
        task_id=task.task_id,
        origin=origin,
        protocol=protocol,
        tool=tool,
        status=task.status,
    )
    return observed(blank, task, now)


def sighted(record: TaskRecord, sighting: Sighting) -> TaskRecord:
    """The record after a sighting: lost since the first time that its server did not know it."""
    if sighting.task is None:
        return replace(record, lost_at=record.lost_at or sighting.at)
    return observed(record, sighting.task, sighting.at)


def observed(record: TaskRecord, task: Task, now: datetime) -> TaskRecord:
    """The record after one more snapshot: the server knows the task, so it is not lost.

    An ended task stays as it ended (A14.1), whatever came later.
    """
    if not may_follow(record.status, task.status):
        return record if record.lost_at is None else replace(record, lost_at=None)
    return TaskRecord(
        ref=record.ref,
        task_id=record.task_id,
        origin=record.origin,
        protocol=record.protocol,
        tool=record.tool,
        status=str(task.status),
        status_message=_clipped(task.status_message),
        created_at=moment(task.created_at) or record.created_at,
        ttl_ms=_bounded(task.ttl_ms),
        poll_interval_ms=_bounded(task.poll_interval_ms),
        seen_at=now,
        ended_at=record.ended_at or (now if task.terminal else None),
        tool_error=record.tool_error if task.result is None else _is_error(task.result),
        answered=ledger.over(record.answered) if task.terminal else record.answered,
        extra=record.extra,
    )


def _is_error(result: Mapping[str, Any]) -> bool | None:
    """None where there is nothing to note: most tasks have no such line in the file."""
    return True if result.get("isError") is True else None


def _clipped(text: str | None) -> str | None:
    if text is None or len(text) <= LONGEST_MESSAGE:
        return text
    return text[: LONGEST_MESSAGE - 1] + "…"


def _bounded(number: int | None) -> int | None:
    return None if number is None else max(0, min(number, LARGEST_INTEGER))
