"""TASK on the command line → a record and the endpoint where the task lives."""

from dataclasses import dataclass

from mcptask.commands._connect import origin_of
from mcptask.commands._job import Job
from mcptask.errors import UsageError
from mcptask.servers.resolve import Endpoint
from mcptask.store.records import State, TaskRecord
from mcptask.store.tasks import find, latest


@dataclass(frozen=True, kw_only=True)
class Found:
    """`record.ref` 0 marks a task that is not stored: an id given together with a server."""

    record: TaskRecord
    endpoint: Endpoint

    @property
    def stored(self) -> bool:
        return self.record.ref > 0


def find_record(job: Job, text: str) -> TaskRecord:
    """A stored task by number, id, prefix or `last`. UsageError where there is none, or several."""
    return find(job.store.read(), text)


def find_task(job: Job, text: str) -> Found:
    """A stored task, or an id that is not stored where the options name a server."""
    try:
        record = find_record(job, text)
    except UsageError:
        if not job.selection.explicit:
            raise
        endpoint = job.endpoint()
        origin = origin_of(endpoint)
        return Found(
            record=TaskRecord(ref=0, task_id=text, origin=origin, status="unknown"),
            endpoint=endpoint,
        )
    return Found(record=record, endpoint=job.endpoint_of(record.origin))


def latest_task(job: Job) -> Found:
    """The task that was stored last."""
    record = latest(job.store.read())
    if record is None:
        raise UsageError("no task is stored yet", hint="mcptask call TOOL --wait starts one")
    return Found(record=record, endpoint=job.endpoint_of(record.origin))


def find_refs(state: State, text: str) -> list[int]:
    """The numbers that a text stands for, of stored tasks and of calls without an answer."""
    calls = [call.ref for call in state.calls if str(call.ref) == text]
    return calls or [find(state, text).ref]
