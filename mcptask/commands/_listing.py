"""The stored tasks as a table or a document: chosen, sorted, refreshed if asked."""

from dataclasses import dataclass
from datetime import datetime

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.errors import UsageError
from mcptask.protocol.task import Status
from mcptask.render import jsonout
from mcptask.render.contract import CallBody, RecordBody
from mcptask.render.report import ServerInfo
from mcptask.render.tables import CallRow, TaskRow, task_table
from mcptask.store.records import CallRecord, Origin, TaskRecord, bare_url

STATES = (*Status, "lost")


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

        refresh_tasks(job)
    state = job.store.read()
    for warning in job.store.warnings:
        job.warn(warning)
    tasks = [task for task in reversed(state.tasks) if _matches(task, wanted)][: wanted.limit]
    calls = [call for call in reversed(state.calls) if _on(call.origin, wanted.server)]
    if wanted.statuses:
        calls = []
    wall = job.env.clock.wall()
    return Answer(
        body=lambda: jsonout.list_document(
            [_record_body(task) for task in tasks], [_call_body(call) for call in calls]
        ),
        text="\n".join(_table(job, tasks, calls, wall)),
        remarks=() if tasks or calls else ("No tasks.  mcptask call TOOL starts one.",),
    )


def _matches(task: TaskRecord, wanted: Filter) -> bool:
    fits = not wanted.statuses or state_of(task) in wanted.statuses
    return fits and _on(task.origin, wanted.server)


def _on(origin: Origin, server: str | None) -> bool:
    return server is None or bare_url(server) in (origin.server, origin.url, place(origin))


def place(origin: Origin) -> str:
    """Where a task lives, for people: the server's name, else its URL, else its command."""
    return origin.server or origin.url or " ".join(origin.command) or "unknown"


def state_of(task: TaskRecord) -> str:
    """The last status that the server told, or `lost` since it says that it does not know the task."""
    return "lost" if task.lost_at is not None and not task.terminal else task.status


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


def _record_body(task: TaskRecord) -> RecordBody:
    return {
        "ref": task.ref,
        "taskId": task.task_id,
        "server": jsonout.server_body(
            ServerInfo(task.origin.server, place(task.origin), task.protocol)
        ),
        "tool": task.tool,
        "status": task.status,
        "statusMessage": task.status_message,
        "outcome": state_of(task) if task.terminal or task.lost_at else None,
        "createdAt": _utc(task.created_at),
        "seenAt": _utc(task.seen_at),
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": task.poll_interval_ms,
        "answered": list(task.answered),
    }


def _call_body(call: CallRecord) -> CallBody:
    return {
        "ref": call.ref,
        "server": jsonout.server_body(
            ServerInfo(call.origin.server, place(call.origin), call.protocol)
        ),
        "tool": call.tool or "",
        "sentAt": _utc(call.sent_at) or "",
    }


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else jsonout.utc(moment)
