"""Reading a task and the answer to `tools/call` out of JSON, as tolerantly as a live task deserves.

Only the id and the status are needed to go on (A9.1). Whatever else is missing or broken becomes a default
and one warning: a task that runs is never lost to a validation error.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcptask.errors import NotStarted, ProtocolError
from mcptask.protocol.generations.base import CallAnswer, Immediate, InputNeeded
from mcptask.protocol.task import Status, Task

# Durations beyond this many ms (31 years) are cut: as seconds on a clock they would lose their fractions.
LONGEST_MS = 10**12

# Where FastMCP 2.14 put the handle of a task that it had made, beside an empty result.
EARLY_HANDLE = "modelcontextprotocol.io/task"


def read_task(
    raw: Mapping[str, Any], *, asked: str | None = None, otherwise: str | None = None
) -> Task:
    """One snapshot from a result or notification object (A9).

    `asked` is the id that was asked for: another one in the answer is a `ProtocolError` (S1), as is an
    answer without an id or, unless `otherwise` names one to go on with, without a status.
    """
    warnings: list[str] = []
    body = _unwrapped(raw, warnings)
    task_id = body.get("taskId")
    if not isinstance(task_id, str) or not task_id:
        raise ProtocolError(f"the answer holds no task with a usable taskId{_possible_id(raw)}")
    if asked is not None and task_id != asked:
        raise ProtocolError(
            f"the server answered for another task: asked {asked}, got {task_id[:200]}"
        )
    status = body.get("status")
    if not isinstance(status, str) or not status:
        if otherwise is None:
            raise ProtocolError(f"the server gave task {task_id} no status")
        warnings.append("the server gave the task no status")
        status = otherwise
    fields = {name: _field(body, *spec, warnings) for name, spec in FIELDS.items()}
    return Task(task_id=task_id, status=status, raw=dict(body), warnings=tuple(warnings), **fields)


def read_call_answer(result: Mapping[str, Any]) -> CallAnswer:
    """What `tools/call` answered, by its `resultType` (A8.2, A8.3); an unknown one is a `ProtocolError`."""
    kind = result.get("resultType")
    if kind == "task" or (kind in (None, "complete") and _looks_like_task(result)):
        return _created(result)
    if kind in (None, "complete"):
        return Immediate(result=result)
    if kind == "input_required":
        return _input_needed(result)
    raise ProtocolError(
        f"the server answered with an unknown resultType {str(kind)[:60]!r}{_possible_id(result)}"
    )


def _possible_id(result: Mapping[str, Any]) -> str:
    """For a message about an answer that cannot be used: whatever might be the id of a task."""
    nested = result.get("task")
    for body in (result, nested if isinstance(nested, dict) else {}):
        if body.get("taskId"):
            return f"; a task may exist: {str(body['taskId'])[:200]}"
    return ""


def _unwrapped(raw: Mapping[str, Any], warnings: list[str]) -> Mapping[str, Any]:
    nested = raw.get("task")
    if "taskId" not in raw and isinstance(nested, dict):
        warnings.append("the server nests the task in `task`, as a draft of the extension did")
        return nested
    return raw


def _looks_like_task(result: Mapping[str, Any]) -> bool:
    """A task whose tag the server forgot, or put where an earlier draft had it."""
    if _early_handle(result) is not None:
        return True
    if "content" in result:
        return False
    nested = result.get("task")
    body = nested if isinstance(nested, dict) else result
    return _is_text(body.get("taskId")) and _is_text(body.get("status"))


def _early_handle(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    meta = result.get("_meta")
    handle = meta.get(EARLY_HANDLE) if isinstance(meta, dict) else None
    return handle if isinstance(handle, dict) and _is_text(handle.get("taskId")) else None


def _created(result: Mapping[str, Any]) -> Task:
    early = _early_handle(result)
    body = result if "taskId" in result or early is None else early
    # The id is what must not be lost; the first poll tells the status.
    task = read_task(body, otherwise=Status.WORKING.value)
    if result.get("resultType") == "task":
        return task
    return replace(task, warnings=("the server did not tag the task as one", *task.warnings))


def _input_needed(result: Mapping[str, Any]) -> InputNeeded:
    """Strict where a task is not: an answer to half a question, or without its state, is another call."""
    requests, state = result.get("inputRequests"), result.get("requestState")
    if requests is not None and not isinstance(requests, dict):
        raise NotStarted("the server wants input, and its questions cannot be read")
    if broken := [
        key for key, request in (requests or {}).items() if not isinstance(request, dict)
    ]:
        raise NotStarted(f"the server asks what cannot be read: {', '.join(broken)[:200]}")
    if state is not None and not isinstance(state, str):
        raise NotStarted("the server wants input, with a requestState that is no text")
    if not requests and state is None:
        raise NotStarted("the server wants input but says neither what nor why")
    return InputNeeded(requests=requests or {}, request_state=state)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _usable(requests: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The questions that can be read: one broken one must not hide the others."""
    return {key: request for key, request in requests.items() if isinstance(request, dict)}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _milliseconds(value: Any) -> int:
    """A whole number of ms; fractions are rounded up, so that nobody acts too early."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError
    return math.ceil(min(value, LONGEST_MS))  # cut first: an integer may be too long for a float


def _positive_milliseconds(value: Any) -> int:
    if (milliseconds := _milliseconds(value)) == 0:
        raise ValueError
    return milliseconds


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError
    return value


def _requests(value: Any) -> Mapping[str, Mapping[str, Any]]:
    usable = _usable(_object(value))
    if value and not usable:
        raise ValueError
    return usable


# Our name → the wire's, the one the 2025-11-25 revision used (A9.11), and how to read it.
FIELDS: Mapping[str, tuple[str, str | None, Callable[[Any], Any]]] = {
    "status_message": ("statusMessage", None, _text),
    "created_at": ("createdAt", None, _text),
    "ttl_ms": ("ttlMs", "ttl", _milliseconds),
    "poll_interval_ms": ("pollIntervalMs", "pollInterval", _positive_milliseconds),
    "result": ("result", None, _object),
    "error": ("error", None, _object),
    "input_requests": ("inputRequests", None, _requests),
}


def _field(
    body: Mapping[str, Any],
    name: str,
    old_name: str | None,
    read: Callable[[Any], Any],
    warnings: list[str],
) -> Any:
    if name not in body and old_name is not None and old_name in body:
        warnings.append(f"the server calls {name} {old_name}, as an earlier revision did")
        name = old_name
    value = body.get(name)
    if value is None:
        return None
    try:
        return read(value)
    except ValueError:
        warnings.append(f"the server sent a {name} that cannot be used")
        return None
