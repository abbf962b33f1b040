"""`mcptask call`: send `tools/call`, store the task before anything is shown, follow it if asked."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import ANSWERING, DRY_RUN, FORMAT, REACH, WAITING, WIRE, command


@command(REACH, ANSWERING, WAITING, WIRE, FORMAT)
def call(
    job: Job,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="The tool to call.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ARG]...", help="name=text, name:=JSON, name=@FILE or name:=@FILE."
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Follow the task to its end.")] = False,
    args: Annotated[
        str | None,
        typer.Option("--args", metavar="JSON|@FILE|-", help="All arguments as one JSON object."),
    ] = None,
    max_rounds: Annotated[
        int,
        typer.Option(
            "--max-rounds",
            min=1,
            metavar="N",
            help="Answer at most N rounds of questions before the start.",
        ),
    ] = 10,
    no_validate: Annotated[
        bool, typer.Option("--no-validate", help="Send the arguments unchecked.")
    ] = False,
    dry_run: DRY_RUN = False,
) -> Answer:
    """Call a tool. A task that comes of it is stored; --wait follows it.

    Without --wait only the task id is printed on stdout:

      id=$(mcptask call reflow_month month=2026-09 -s demo)

      mcptask call reflow_month month=2026-09 --wait --json -s demo | jq .result
    """
    job.check_telling(wait)
    from mcptask.commands._calling import Wanted, call_tool

    wanted = Wanted(
        tool=tool,
        arguments=tuple(arguments or ()),
        raw=args,
        validate=not no_validate,
        wait=wait,
        max_rounds=max_rounds,
        dry_run=dry_run,
    )
    return call_tool(job, wanted)
