"""The stored tasks as a table or a document: chosen, sorted, refreshed if asked."""

from dataclasses import dataclass
from datetime import datetime

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.errors import McptaskError, UsageError
from mcptask.origin import Origin
from mcptask.protocol.task import Status
from mcptask.protocol.transports.redact import bare_url, shown_command
from mcptask.render import jsonout
from mcptask.render.contract import CallBody, ListDocument, RecordBody, ServerBody
from mcptask.render.report import ServerInfo
from mcptask.render.tables import CallRow, TaskRow, task_table
from mcptask.store.records import CallRecord, TaskRecord

STATES = (*Status, "tool_error", "lost")


@dataclass(frozen=True, kw_only=True)
class Filter:
    """Which tasks to show. `server` is a config name, a URL or a command's address."""

    statuses: tuple[str, ...] = ()
    server: str | None = None
    limit: int | None = None


def list_tasks(job: Job, wanted: Filter, *, refresh: bool) -> Answer:
    unknown = [status for status in wanted.statuses if status not in STATES]
    if unknown:
        raise UsageError(f"no such status: {unknown[0]}", hint=f"one of {', '.join(STATES)}")
    if refresh:
        from mcptask.commands._refreshing import refresh_tasks

        refresh_tasks(job, lambda origin: _on(origin, wanted.server))
    state = job.store.read()
    tasks = [task for task in reversed(state.tasks) if _matches(task, wanted)][: wanted.limit]
    calls = [call for call in reversed(state.calls) if _on(call.origin, wanted.server)]
    if wanted.statuses:
        calls = []
    wall = job.env.clock.wall()
    return Answer(
        body=lambda: _document(job, tasks, calls),
        text="\n".join(_table(job, tasks, calls, wall)),
        remarks=_remarks(tasks, calls),
    )


def _remarks(tasks: list[TaskRecord], calls: list[CallRecord]) -> tuple[str, ...]:
    if calls:
        return (_what_to_check([call.ref for call in calls]),)
    return () if tasks else ("No tasks.  mcptask call TOOL starts one.",)


def _what_to_check(refs: list[int]) -> str:
    """What to do about calls without an answer: only the server knows what became of them (A4.5)."""
    several = len(refs) > 1
    which = "Calls" if several else "Call"
    numbers, those = ", ".join(map(str, refs)), " ".join(map(str, refs))
    return (
        f"{which} {numbers}: sent, and no answer came; the work may have been done or not. "
        "See on the server before calling again.  "
        f"mcptask forget {those} drops the note{'s' if several else ''}."
    )


def _matches(task: TaskRecord, wanted: Filter) -> bool:
    fits = not wanted.statuses or state_of(task) in wanted.statuses
    return fits and _on(task.origin, wanted.server)


def _on(origin: Origin, server: str | None) -> bool:
    if server is None:
        return True
    return server in (origin.server, place(origin)) or bare_url(server) == origin.url


def place(origin: Origin) -> str:
    """Where a task lives, for people: the server's name, else its URL, else its command."""
    return origin.server or origin.url or shown_command(origin.command) or "unknown"


def _addresses(job: Job, names: set[str]) -> dict[str, str]:
    """The URL or command of each configured server, as every document shows it; nothing is contacted.

    A server that the config can no longer tell is missing.
    """
    from mcptask.servers.config import DEMO, Config
    from mcptask.servers.resolve import address_of_record

    try:
        config = Config() if names <= {DEMO} else job.config
    except McptaskError:  # `list` needs no config, so a broken one does not stop it
        config = Config()
    found = {
        name: address_of_record(Origin(server=name), config, job.env.environ) for name in names
    }
    return {name: address for name, address in found.items() if address is not None}


def state_of(task: TaskRecord) -> str:
    """The last status that the server told; `lost` since it says that it does not know the task, and
    `tool_error` where the task completed and its tool says that it went wrong."""
    if task.lost_at is not None and not task.terminal:
        return "lost"
    return "tool_error" if task.tool_error and task.status == Status.COMPLETED else task.status


def _table(job: Job, tasks: list[TaskRecord], calls: list[CallRecord], wall: datetime) -> list[str]:
    if not tasks and not calls:
        return []
    rows = [
        TaskRow(
            ref=task.ref,
            task_id=task.task_id,
            tool=task.tool,
            server=place(task.origin),
            status=state_of(task),
            age=_age(task.created_at or task.seen_at, wall),
            message=task.status_message,
        )
        for task in tasks
    ]
    marks = [
        CallRow(
            ref=call.ref,
            tool=call.tool or "?",
            server=place(call.origin),
            age=_age(call.sent_at, wall),
        )
        for call in calls
    ]
    out = job.env.stdout
    return task_table(rows, marks, width=job.env.width(out), colour=job.env.colour(out))


def _age(moment: datetime | None, wall: datetime) -> float | None:
    return None if moment is None else max((wall - moment).total_seconds(), 0.0)


def _document(job: Job, tasks: list[TaskRecord], calls: list[CallRecord]) -> ListDocument:
    origins = [*(task.origin for task in tasks), *(call.origin for call in calls)]
    named = {origin.server for origin in origins if origin.server is not None}
    addresses = _addresses(job, named) if named else {}

    def server(origin: Origin, protocol: str | None) -> ServerBody:
        address = addresses.get(origin.server or "", place(origin))
        return jsonout.server_body(ServerInfo(origin.server, address, protocol))

    return jsonout.list_document(
        [_record_body(task, server(task.origin, task.protocol)) for task in tasks],
        [_call_body(call, server(call.origin, call.protocol)) for call in calls],
    )


def _record_body(task: TaskRecord, server: ServerBody) -> RecordBody:
    return {
        "ref": task.ref,
        "taskId": task.task_id,
        "server": server,
        "tool": task.tool,
        "status": task.status,
        "statusMessage": task.status_message,
        "outcome": state_of(task) if task.terminal or task.lost_at else None,
        "createdAt": _utc(task.created_at),
        "seenAt": _utc(task.seen_at),
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": task.poll_interval_ms,
        "answered": [key for key, each in task.answered.items() if each.acknowledged],
    }


def _call_body(call: CallRecord, server: ServerBody) -> CallBody:
    return {
        "ref": call.ref,
        "server": server,
        "tool": call.tool or "",
        "sentAt": _utc(call.sent_at) or "",
        "hint": _what_to_check([call.ref]),
    }


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else jsonout.utc(moment)
