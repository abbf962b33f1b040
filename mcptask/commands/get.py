"""`mcptask get`: how a task stands, in one `tasks/get`; an ended one from the stored outcome, offline."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import BOUND, FORMAT, REACH, WIRE, command


@command(REACH, BOUND, WIRE, FORMAT)
def get(
    job: Job,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A number, an id, a prefix or last.")],
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the server even if the outcome is stored.")
    ] = False,
    result: Annotated[bool, typer.Option("--result", help="Print only the result.")] = False,
    exit_status: Annotated[
        bool, typer.Option("--exit-status", help="Exit with the code of the task's state.")
    ] = False,
) -> Answer:
    """Show how a task stands, or what came of it.

    mcptask get 7

    mcptask get last --result
    """
    from mcptask.commands._getting import answer, look_up

    report = look_up(job, task, refresh=refresh)
    return answer(job, report, only_result=result, exit_status=exit_status)
