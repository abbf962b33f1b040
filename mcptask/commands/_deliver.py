"""Printing an `Answer`: data to stdout, words to stderr, in the format that was asked for."""

import errno

from mcptask.commands._answer import Answer
from mcptask.env import Env
from mcptask.errors import ExitCode
from mcptask.render.rows import in_rows, row_width, tell
from mcptask.render.streams import write
from mcptask.render.text import clean

# The Ctrl-C that ends a pipeline ends its reader too, and a hang-up takes the terminal: of an output that is
# lost so, the signal is what counts.
_BY_SIGNAL = (ExitCode.INTERRUPTED, ExitCode.TERMINATED)
_GONE = (errno.EPIPE, errno.EIO)


def deliver(answer: Answer, env: Env) -> int:
    """Print it; returns the exit code. `OSError` where stdout takes no more."""
    try:
        _print_data(answer, env)
    except OSError as error:
        if not (answer.exit_code in _BY_SIGNAL and error.errno in _GONE):
            raise
    if answer.format == "text":
        _print_words(answer, env)
    return int(answer.exit_code)


def _print_data(answer: Answer, env: Env) -> None:
    if answer.format == "jsonl":
        from mcptask.render.jsonlines import end_line

        write(env.stdout, end_line(answer.body(), answer.lines + 1, env.clock.wall()) + "\n")
    elif answer.format == "json":
        from mcptask.render.jsonout import dump

        write(env.stdout, dump(answer.body()) + "\n")
    else:
        _print_results(answer, env)


def _print_results(answer: Answer, env: Env) -> None:
    for whose, text in (("", answer.text), *answer.results):
        if whose and not answer.quiet:
            tell(env.stderr, whose)
        if text:
            shown = in_rows(text, row_width(env.stdout))
            write(env.stdout, shown if shown.endswith("\n") else shown + "\n")


def _print_words(answer: Answer, env: Env) -> None:
    # Errors are coloured already, and cleaned where they are made.
    remarks = () if answer.quiet else map(clean, answer.remarks)
    for line in (*answer.errors, *remarks):
        tell(env.stderr, line)
