"""`mcptask watch`: follow stored tasks, here and now or on a later day, until they end."""

from typing import Annotated

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import ANSWERING, FORMAT, REACH, WAITING, WIRE, command


@command(REACH, ANSWERING, WAITING, WIRE, FORMAT)
def watch(
    job: Job,
    tasks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TASK]...", help="Numbers, ids or prefixes; none: the latest."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every stored task that goes on.")] = False,
    first_end: Annotated[
        bool, typer.Option("--any", help="Stop with the first task that ends, well or badly.")
    ] = False,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Stop with the first task that ends badly.")
    ] = False,
) -> Answer:
    """Follow tasks to their end, live. Ctrl-C leaves them running.

    mcptask watch

    mcptask watch 7 8 --timeout 10m --json

    mcptask watch --all --fail-fast
    """
    from mcptask.commands._watching import watch_tasks

    return watch_tasks(
        job, tuple(tasks or ()), every=every, first_end=first_end, fail_fast=fail_fast
    )
