"""Following tasks that were started before, by this terminal or another."""

from mcptask.commands._answer import Answer
from mcptask.commands._find import Found, find_task, latest_task
from mcptask.commands._follow import check_on_interrupt, follow_all, rules_of
from mcptask.commands._getting import report_of, stored_outcome
from mcptask.commands._job import Job
from mcptask.commands._reporters import make_reporter
from mcptask.commands._reports import answer_of, answer_of_all
from mcptask.commands._run import Interruption, run
from mcptask.commands._streams import followed
from mcptask.errors import UsageError
from mcptask.protocol.outcome import outcome_of_task
from mcptask.render.report import Report
from mcptask.store.tasks import unended


def watch_tasks(job: Job, texts: tuple[str, ...], *, every: bool) -> Answer:
    """The answer for one task is that of `call --wait`; for several, a document of documents."""
    check_on_interrupt(job)
    chosen = _chosen(job, texts, every)
    if not chosen:
        raise UsageError("no stored task goes on", hint="mcptask list shows what ended")
    reports = watch_found(job, chosen, several=len(chosen) > 1)
    if len(chosen) == 1 and not every:
        return answer_of(job, reports[0])
    return answer_of_all(job, reports)


def watch_found(job: Job, chosen: list[Found], *, several: bool = False) -> list[Report]:
    """Follow these; a task that is known to have ended is reported as if it had just been watched."""
    over = {
        found.record.task_id: report_of(job, found, outcome_of_task(task))
        for found in chosen
        if (task := stored_outcome(job, found)) is not None
    }
    items = [followed(job, f.record, f.endpoint) for f in chosen if f.record.task_id not in over]
    if several:
        job.reporter = make_reporter(job.env, job.options, several=True)

    async def work(interruption: Interruption) -> list[Report]:
        return await follow_all(job, items, interruption, rules_of(job))

    live = iter(run(work)) if items else iter(())
    return [over.get(found.record.task_id) or next(live) for found in chosen]


def _chosen(job: Job, texts: tuple[str, ...], every: bool) -> list[Found]:
    if every and texts:
        raise UsageError("--all follows every task that goes on: name none beside it")
    if every:
        records = unended(job.store.read())
        found = [Found(record=r, endpoint=job.endpoint_of(r.origin)) for r in records]
    elif texts:
        found = [find_task(job, text) for text in texts]
    else:
        found = [latest_task(job)]
    _check_credentials(job, found)
    return list({(f.endpoint.address, f.record.task_id): f for f in found}.values())


def _check_credentials(job: Job, found: list[Found]) -> None:
    """A token goes to the server that it was given for, and to no other."""
    given = job.options.header or job.options.bearer_env
    if given and len({f.endpoint.address for f in found}) > 1:
        raise UsageError(
            "--header and --bearer-env go to one server, and these tasks are on several",
            hint="put the credentials in the config, or watch the servers one by one",
        )
