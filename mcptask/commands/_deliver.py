"""Printing an `Answer`: data to stdout, words to stderr, in the format that was asked for."""

from collections.abc import Sequence

from mcptask.commands._answer import Answer
from mcptask.env import Env
from mcptask.render.streams import try_write, write


def deliver(answer: Answer, argv: Sequence[str], env: Env) -> int:
    """Print it; returns the exit code.

    Which format is read from the arguments themselves: the parser may have refused them.
    """
    words = _before_separator(argv)
    if "--jsonl" in words:
        from mcptask.render.jsonlines import end_line

        write(env.stdout, end_line(answer.body(), answer.lines + 1, env.clock.wall()) + "\n")
    elif "--json" in words:
        from mcptask.render.jsonout import dump

        write(env.stdout, dump(answer.body()) + "\n")
    elif answer.text:
        write(env.stdout, answer.text if answer.text.endswith("\n") else answer.text + "\n")
    if not words.isdisjoint(("--json", "--jsonl")):
        return int(answer.exit_code)
    remarks = () if not words.isdisjoint(("--quiet", "-q")) else answer.remarks
    for line in (*answer.errors, *remarks):
        try_write(env.stderr, line + "\n")
    return int(answer.exit_code)


def _before_separator(argv: Sequence[str]) -> set[str]:
    words = list(argv)
    return set(words[: words.index("--")] if "--" in words else words)
