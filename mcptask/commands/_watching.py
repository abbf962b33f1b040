"""Following tasks that were started before, by this terminal or another."""

from collections.abc import Sequence

from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, find_task, latest_task
from mcptask.commands._follow import follow_all
from mcptask.commands._getting import report_of, stored_outcome
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of, answer_of_all
from mcptask.commands._run import Interruption, run
from mcptask.commands._sessions import Sessions
from mcptask.commands._streams import followed
from mcptask.errors import UsageError
from mcptask.protocol.outcome import outcome_of_task
from mcptask.render.report import Report
from mcptask.store.lookup import unended
from mcptask.store.records import TaskRecord


def watch_tasks(job: Job, texts: tuple[str, ...], *, every: bool) -> Answer:
    """The answer for one task is that of `call --wait`; for several, a document of documents."""
    chosen = _chosen(job, texts, every)
    if not chosen:
        raise UsageError("no stored task goes on", hint="mcptask list shows what ended")
    reports = _watch(job, chosen)
    if len(chosen) == 1 and not every:
        return answer_of(job, reports[0])
    return answer_of_all(job, reports)


def _watch(job: Job, chosen: list[Found]) -> list[Report]:
    """Follow these; a task that is known to have ended is reported as if it had just been watched."""
    over = [_over(job, found) for found in chosen]
    items = [
        followed(job, found.record, found.endpoint)
        for found, report in zip(chosen, over, strict=True)
        if report is None
    ]

    async def work(interruption: Interruption) -> list[Report]:
        async with Sessions(job) as sessions:
            return await follow_all(job, items, interruption, sessions)

    came = iter(run(work)) if items else iter(())
    return [report or next(came) for report in over]


def _over(job: Job, found: Found) -> Report | None:
    task = stored_outcome(job, found)
    return None if task is None else report_of(job, found, outcome_of_task(task))


def _chosen(job: Job, texts: tuple[str, ...], every: bool) -> list[Found]:
    if every and texts:
        raise UsageError("--all follows every task that goes on: name none beside it")
    if every:
        found = _reachable(job, unended(job.store.read()))
    elif texts:
        found = [find_task(job, text) for text in texts]
    else:
        found = [latest_task(job)]
    _check_credentials(job, found)
    return list({(f.endpoint.key, f.record.task_id): f for f in found}.values())


def _reachable(job: Job, records: Sequence[TaskRecord]) -> list[Found]:
    """Of all tasks, one whose server has left the config must not keep the others from being followed."""
    found = []
    for record in records:
        try:
            found.append(Found(record=record, endpoint=job.endpoint_of(record.origin)))
        except UsageError as error:
            job.warn(f"task {record.ref} is left out: {error.message}")
    return found


def _check_credentials(job: Job, found: list[Found]) -> None:
    """A token goes to the server that it was given for, and to no other."""
    given = job.options.header or job.options.bearer_env
    if given and len({f.endpoint.key for f in found}) > 1:
        raise UsageError(
            "--header and --bearer-env go to one server, and these tasks are on several",
            hint="put the credentials in the config, or watch the servers one by one",
        )
