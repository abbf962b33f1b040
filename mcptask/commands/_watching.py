"""Following tasks that were started before, by this terminal or another."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, check_credentials, find_task, latest_task
from mcptask.commands._getting import report_of, stored_outcome
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of
from mcptask.commands._reports_of_several import answer_of_all
from mcptask.commands._run import Interruption, run
from mcptask.commands._sessions import Sessions
from mcptask.commands.following.events import followed
from mcptask.commands.following.leaving import in_short
from mcptask.commands.following.loop import follow_all
from mcptask.errors import UsageError
from mcptask.origin import Origin
from mcptask.protocol.outcome import Outcome, outcome_of_task
from mcptask.render.report import Report
from mcptask.store.edits import LONG_AGO
from mcptask.store.lookup import unended
from mcptask.store.records import TaskRecord

# What `--any` waits for: a task that was only lost sight of has not ended.
ENDS = frozenset({"completed", "tool_error", "failed", "cancelled", "lost"})
# What `--fail-fast` does not take for a bad end: the waiting for all the tasks was over.
WAITED = frozenset({"timeout", "interrupted"})


class First:
    """Has a task ended so that it is `enough`? `outcome` is then how the first of them did."""

    def __init__(self, enough: Callable[[Outcome], bool]) -> None:
        self._enough = enough
        self.outcome: Outcome | None = None

    def __call__(self, outcome: Outcome) -> bool:
        if self.outcome is None and self._enough(outcome):
            self.outcome = outcome
        return self.outcome is not None


def watch_tasks(
    job: Job, texts: tuple[str, ...], *, every: bool, first_end: bool, fail_fast: bool
) -> Answer:
    """The answer for one task is that of `call --wait`; for several, a document of documents."""
    first = _first(first_end=first_end, fail_fast=fail_fast)
    chosen = _chosen(job, texts, every)
    if not chosen:
        return _nothing_to_watch(job)
    several = len(chosen) > 1 or every
    reports = _watch(job, chosen, first, several=several)
    if several:
        return answer_of_all(job, reports, first.outcome)
    return answer_of(job, reports[0])


def _nothing_to_watch(job: Job) -> Answer:
    """Nothing left to wait for is what was wanted; tasks that cannot be followed are not."""
    if unended(job.store.read()):
        raise UsageError(
            "no task that goes on can be followed", hint="mcptask list shows their servers"
        )
    answer = answer_of_all(job, [])
    return replace(answer, remarks=("Nothing goes on. What ended:  mcptask list",))


def _first(*, first_end: bool, fail_fast: bool) -> First:
    if first_end and fail_fast:
        raise UsageError(
            "--any and --fail-fast exclude each other",
            hint="--any stops with the first task that ends, well or badly",
        )
    if first_end:
        return First(lambda outcome: outcome.name in ENDS)
    if fail_fast:
        return First(lambda outcome: not outcome.ok and outcome.name not in WAITED)
    return First(lambda outcome: False)


def _watch(job: Job, chosen: Sequence[Found], first: First, *, several: bool) -> list[Report]:
    """Follow these; a task that is known to have ended is reported as if it had just been watched."""
    over = [(found.record.ended_at or LONG_AGO, _over(job, found)) for found in chosen]
    for _, report in sorted(over, key=lambda one: one[0]):
        if report is not None:
            first(report.outcome)
    tasks = [
        report or followed(job, found.record, found.endpoint)
        for found, (_, report) in zip(chosen, over, strict=True)
    ]

    async def work(interruption: Interruption) -> list[Report]:
        job.reporter_for(several=several)  # it tells what is waited for: the sessions need not
        async with Sessions(job) as sessions:
            return await follow_all(
                job, tasks, interruption, sessions, several=several, enough=first
            )

    return run(work)


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
    check_credentials(job, found)
    return list({(f.endpoint.key, f.record.task_id): f for f in found}.values())


def _reachable(job: Job, records: Sequence[TaskRecord]) -> list[Found]:
    """Of all tasks, one whose server has left the config must not keep the others from being followed."""
    places: dict[Origin, list[TaskRecord]] = {}
    for record in records:
        places.setdefault(record.origin, []).append(record)
    found = []
    for origin, tasks in places.items():
        try:
            endpoint = job.endpoint_of(origin)
        except UsageError as error:
            refs = in_short([str(record.ref) for record in tasks])
            what = f"tasks {refs} are" if len(tasks) > 1 else f"task {refs} is"
            job.warn(f"{what} left out: {error.message}")
        else:
            found += [Found(record=record, endpoint=endpoint) for record in tasks]
    return sorted(found, key=lambda one: one.record.ref)
