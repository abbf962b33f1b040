"""Dropping records and call marks, with the outcomes that were stored for them."""

from mcptask.commands._answer import Answer
from mcptask.commands._find import find_refs
from mcptask.commands._job import Job
from mcptask.errors import UsageError


def forget_tasks(job: Job, texts: tuple[str, ...], *, ended: bool) -> Answer:
    """Those that the texts name, or all that ended or are lost. Nothing is sent to a server."""
    if bool(texts) == ended:
        raise UsageError("name the tasks to forget, or give --ended", hint="mcptask list")
    state = job.store.read()
    over = [task.ref for task in state.tasks if task.terminal or task.lost_at]
    wanted = over if ended else [ref for text in texts for ref in find_refs(state, text)]
    dropped = job.store.forget(wanted)
    for task in state.tasks:
        if task.ref in dropped:
            job.outcomes.forget(task.origin, task.task_id)
    count = "1 task" if len(dropped) == 1 else f"{len(dropped)} tasks"
    return Answer(
        body=lambda: {"mcptask": 1, "ok": True, "exitCode": 0, "forgotten": list(dropped)},
        remarks=(f"Forgot {count}. Nothing was cancelled.",),
    )
