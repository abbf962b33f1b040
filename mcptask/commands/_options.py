"""The options that several commands share, declared once, and how a command gets them.

    @command(REACH, FORMAT)
    def tools(job: Job, name: Annotated[str, typer.Argument()]) -> Answer: …

Typer reads a function's signature; `command` gives it one that holds the shared groups and the command's own
parameters, and calls the command with a `Job` made of the shared ones.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job, check_options
from mcptask.commands._quantities import count, seconds, size
from mcptask.errors import McptaskError


class OnInterrupt(StrEnum):
    """What a signal does to a task that is followed."""

    LEAVE = "leave"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the shared options say. A command without a group sees its defaults."""

    server: str | None = None
    stdio: str | None = None
    header: tuple[str, ...] = ()
    bearer_env: str | None = None
    ca_cert: str | None = None
    insecure: bool = False
    config: str | None = None
    state: str | None = None
    trace: str | None = None
    protocol: str | None = None
    max_message: int | None = None  # bytes
    max_tools: int | None = None
    json: bool = False
    jsonl: bool = False
    quiet: bool = False
    verbose: bool = False
    timeout: float | None = None  # seconds, like the two below
    interval: float | None = None
    give_up_after: float | None = None
    on_interrupt: OnInterrupt | None = None
    notify: bool = False
    exec: str | None = None
    answers: str | None = None
    answer_with: str | None = None
    root: tuple[str, ...] = ()
    accept_defaults: bool = False
    decline_all: bool = False
    no_input: bool = False

    @property
    def format(self) -> str:
        """`json`, `jsonl` or `text`."""
        return "json" if self.json else "jsonl" if self.jsonl else "text"


def _option(annotation: Any, *names: str, help: str, **more: Any) -> Any:
    return Annotated[annotation, typer.Option(*names, help=help, **more)]


FORMAT: Mapping[str, Any] = {
    "json": _option(bool, "--json", help="One JSON document on stdout, whatever happens."),
    "jsonl": _option(bool, "--jsonl", help="One JSON event per line, as it happens."),
    "quiet": _option(bool, "--quiet", "-q", help="Only data and errors, no progress."),
    "verbose": _option(bool, "--verbose", "-v", help="Say which server, why, and what is retried."),
    "config": _option(str | None, "--config", metavar="FILE", help="The config file to read."),
    "state": _option(str | None, "--state", metavar="FILE", help="The state file to use."),
}

REACH: Mapping[str, Any] = {
    "server": _option(
        str | None,
        *("--server", "-s"),
        metavar="NAME|URL",
        help="A configured server, a URL, or demo.",
    ),
    "stdio": _option(
        str | None, "--stdio", metavar="COMMAND", help="Start this command and speak over stdio."
    ),
    "header": _option(
        list[str] | None,
        *("--header", "-H"),
        metavar="NAME:VALUE",
        help="An HTTP header to send along. Repeatable.",
    ),
    "bearer_env": _option(
        str | None,
        "--bearer-env",
        metavar="VAR",
        help="Send the token in this variable as a bearer token.",
    ),
    "ca_cert": _option(
        str | None,
        "--ca-cert",
        metavar="FILE",
        help="Accept only an https server that a CA in this PEM file vouches for.",
    ),
    "insecure": _option(
        bool, "--insecure", help="Accept any certificate: whoever is in between reads all."
    ),
}

# Of every command that may speak to a server.
WIRE: Mapping[str, Any] = {
    "trace": _option(
        str | None,
        "--trace",
        metavar="FILE",
        help="Append all that goes over the wire to this file, without secrets.",
    ),
    "protocol": _option(
        str | None,
        "--protocol",
        metavar="VERSION",
        help="Speak this revision of MCP, without asking what the server speaks.",
    ),
    "max_message": _option(
        int | None,
        "--max-message",
        metavar="SIZE",
        parser=size,
        help="The largest message that is read (64M, 1G). Default: 10M.",
    ),
    "max_tools": _option(
        int | None,
        "--max-tools",
        metavar="N",
        parser=count,
        help="The longest list of tools that is read. Default: 10000.",
    ),
}

