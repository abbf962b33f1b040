"""Reading the messages of a `subscriptions/listen` stream (A11). As tolerant as reading a snapshot: what is
left out or broken costs a question, never a change.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mcptask.errors import ProtocolError
from mcptask.protocol.generations.base import Acknowledged, Notice, Over, Told
from mcptask.protocol.generations.snapshots import read_task

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


def read_notice(message: Mapping[str, Any]) -> Notice | None:
    """What one message says; None for what says nothing about tasks: progress, a log message, the result."""
    params = message.get("params")
    read = READERS.get(message.get("method", ""))
    return read(params if isinstance(params, dict) else {}) if read else None


def _acknowledged(params: Mapping[str, Any]) -> Acknowledged:
    """What is missing or no list of ids honours none of them, and says that no others would be (A11.3)."""
    honoured = params.get("notifications")
    ids = honoured.get("taskIds") if isinstance(honoured, dict) else None
    if not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
        return Acknowledged(None)
    return Acknowledged(frozenset(ids))


def _told(params: Mapping[str, Any]) -> Told | None:
    """A snapshot, or what is left of one: an id alone is a reason to ask (A11.6)."""
    try:
        task = read_task(_without_tag(params))
    except ProtocolError:
        task_id = params.get("taskId")
        return Told(task_id, None) if isinstance(task_id, str) else None
    return Told(task.task_id, task)


def _without_tag(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of which subscription it is, is no part of the task that is shown and stored."""
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        return params
    rest = {name: value for name, value in meta.items() if name != SUBSCRIPTION}
    bare = {name: value for name, value in params.items() if name != "_meta"}
    return {**bare, "_meta": rest} if rest else bare


READERS: Mapping[str, Callable[[Mapping[str, Any]], Notice | None]] = {
    "notifications/subscriptions/acknowledged": _acknowledged,
    "notifications/tasks": _told,
    "notifications/tasks/status": _told,  # its name in 2025-11-25, which some servers keep
    "notifications/cancelled": lambda params: Over(),
}
