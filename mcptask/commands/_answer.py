"""What a command returns: the data for stdout in both formats, the remarks for stderr, the exit code."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mcptask.errors import ExitCode


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`body` makes the JSON document; `text` the plain text for stdout (no trailing newline needed).

    `results` takes its place where several tasks have one each: a line for a person that says whose it is,
    and the text. `remarks` are lines for a person on stderr: not printed with --quiet. `errors` are always
    printed, unless the document carries them. All lines are clean: nothing in them can drive a terminal.
    `lines` is how many JSON lines were printed while the command ran; `format` is `text`, `json` or `jsonl`.
    """

    exit_code: ExitCode = ExitCode.OK
    body: Callable[[], Any]
    text: str = ""
    results: tuple[tuple[str, str], ...] = field(default=())
    remarks: tuple[str, ...] = field(default=())
    errors: tuple[str, ...] = field(default=())
    lines: int = 0
    format: str = "text"
    quiet: bool = False
