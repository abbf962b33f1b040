"""`mcptask forget`: drop records. The server is not told, the tasks go on."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import FORMAT, command
from mcptask.errors import UsageError


@command(FORMAT)
def forget(
    job: Job,
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="Numbers, ids or prefixes.")
    ] = None,
    ended: Annotated[
        bool,
        typer.Option(
            "--ended", help="All that ended, or that their server does not know any more."
        ),
    ] = False,
) -> Answer:
    """Drop stored tasks from the list. Never touches the server: a task that runs goes on.

    mcptask forget 7 8

    mcptask forget --ended
    """
    if bool(tasks) == ended:
        raise UsageError("name the tasks to forget, or give --ended", hint="mcptask list")
    from mcptask.commands._find import find_refs

    state = job.store.read()
    refs = (
        [record.ref for record in state.tasks if record.terminal or record.lost_at]
        if ended
        else [ref for text in tasks or () for ref in find_refs(state, text)]
    )
    job.store.forget(refs)
    for record in state.tasks:
        if record.ref in refs:
            job.outcomes.forget(record.origin, record.task_id)
    count = "1 task" if len(refs) == 1 else f"{len(refs)} tasks"
    return Answer(
        body=lambda: {"mcptask": 1, "ok": True, "exitCode": 0, "forgotten": refs},
        remarks=(f"Forgot {count}. Nothing was cancelled.",),
    )
