"""A task as the server last told it, the statuses, and which may follow which.

Field names on the wire are those of the Tasks extension (`ttlMs`, `pollIntervalMs`, …); durations keep
their unit in the name. Reading the wire is the generations' business: this module only holds values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """The five statuses of the extension. A server may send others: a `Task` keeps those verbatim."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


# The method of the input requests that a person can answer: a form, or an address to open.
ELICITATION = "elicitation/create"

TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})

# The legal moves (A14.1: terminal is final). A status that is not listed here, one this client does not
# know, counts as working: it may move anywhere.
MOVES: Mapping[str, frozenset[str]] = {
    Status.WORKING: frozenset(Status),
    Status.INPUT_REQUIRED: frozenset(Status),
    Status.COMPLETED: frozenset({Status.COMPLETED}),
    Status.FAILED: frozenset({Status.FAILED}),
    Status.CANCELLED: frozenset({Status.CANCELLED}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One snapshot. `raw` is the server's object untouched; the rest is what could be read from it."""

    task_id: str
    status: str
    status_message: str | None = None
    created_at: str | None = None
    ttl_ms: int | None = None
    poll_interval_ms: int | None = None
    result: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None
    input_requests: Mapping[str, Mapping[str, Any]] | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL

    @property
    def has_payload(self) -> bool:
        """Did the snapshot bring what its status promises (A9.7)? True where a status promises nothing."""
        promised = {
            Status.COMPLETED: self.result is not None,
            Status.FAILED: self.error is not None,
            Status.INPUT_REQUIRED: bool(self.input_requests),  # an empty map asks nothing
        }
        return promised.get(self.status, True)  # type: ignore[call-overload, no-any-return]


def may_follow(before: str, after: str) -> bool:
    """Is `after` a legal status once `before` was seen?"""
    moves = MOVES.get(before)
    return moves is None or after in moves or (after not in MOVES and before not in TERMINAL)


def same_state(before: Task, after: Task) -> bool:
    """Nothing changed that a person would want to hear of: not so `lastUpdatedAt`, `_meta` (A10.9)."""
    return _visible(before) == _visible(after)


def moment(text: object) -> datetime | None:
    """A server's timestamp in UTC; without a zone it counts as UTC; None where it cannot be read."""
    try:
        return in_utc(datetime.fromisoformat(text.upper())) if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def in_utc(when: datetime) -> datetime:
    """OverflowError where the year 1 or 9999 is left."""
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)


def _visible(task: Task) -> tuple[Any, ...]:
    return (
        task.status,
        task.status_message,
        task.ttl_ms,
        task.poll_interval_ms,
        task.input_requests or {},
        task.result,
        task.error,
    )
