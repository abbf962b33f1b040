"""`mcptask list`: the stored tasks, and the calls whose answer never came. No network, unless asked."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import FORMAT, WIRE, command


@command(WIRE, FORMAT)
def list_(
    job: Job,
    status: Annotated[
        list[str] | None,
        typer.Option("--status", metavar="STATUS", help="Only tasks in this state. Repeatable."),
    ] = None,
    server: Annotated[
        str | None, typer.Option("--server", "-s", metavar="NAME|URL", help="Only this server's.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Only the newest N.")
    ] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Ask the servers first, all at once.")
    ] = False,
) -> Answer:
    """List the stored tasks, newest first.

    mcptask list --status working --refresh
    """
    from mcptask.commands._listing import Filter, list_tasks

    wanted = Filter(statuses=tuple(status or ()), server=server, limit=limit)
    return list_tasks(job, wanted, refresh=refresh)
