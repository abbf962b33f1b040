"""THE table: how each status and each outcome looks. To change one, change its row.

Colour only repeats what glyph and word already say, so the same screen reads without it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mcptask.protocol.task import Status
from mcptask.render.text import clean


@dataclass(frozen=True, slots=True)
class Look:
    """`colour` is one of the eight names that every terminal has."""

    glyph: str
    word: str
    colour: str


LOOKS: Mapping[str, Look] = {
    # statuses
    Status.WORKING: Look("●", "working", "cyan"),
    Status.INPUT_REQUIRED: Look("◐", "input required", "yellow"),
    Status.COMPLETED: Look("✓", "completed", "green"),
    Status.FAILED: Look("✗", "failed", "red"),
    Status.CANCELLED: Look("⊘", "cancelled", "magenta"),
    # other outcomes
    "tool_error": Look("✗", "tool error", "red"),
    "lost": Look("?", "lost", "red"),
    "unreachable": Look("!", "unreachable", "red"),
    "unauthorized": Look("!", "unauthorized", "red"),
    "protocol": Look("!", "protocol error", "red"),
    "usage": Look("!", "usage error", "red"),
    "internal": Look("!", "internal error", "red"),
    "timeout": Look("●", "still running", "yellow"),
    "interrupted": Look("●", "still running", "yellow"),
}

# A state of the line of states that was not reached (yet).
PENDING = Look("○", "", "white")

_WORDS = ("bold", "dim", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_SGR = dict(zip(_WORDS, ("1", "2", *map(str, range(31, 38))), strict=True))


def look(name: str) -> Look:
    """The look of a status or outcome; one that this client does not know is shown by its own name."""
    return LOOKS.get(name) or Look("◌", clean(name.replace("_", " ")) or "(no status)", "blue")


def paint(text: str, style: str, on: bool) -> str:
    """The text in a style: a colour, `bold` or `dim`, or several of them with spaces between."""
    return f"\x1b[{';'.join(_SGR[word] for word in style.split())}m{text}\x1b[0m" if on else text
