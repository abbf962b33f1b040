"""A task as the store keeps it, and as the wire shows it."""

from datetime import UTC, datetime
from typing import Any, NamedTuple

from mcptask.demo.jsonrpc import Json

TERMINAL = frozenset({"completed", "failed", "cancelled"})


class Record(NamedTuple):
    """One task. Times are seconds since 1970 (UTC), durations milliseconds.

    `due` is when the next step is to be taken (None: nothing to do), `runner` who takes it.
    `requests` are the questions still open, `answers` those answered, key → response (None: the
    question was withdrawn).
    `outcome` is the CallToolResult of a completed task or the JSON-RPC error of a failed one.
    `hidden`: nobody was told the id, somebody waits for the result. `rev` orders all changes.
    """

    task_id: str
    tool: str
    arguments: Json
    state: Json
    created: float
    updated: float
    poll_ms: int
    ttl_ms: int | None
    status: str = "working"
    message: str | None = None
    requests: Json = {}  # noqa: RUF012
    answers: Json = {}  # noqa: RUF012
    cancel_asked: bool = False
    due: float | None = None
    runner: str | None = None
    outcome: Any = None
    hidden: bool = False
    rev: int = 0

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL

    @property
    def expires(self) -> float:
        return float("inf") if self.ttl_ms is None else self.created + self.ttl_ms / 1000


# status → the field of DetailedTask that carries its payload, and where it comes from.
PAYLOADS = {
    "completed": ("result", "outcome"),
    "failed": ("error", "outcome"),
    "input_required": ("inputRequests", "requests"),
}


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC with milliseconds: `2026-07-28T09:00:00.123Z`."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def bare_task(record: Record) -> Json:
    """`Task` (Tasks extension, "Tasks"): flat, no payload, as CreateTaskResult carries it."""
    task: Json = {"taskId": record.task_id, "status": record.status}
    if record.message is not None:
        task["statusMessage"] = record.message
    return task | {
        "createdAt": timestamp(record.created),
        "lastUpdatedAt": timestamp(record.updated),
        "ttlMs": record.ttl_ms,
        "pollIntervalMs": record.poll_ms,
    }


def detailed_task(record: Record) -> Json:
    """`DetailedTask`: with `result`, `error` or `inputRequests` inlined, as the status wants it."""
    task = bare_task(record)
    if record.status in PAYLOADS:
        name, source = PAYLOADS[record.status]
        task[name] = getattr(record, source)
    return task
