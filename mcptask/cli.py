"""The table of commands, and the one place where errors become words, documents and exit codes."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from mcptask import __version__
from mcptask.commands._answer import Answer
from mcptask.commands._deliver import deliver
from mcptask.commands.call import call
from mcptask.commands.cancel import cancel
from mcptask.commands.demo import demo
from mcptask.commands.forget import forget
from mcptask.commands.get import get
from mcptask.commands.list import list_
from mcptask.commands.servers import servers
from mcptask.commands.tools import tools
from mcptask.commands.update import update
from mcptask.commands.watch import watch
from mcptask.env import Env
from mcptask.errors import ExitCode, Interrupted, McptaskError, UsageError

# Name → function, in the order in which `--help` lists them.
COMMANDS: dict[str, Callable[..., Any]] = {
    "call": call,
    "watch": watch,
    "get": get,
    "update": update,
    "cancel": cancel,
    "list": list_,
    "forget": forget,
    "tools": tools,
    "servers": servers,
    "demo": demo,
}


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mcptask {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            "-V",
            help="Print the version and exit.",
            callback=_print_version,
            is_eager=True,  # before a missing command is complained of
        ),
    ] = False,
) -> None:
    """Start, follow, answer and cancel MCP tasks, and come back to them later.

    Try it: mcptask call reflow_month month=2026-09 --wait -s demo
    """


def make_app() -> typer.Typer:
    """The Typer app. Plain help: Rich would cost 150 ms at each `--help`."""
    app = typer.Typer(
        name="mcptask",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, function in COMMANDS.items():
        app.command(name)(function)
    return app


def run(argv: Sequence[str], env: Env) -> int:
    """One whole run: parse, work, print. Returns the exit code; nothing is raised but bugs in here."""
    try:
        answer = _work(argv, env)
        return deliver(answer, argv, env) if isinstance(answer, Answer) else int(answer or 0)
    except BrokenPipeError:
        _silence(env)
        return int(ExitCode.BROKEN_PIPE)
    except McptaskError as error:  # pragma: no cover - deliver itself failed, e.g. on a full disk
        return int(error.exit_code)


def _work(argv: Sequence[str], env: Env) -> Any:
    command = typer.main.get_command(make_app())
    try:
        return command.main(list(argv), prog_name="mcptask", standalone_mode=False, obj=env)
    except McptaskError as error:
        return _answer_to(error)
    except (KeyboardInterrupt, typer.Abort):
        return _answer_to(Interrupted("interrupted"))
    except Exception as error:
        if isinstance(error, BrokenPipeError):
            raise
        usage = _usage_error(error)
        return _answer_to(usage or _internal(error, env))


def _usage_error(error: Exception) -> UsageError | None:
    """An error of Typer's parser, told by its shape: where its class lives changes between releases."""
    formatted = getattr(error, "format_message", None)
    if formatted is None:
        return None
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "mcptask"
    return UsageError(formatted().strip() or "bad arguments", hint=f"{path} --help")


def _internal(error: Exception, env: Env) -> McptaskError:
    from mcptask.commands._crash import write_report

    path = write_report(error, env)
    return McptaskError(
        f"a bug in mcptask {__version__}: {type(error).__name__}",
        hint=f"what happened is written to {path}" if path else "no log could be written",
    )


def _answer_to(error: McptaskError) -> Answer:
    from mcptask.commands._reports import error_answer

    return error_answer(error)


def _silence(env: Env) -> None:
    """Nobody reads stdout any more; Python would complain about that once more at its exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), env.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = None
