"""What the changes of `tasks` are made of: states in, states and records out. Pure."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime

from mcptask.origin import Origin
from mcptask.store.records import State, TaskRecord

# How many ended tasks are kept. Those that have not ended or were lost are never dropped.
KEPT_ENDED = 200

LONG_AGO = datetime.min.replace(tzinfo=UTC)


def edited(state: State, refs: Collection[int], edit: Callable[[TaskRecord], TaskRecord]) -> State:
    """Those of these numbers that are there are others now."""
    tasks = tuple(edit(task) if task.ref in refs else task for task in state.tasks)
    return replace(state, tasks=tasks)


def by_refs(state: State, refs: Collection[int]) -> dict[int, TaskRecord]:
    return {task.ref: task for task in state.tasks if task.ref in refs}


def by_ref(state: State, ref: int) -> TaskRecord | None:
    return next((task for task in state.tasks if task.ref == ref), None)


def stored(state: State, origin: Origin, task_id: str) -> TaskRecord | None:
    for task in state.tasks:
        if task.task_id == task_id and task.origin.place == origin.place:
            return task
    return None


def free_ref(state: State, ref: int | None) -> int:
    """The call's number, unless a task has got it meanwhile: after a damaged file, say."""
    return state.next_ref if ref is None or by_ref(state, ref) is not None else ref


def retained(state: State) -> State:
    """Without the ended tasks beyond the newest KEPT_ENDED."""
    ended = [task for task in state.tasks if task.terminal and task.lost_at is None]
    if len(ended) <= KEPT_ENDED:
        return state
    ended.sort(key=lambda task: (task.ended_at or task.seen_at or LONG_AGO, task.ref))
    dropped = {task.ref for task in ended[: len(ended) - KEPT_ENDED]}
    return replace(state, tasks=tuple(task for task in state.tasks if task.ref not in dropped))
