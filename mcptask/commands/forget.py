"""`mcptask forget`: drop records. The server is not told, the tasks go on."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import FORMAT, command


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
    from mcptask.commands._forgetting import forget_tasks

    return forget_tasks(job, tuple(tasks or ()), ended=ended)
