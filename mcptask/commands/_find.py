"""TASK on the command line → a record and the endpoint where the task lives."""

from collections.abc import Iterable
from dataclasses import dataclass

from mcptask.commands._job import Job
from mcptask.commands._where import where, where_unless_stored
from mcptask.errors import UsageError
from mcptask.render.questions import task_name, to_type
from mcptask.servers.endpoint import Endpoint, origin_of
from mcptask.store.lookup import find, latest
from mcptask.store.records import State, TaskRecord


@dataclass(frozen=True, kw_only=True)
class Found:
    """`record.ref` 0 marks a task that is not stored: an id given together with a server. `where` are the
    options that are needed to come back.
    """

    record: TaskRecord
    endpoint: Endpoint
    where: str = ""

    @property
    def stored(self) -> bool:
        return self.record.ref > 0

    @property
    def name(self) -> str:
        """What people call this task: its number, or its id where it is not stored."""
        return task_name(self.record.ref or None, self.record.task_id)

    @property
    def to_type(self) -> str:
        """What follows the name of a command about it."""
        return to_type([self.name], self.where)


def find_record(job: Job, text: str) -> TaskRecord:
    """A stored task by number, id, prefix or `last`. UsageError where there is none, or several."""
    return find(job.store.read(), text)


def find_task(job: Job, text: str) -> Found:
    """A stored task, or an id that is not stored where the options name a server."""
    try:
        record = find_record(job, text)
    except UsageError as error:
        if error.data or not job.selection.explicit:  # data: several tasks fit
            raise
        return _by_hand(job, text, job.endpoint())
    endpoint = job.endpoint_of(record.origin)
    if origin_of(endpoint).place != record.origin.place:
        # Another server may know the id too, but its answers are not the record's.
        job.warn(f"task {record.ref} is on another server; nothing is noted of what this one says")
        return _by_hand(job, record.task_id, endpoint)
    return _stored(job, record, endpoint)


def _stored(job: Job, record: TaskRecord, endpoint: Endpoint) -> Found:
    where = where_unless_stored(job, endpoint, record.ref)
    return Found(record=record, endpoint=endpoint, where=where)


def check_credentials(job: Job, found: Iterable[Found]) -> None:
    """A token goes to the server that it was given for, and to no other."""
    given = job.options.header or job.options.bearer_env
    if given and len({f.endpoint.key for f in found}) > 1:
        raise UsageError(
            "--header and --bearer-env go to one server, and these tasks are on several",
            hint="put the credentials in the config, or name the tasks of one server at a time",
        )


def _by_hand(job: Job, task_id: str, endpoint: Endpoint) -> Found:
    record = TaskRecord(ref=0, task_id=task_id, origin=origin_of(endpoint), status="unknown")
    return Found(record=record, endpoint=endpoint, where=where(job, endpoint))


def latest_task(job: Job) -> Found:
    """The task that was stored last."""
    record = latest(job.store.read())
    if record is None:
        raise UsageError("no task is stored yet", hint="mcptask call TOOL --wait starts one")
    return _stored(job, record, job.endpoint_of(record.origin))


def find_refs(state: State, text: str) -> list[int]:
    """The numbers that a text stands for, of stored tasks and of calls without an answer."""
    calls = [call.ref for call in state.calls if str(call.ref) == text]
    return calls or [find(state, text).ref]
