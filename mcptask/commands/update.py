"""`mcptask update`: answer what a task asks."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import ANSWERING, DRY_RUN, FORMAT, REACH, WAITING, WIRE, command


@command(REACH, ANSWERING, WAITING, WIRE, FORMAT)
def update(
    job: Job,
    task: Annotated[str, typer.Argument(metavar="TASK", help="A number, an id, a prefix or last.")],
    fields: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIELD=VALUE]...", help="The answer's fields, as the task asks."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Which question, of several.")
    ] = None,
    accept: Annotated[bool, typer.Option("--accept", help="Agree (the default).")] = False,
    decline: Annotated[bool, typer.Option("--decline", help="Say no.")] = False,
    cancel: Annotated[
        bool, typer.Option("--cancel", help="Dismiss the question; the task itself goes on.")
    ] = False,
    responses: Annotated[
        str | None,
        typer.Option("--responses", metavar="JSON|@FILE|-", help="All answers, by key, as JSON."),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Follow the task to its end.")] = False,
    dry_run: DRY_RUN = False,
) -> Answer:
    """Answer what a task asks. Without an answer it shows the form, at a terminal.

    mcptask update 7 action=waitlist note="call them first" --wait

    mcptask update 7 --key approve --decline
    """
    job.check_telling(wait)
    from mcptask.commands._given_answer import GivenAnswer
    from mcptask.commands._updating import update_task

    actions = {"accept": accept, "decline": decline, "cancel": cancel}
    given = GivenAnswer(
        fields=tuple(fields or ()),
        key=key,
        actions=tuple(name for name, wanted in actions.items() if wanted),
        raw=responses,
    )
    return update_task(job, task, given, wait=wait, dry_run=dry_run)
