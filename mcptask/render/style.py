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

_SGR = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36, "white": 37}


def look(name: str) -> Look:
    """The look of a status or outcome; one that this client does not know is shown by its own name."""
    return LOOKS.get(name) or Look("◌", clean(name.replace("_", " ")) or "(no status)", "blue")


def paint(text: str, colour: str, on: bool) -> str:
    """The text in a colour, for lines that are written without Rich."""
    return f"\x1b[{_SGR[colour]}m{text}\x1b[0m" if on else text
