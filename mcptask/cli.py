"""The table of commands, and the one place where errors become words, documents and exit codes."""

import errno
import importlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any, TextIO

import typer

from mcptask import __version__
from mcptask.commands._answer import Answer
from mcptask.commands._deliver import deliver
from mcptask.env import Env
from mcptask.errors import ExitCode, Interrupted, McptaskError, UsageError

# What writing to stdout may come to, besides a broken pipe. An error of a file or a connection is mapped
# where it is used, so none with these numbers comes this far from anywhere else.
UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})

# Name → where its function is, in the order in which `--help` lists them.
COMMANDS = {
    "call": "mcptask.commands.call:call",
    "watch": "mcptask.commands.watch:watch",
    "get": "mcptask.commands.get:get",
    "update": "mcptask.commands.update:update",
    "cancel": "mcptask.commands.cancel:cancel",
    "list": "mcptask.commands.list:list_",
    "forget": "mcptask.commands.forget:forget",
    "tools": "mcptask.commands.tools:tools",
    "servers": "mcptask.commands.servers:servers",
    "demo": "mcptask.commands.demo:demo",
}


# How the commands call the argument that names tasks.
_TASK = ("task", "tasks")


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


def make_app(only: str | None = None) -> typer.Typer:
    """The Typer app. Plain help: Rich would cost 150 ms at each `--help`.

    `only` is the one command to build: the other nine would cost a sixth of the start-up.
    """
    app = typer.Typer(
        name="mcptask",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root)
    for name, place in COMMANDS.items():
        if only in (None, name):
            app.command(name)(_function(place))
    return app


def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def run(argv: Sequence[str], env: Env) -> int:
    """One whole run: parse, work, print. Returns the exit code; nothing is raised but bugs in here."""
    try:
        answer = _work(argv, env)
        return deliver(answer, env) if isinstance(answer, Answer) else int(answer or 0)
    except BrokenPipeError:
        return int(ExitCode.BROKEN_PIPE)
    except OSError as error:
        return _unwritable(error, env, argv)
    finally:
        for stream in (env.stdout, env.stderr):
            _settle(stream)


def _work(argv: Sequence[str], env: Env) -> Any:
    known = argv[0] if argv and argv[0] in COMMANDS else None
    command = typer.main.get_command(make_app(known))
    try:
        # Alone, it says what it can do, as `gh` and `kubectl` do.
        return command.main(
            list(argv) or ["--help"], prog_name="mcptask", standalone_mode=False, obj=env
        )
    except McptaskError as error:
        return _answer_to(error, argv)
    except (KeyboardInterrupt, typer.Abort):
        return _answer_to(Interrupted("interrupted"), argv)
    except BrokenPipeError:
        raise
    except SystemExit as ended:
        # How Typer answers a broken pipe, with a status of its own.
        raise ended.__context__ or ended from None
    except Exception as error:
        if isinstance(error, OSError) and error.errno in UNWRITABLE:
            raise
        usage = _usage_error(error)
        return _answer_to(usage or _internal(error, env), argv)


def _usage_error(error: Exception) -> UsageError | None:
    """An error of Typer's parser, told by its shape: where its class lives changes between releases."""
    formatted = getattr(error, "format_message", None)
    if formatted is None:
        return None
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "mcptask"
    lacks = getattr(getattr(error, "param", None), "name", "") if _is_missing(error) else ""
    hint = f"{path} last; which there are: mcptask list" if lacks in _TASK else f"{path} --help"
    return UsageError(formatted().strip() or "bad arguments", hint=hint)


def _is_missing(error: Exception) -> bool:
    return type(error).__name__ == "MissingParameter"


def _internal(error: Exception, env: Env) -> McptaskError:
    from mcptask.commands._crash import write_report

    path = write_report(error, env)
    return McptaskError(
        f"a bug in mcptask {__version__}: {type(error).__name__}",
        hint=f"what happened is written to {path}" if path else "no log could be written",
    )


def _answer_to(error: McptaskError, argv: Sequence[str]) -> Answer:
    """An error outside every command. The parser has refused the arguments, so the format is guessed."""
    from mcptask.commands._reports import error_answer

    words = list(argv[: argv.index("--")] if "--" in argv else argv)
    formats = [name for name in ("jsonl", "json") if f"--{name}" in words]
    return replace(error_answer(error), format=formats[0] if formats else "text")


KEPT_RESULT = "what came of a stored task is kept: mcptask list, mcptask get TASK --result"


def _unwritable(error: OSError, env: Env, argv: Sequence[str]) -> int:
    """Stdout takes no more. That says nothing about a task, and is no bug, so it is 2: as for a state file
    that the same full disk leaves unwritten."""
    from mcptask.protocol.outcome import Problem
    from mcptask.render.human import error_lines
    from mcptask.render.rows import tell

    problem = Problem(
        kind="usage",
        message=f"cannot write the output: {error.strerror}",
        hint=KEPT_RESULT if argv[:1] in (["call"], ["watch"], ["update"]) else None,
    )
    for line in error_lines(problem, colour=env.colour(env.stderr)):
        tell(env.stderr, line)
    return int(ExitCode.USAGE)


def _settle(stream: TextIO) -> None:
    """What a stream did not take is dropped: Python would try again at its exit, and complain."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
