"""Noting what the server said: the record always, the outcome once there is one. Never fatal."""

from collections.abc import Callable

from mcptask.commands._job import Job
from mcptask.errors import StateError
from mcptask.protocol.task import Task
from mcptask.store.records import TaskRecord


def keep(job: Job, record: TaskRecord, task: Task) -> None:
    """What a server said of a stored task."""

    def note() -> None:
        job.store.observe(record.ref, task)
        if task.terminal and task.has_payload and job.config.store_results:
            job.outcomes.save(task, record.origin)

    _noting(job, record, note)


def keep_lost(job: Job, record: TaskRecord) -> None:
    """The server does not know the task: it stays on record, but is followed no more."""
    _noting(job, record, lambda: job.store.lost(record.ref))


def _noting(job: Job, record: TaskRecord, note: Callable[[], object]) -> None:
    """A state file that cannot be written costs the user a warning, not the answer."""
    try:
        note()
    except StateError as error:
        job.warn(f"task {record.ref} could not be noted: {error.message}")