DRY_RUN = _option(bool, "--dry-run", help="Show the exact requests, without secrets; send nothing.")

WAITING: Mapping[str, Any] = {
    "timeout": _option(
        float | None,
        "--timeout",
        metavar="DURATION",
        parser=seconds,
        help="Stop waiting after this long (90s, 10m, 1h30m). The task goes on.",
    ),
    "interval": _option(
        float | None,
        "--interval",
        metavar="DURATION",
        parser=seconds,
        help="Poll no more often than this; never more often than the server asks.",
    ),
    "give_up_after": _option(
        float | None,
        "--give-up-after",
        metavar="DURATION",
        parser=seconds,
        help="Give up after this long without contact. Default: 5m.",
    ),
    "on_interrupt": _option(
        OnInterrupt | None,
        "--on-interrupt",
        metavar="leave|cancel",
        help="What Ctrl-C does to the task. Default: leave.",
    ),
    "notify": _option(
        bool, "--notify", help="Ring the terminal's bell when a task ends or asks, and notify."
    ),
    "exec": _option(
        str | None,
        "--exec",
        metavar="COMMAND",
        help="Run this when a task ends or asks, with the JSON document on its stdin.",
    ),
}

# Of every command that may be asked something.
ANSWERING: Mapping[str, Any] = {
    "answers": _option(
        str | None,
        "--answers",
        metavar="FILE|-",
        help="Answer what is asked from this file, TOML or JSON.",
    ),
    "answer_with": _option(
        str | None,
        "--answer-with",
        metavar="COMMAND",
        help="Answer with what this prints; it gets the request as JSON on its stdin.",
    ),
    "root": _option(
        list[str] | None,
        "--root",
        metavar="PATH",
        help="A folder to name when the server asks for roots. Repeatable.",
    ),
    "accept_defaults": _option(
        bool, "--accept-defaults", help="Accept each form that its own defaults fill."
    ),
    "decline_all": _option(
        bool, "--decline-all", help="Decline each form and URL that nothing else answers."
    ),
    "no_input": _option(bool, "--no-input", help="Never ask at the terminal; exit 3 instead."),
}

# The part of WAITING for a command that only asks.
BOUND: Mapping[str, Any] = {"timeout": WAITING["timeout"]}


def command(
    *groups: Mapping[str, Any],
) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Give a command the shared options of these groups; see the module's docstring."""
    shared = {name: hint for group in groups for name, hint in group.items()}

    def decorate(work: Callable[..., Answer]) -> Callable[..., Answer]:
        def run(ctx: typer.Context, **given: Any) -> Answer:
            shares = {name: given.pop(name) for name in shared}
            shares |= {name: tuple(shares.get(name) or ()) for name in ("header", "root")}
            options = Options(**shares)
            job = Job(env=ctx.obj, options=options)
            try:
                check_options(options)
                # What cannot be run, or is not there, is refused before anything is sent.
                job.hook, job.answers, job.answerer, job.roots  # noqa: B018
                answer = work(job, **given)
            except McptaskError as error:
                from mcptask.commands._reports import error_answer

                answer = error_answer(error, tuple(job.warnings))
            return replace(answer, format=options.format, quiet=options.quiet)

        run.__name__ = work.__name__
        run.__doc__ = work.__doc__
        run.__annotations__ = {}
        run.__signature__ = _signature(work, shared)  # type: ignore[attr-defined]
        return run

    return decorate


def _signature(work: Callable[..., Answer], shared: Mapping[str, Any]) -> inspect.Signature:
    kind = inspect.Parameter.KEYWORD_ONLY
    own = list(inspect.signature(work).parameters.values())[1:]
    context = inspect.Parameter("ctx", kind, annotation=typer.Context)
    extra = [
        inspect.Parameter(
            name, kind, annotation=hint, default=False if hint.__origin__ is bool else None
        )
        for name, hint in shared.items()
    ]
    return inspect.Signature([context, *(p.replace(kind=kind) for p in own), *extra])
