"""Which stored task a person means: a number, an id, the beginning of one, or `last`. Pure."""

from mcptask.errors import UsageError
from mcptask.store.records import State, TaskRecord

# Shorter beginnings of an id are refused: they hit the wrong task too easily.
SHORTEST_PREFIX = 4

# How many candidates an error lists.
LISTED = 10


def find(state: State, text: str) -> TaskRecord:
    """The task that `text` names: its ref as `list` shows it, its whole id, or else the beginning of one.

    UsageError where none or several fit; its `data` holds the candidates' refs and ids.
    """
    if text == "last":
        return _last(state)
    # Some servers count their tasks: a number that is one task's ref and another's id is ambiguous, and
    # `ref:7` or `id:7` settles it.
    found = [task for task in state.tasks if text in (str(task.ref), task.task_id)] or [
        task for task in state.tasks if text in (f"ref:{task.ref}", f"id:{task.task_id}")
    ]
    if not found and len(text) >= SHORTEST_PREFIX:
        found = [task for task in state.tasks if task.task_id.startswith(text)]
    if len(found) == 1:
        return found[0]
    raise _several(text, found) if found else _unknown(state, text)


def latest(state: State) -> TaskRecord | None:
    """The task that was stored last."""
    return max(state.tasks, key=lambda task: task.ref, default=None)


def unended(state: State) -> tuple[TaskRecord, ...]:
    """The tasks that may go on: neither ended nor lost."""
    return tuple(task for task in state.tasks if not task.terminal and task.lost_at is None)


def _last(state: State) -> TaskRecord:
    task = latest(state)
    if task is None:
        raise UsageError("no task is stored yet", hint="mcptask call TOOL starts one")
    return task


def _several(text: str, found: list[TaskRecord]) -> UsageError:
    listed = ", ".join(f"{task.ref} ({task.task_id})" for task in found[:LISTED])
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    return UsageError(
        f"{text!r} fits {len(found)} tasks: {listed}{more}",
        hint=f"ref:{text} is the number, id:{text} the id"
        if text.isdecimal()
        else "name one by its number",
        data={"candidates": [{"ref": task.ref, "taskId": task.task_id} for task in found]},
    )


def _unknown(state: State, text: str) -> UsageError:
    call = next((call for call in state.calls if str(call.ref) == text), None)
    if call is not None:
        return UsageError(
            f"no task {text}: that call was sent and its answer never came",
            hint=f"mcptask forget {text} drops it",
        )
    near = any(task.task_id.startswith(text) for task in state.tasks) if text else False
    too_short = f" (the beginning of an id needs {SHORTEST_PREFIX} characters)" if near else ""
    return UsageError(
        f"no task {text!r} is stored{too_short}",
        hint="mcptask list; one that was started elsewhere needs its server: -s SERVER",
    )
