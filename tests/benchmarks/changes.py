"""What a peer did, held against what `watch --jsonl` said of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

NEVER = float("inf")


class Compared(NamedTuple):
    """`visible` states were there to be told; `lost` of them were not, and `back` were told after a newer
    one. `late` holds the seconds that it took to tell each of the others."""

    visible: int
    lost: int
    back: int
    late: list[float]


def compare(out: str, log: Mapping[str, Any]) -> Compared:
    """Visible is a change that was pushed; of a task that is not pushed, a state that an answer held."""
    told = _told(out)
    visible, lost, late = 0, 0, []
    for task_id, states in _states(log["changes"]).items():
        pushed_from = log["pushed"].get(task_id, NEVER)
        for (at, state), (until, _) in pairwise([*states, (NEVER, "")]):
            asked = (get for get in log["gets"][task_id] if at <= get < min(until, pushed_from))
            shown = at if at >= pushed_from else next(asked, None)
            if shown is None:
                continue
            visible += 1
            if (task_id, state) in told:
                late.append(told[task_id, state] - shown)
            else:
                lost += 1
    return Compared(visible, lost, _back(log, told), late)


def _back(log: Mapping[str, Any], told: Mapping[tuple[str, str], float]) -> int:
    """How many states were told after one that came later (`told` is in the order of the lines)."""
    order = {
        (task_id, f"{status} {message}"): nth
        for nth, (_, task_id, status, message) in enumerate(log["changes"])
    }
    newest: dict[str, int] = {}
    back = 0
    for task_id, state in told:
        nth = order[task_id, state]
        back += nth < newest.get(task_id, -1)
        newest[task_id] = max(nth, newest.get(task_id, -1))
    return back


def too_many(log: Mapping[str, Any], interval: float) -> int:
    """How many polls there were beyond what the intervals allow, of all tasks together."""
    beyond = 0
    for moments in log["gets"].values():
        if moments:
            allowed = 1 + int((moments[-1] - moments[0]) / interval)
            beyond += max(len(moments) - allowed, 0)
    return beyond


def overdue(log: Mapping[str, Any], interval: float) -> list[float]:
    """The seconds by which each poll came later than it could have, sorted."""
    gets: Iterable[list[float]] = log["gets"].values()
    return sorted(now - was - interval for moments in gets for was, now in pairwise(moments))


def _states(changes: Iterable[Sequence[Any]]) -> dict[str, list[tuple[float, str]]]:
    """The states of each task, in order, with when each began."""
    states: dict[str, list[tuple[float, str]]] = {}
    for at, task_id, status, message in changes:
        states.setdefault(task_id, []).append((at, f"{status} {message}"))
    return states


def _told(out: str) -> dict[tuple[str, str], float]:
    """When each state was first told: {(task id, state): moment}."""
    told: dict[tuple[str, str], float] = {}
    for line in map(json.loads, out.splitlines()):
        task = line.get("task") or line.get("document", {}).get("task")
        if task:
            state = f"{task['status']} {task.get('statusMessage')}"
            told.setdefault((task["taskId"], state), datetime.fromisoformat(line["at"]).timestamp())
    return told
