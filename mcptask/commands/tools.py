"""`mcptask tools`: what a server offers."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import BOUND, FORMAT, REACH, WIRE, command


@command(REACH, BOUND, WIRE, FORMAT)
def tools(
    job: Job,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="One tool, with its arguments.")
    ] = None,
) -> Answer:
    """List the server's tools; with a name, its arguments.

    mcptask tools -s demo

    mcptask tools reflow_month -s demo
    """
    from mcptask.commands._showing_tools import show_tools

    return show_tools(job, name)
