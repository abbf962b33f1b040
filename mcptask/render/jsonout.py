"""JSON output: values of ours to the bodies of `contract`, and bodies to text.

Loads no package that takes time: `list --json` must start fast.
"""

import io
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from mcptask.protocol.events import (
    Answered,
    Created,
    InputRequired,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.outcome import Problem
from mcptask.render.contract import (
    FORMAT,
    CallBody,
    Document,
    Documents,
    DryRunDocument,
    ErrorBody,
    ListDocument,
    RecordBody,
    ServerBody,
)
from mcptask.render.report import Report, ServerInfo, Subject
from mcptask.render.text import uncommanding

# ── values to bodies ─────────────────────────────────────────────────────────────────────────────


def document(report: Report) -> Document:
    """The document of one task or call."""
    outcome = report.outcome
    return {
        "mcptask": FORMAT,
        "ok": outcome.ok,
        "outcome": outcome.name,
        "exitCode": int(outcome.exit_code),
        "server": server_body(report.server) if report.server else None,
        "ref": report.ref,
        "task": dict(outcome.task.raw) if outcome.task else None,
        "result": dict(outcome.result) if outcome.result is not None else None,
        "error": _answerable(error_body(outcome.error), report) if outcome.error else None,
        "warnings": list(report.warnings),
    }


def _answerable(error: ErrorBody, report: Report) -> ErrorBody:
    """The same; of open questions with what answers each, as the words for people have it."""
    requests = (error["data"] or {}).get("inputRequests") if error["kind"] == "input" else None
    if not requests:
        return error
    from mcptask.render.answer_line import answer_line, answers_entry  # few documents ask

    task, ref, where = report.outcome.task, report.ref, report.where
    if task is None:  # what a tool asks before it starts
        answers = {key: answers_entry(key, request) for key, request in requests.items()}
        return {**error, "data": {**error["data"], "answers": answers}}
    update = {
        key: answer_line(ref, task.task_id, key, request, len(requests), where)
        for key, request in requests.items()
    }
    return {**error, "data": {**error["data"], "update": update}}


def documents(reports: Iterable[Report], exit_code: int) -> Documents:
    """The document of several tasks; `exit_code` is that of the whole command."""
    return {
        "mcptask": FORMAT,
        "ok": exit_code == 0,
        "exitCode": int(exit_code),
        "tasks": [document(report) for report in reports],
    }


def dry_run_document(
    requests: Sequence[Any], server: ServerInfo | None, warnings: Iterable[str]
) -> DryRunDocument:
    """The document of `--dry-run`. `requests` are as in the trace, safe to show."""
    return {
        "mcptask": FORMAT,
        "ok": True,
        "outcome": "dry_run",
        "exitCode": 0,
        "server": server_body(server) if server else None,
        "requests": list(requests),
        "warnings": list(warnings),
    }


def list_document(tasks: Sequence[RecordBody], calls: Sequence[CallBody]) -> ListDocument:
    """The document of `list`."""
    return {"mcptask": FORMAT, "tasks": list(tasks), "calls": list(calls)}


def server_body(server: ServerInfo) -> ServerBody:
    return {
        "name": server.name,
        "endpoint": server.endpoint,
        "protocolVersion": server.protocol_version,
    }


def error_body(problem: Problem) -> ErrorBody:
    return {
        "kind": problem.kind,  # type: ignore[typeddict-item]  # the tests hold the tree to the list
        "message": problem.message,
        "code": problem.code,
        "data": problem.data,
        "hint": problem.hint,
    }


def event_line(
    seq: int, at: datetime, subject: Subject, event: TaskEvent, *, now: float = 0.0
) -> dict[str, Any] | None:
    """The JSON line of an event; None for those that give none (`Heard`, `Left`; of `Ended` see `end_line`).

    `now` is the clock's time at `at`: it turns the event's own times into dates.
    """
    body = _event_body(event, subject, at, now)
    if body is None:
        return None
    return {
        **event_head(str(body.pop("event")), seq, at, subject.ref, subject.task_id or None),
        **body,
    }


def event_head(
    event: str, seq: int, at: datetime, ref: int | None, task_id: str | None
) -> dict[str, Any]:
    return {
        "mcptask": FORMAT,
        "event": event,
        "seq": seq,
        "at": utc(at),
        "ref": ref,
        "taskId": task_id,
    }


def _event_body(
    event: TaskEvent, subject: Subject, at: datetime, now: float
) -> dict[str, Any] | None:
    match event:
        case Created(task):
            about = {"tool": subject.tool, "server": subject.server}
            return {"event": "created", **about, "task": dict(task.raw)}
        case StatusChanged(task):
            state = {"status": task.status, "statusMessage": task.status_message}
            return {"event": "status", **state, "task": dict(task.raw)}
        case InputRequired(task, requests, changed):
            asked = {key: dict(request) for key, request in requests.items()}
            raw = None if task is None else dict(task.raw)
            other = {"changed": list(changed)} if changed else {}
            return {"event": "input_required", "inputRequests": asked, "task": raw, **other}
        case Answered(keys, elsewhere):
            by = {"elsewhere": True} if elsewhere else {}
            return {"event": "answered", "keys": list(keys), **by}
        case Retrying(reason, attempt, until, give_up_at):
            times = {"retryAt": _later(at, until - now), "giveUpAt": _later(at, give_up_at - now)}
            return {"event": "retrying", "reason": reason, "attempt": attempt, **times}
        case Reconnected(away):
            return {"event": "reconnected", "awayMs": round(away * 1000)}
        case Warned(message):
            return {"event": "warning", "message": message}
    return None


def utc(at: datetime) -> str:
    """`2026-09-12T09:00:05.123Z`"""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _later(at: datetime, seconds: float) -> str | None:
    try:
        return utc(at + timedelta(seconds=seconds))
    except (OverflowError, ValueError):  # never
        return None


# ── writing ──────────────────────────────────────────────────────────────────────────────────────

_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN')
# A number too large for a float (1e999 is valid JSON) was read as infinity: it goes out as one
# again. NaN cannot be written in JSON at all.
_CONSTANTS = {"Infinity": "1e999", "-Infinity": "-1e999", "NaN": "null"}


def dump(value: Any) -> str:
    """Indented JSON in ASCII: nothing in it can act on a terminal, a log or a pager."""
    try:
        return _encode(value, indent=2)
    except RecursionError:  # indenting takes Python frames, compact JSON does not
        return line(value)


def line(value: Any) -> str:
    """JSON on one line, in ASCII."""
    return _encode(value, indent=None)


def _encode(value: Any, indent: int | None) -> str:
    written = io.StringIO()  # `json.dumps` keeps a string for each value until all are joined
    for piece in json.JSONEncoder(indent=indent, default=_plain).iterencode(value, indent is None):
        written.write(piece)
    text = written.getvalue()
    if "Infinity" in text or "NaN" in text:
        text = _STRING_OR_CONSTANT.sub(lambda found: _CONSTANTS.get(found[0], found[0]), text)
    return uncommanding(text).replace("\x7f", "\\u007f")  # DEL is ASCII


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
