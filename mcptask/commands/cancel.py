"""`mcptask cancel`: ask the server to stop a task."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import DRY_RUN, FORMAT, REACH, WAITING, WIRE, command


@command(REACH, WAITING, WIRE, FORMAT)
def cancel(
    job: Job,
    tasks: Annotated[
        list[str], typer.Argument(metavar="TASK...", help="Numbers, ids or prefixes.")
    ],
    wait: Annotated[
        bool, typer.Option("--wait", "-w", help="Wait for the state that comes.")
    ] = False,
    dry_run: DRY_RUN = False,
) -> Answer:
    """Ask for cancellation. It is a request: the task may still complete, or go on.

    mcptask cancel 7 --wait
    """
    job.check_telling(wait)
    from mcptask.commands._cancelling import cancel_tasks

    return cancel_tasks(job, tuple(tasks), wait=wait, dry_run=dry_run)
