"""Noting what servers said: the record always, the outcome once there is one. Never fatal."""

from collections.abc import Mapping

from mcptask.commands._job import Job
from mcptask.errors import StateError
from mcptask.protocol.task import Task
from mcptask.store.records import Sighting, TaskRecord


def keep(job: Job, record: TaskRecord, task: Task | None) -> None:
    """What a server said of a stored task; None where it does not know it: that one stays on record, but is
    followed no more."""
    seen = {record.ref: (record, Sighting(task, job.env.clock.wall()))}
    keep_all(job, seen, f"task {record.ref}")


def keep_all(job: Job, seen: Mapping[int, tuple[TaskRecord, Sighting]], what: str) -> bool:
    """The same of several, by their numbers, in one change of the state file. False where that cannot be
    written, which costs the user a warning about `what`, and not the answer."""
    try:
        stored = job.store.observe_all({ref: sighting for ref, (_, sighting) in seen.items()})
    except StateError as error:
        job.warn(f"{what} could not be noted: {error.message}")
        return False
    over = [
        (task, record.origin)
        for ref, (record, (task, _)) in seen.items()
        if task is not None and task.terminal and task.has_payload and ref in stored
    ]
    if over and job.config.store_results:
        job.outcomes.save_all(over)
    return True
