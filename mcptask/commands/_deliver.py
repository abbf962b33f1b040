"""Printing an `Answer`: data to stdout, words to stderr, in the format that was asked for."""

from mcptask.commands._answer import Answer
from mcptask.env import Env
from mcptask.render.streams import try_write, write
from mcptask.render.text import clean


def deliver(answer: Answer, env: Env) -> int:
    """Print it; returns the exit code. `OSError` where stdout takes no more."""
    if answer.format == "jsonl":
        from mcptask.render.jsonlines import end_line

        write(env.stdout, end_line(answer.body(), answer.lines + 1, env.clock.wall()) + "\n")
    elif answer.format == "json":
        from mcptask.render.jsonout import dump

        write(env.stdout, dump(answer.body()) + "\n")
    else:
        _as_text(answer, env)
    return int(answer.exit_code)


def _as_text(answer: Answer, env: Env) -> None:
    if answer.text:
        write(env.stdout, answer.text if answer.text.endswith("\n") else answer.text + "\n")
    # Errors are coloured already, and cleaned where they are made.
    remarks = () if answer.quiet else map(clean, answer.remarks)
    for line in (*answer.errors, *remarks):
        try_write(env.stderr, line + "\n")
