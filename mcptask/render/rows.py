"""A line for a person, as a terminal shows it: in rows, and none of them passes for a line of ours.

A terminal wraps a long line where its width ends, so whoever sends a text can choose what a row begins with.
"""

import os
import re
from typing import TextIO

from mcptask.render.cells import cell_width
from mcptask.render.streams import try_write
from mcptask.render.text import OURS

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TAB = 8  # columns


def tell(stream: TextIO, line: str) -> bool:
    """Write a clean line, whatever it begins with; False where it could not be written."""
    return try_write(stream, in_rows(line, row_width(stream)) + "\n")


def row_width(stream: TextIO) -> int | None:
    """Columns of the terminal; None where it is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):  # closed, or no real file
        return None


def in_rows(text: str, width: int | None) -> str:
    """Clean lines with a backslash before what would begin a row as only lines of ours begin. Their own
    beginnings are left alone, and nothing is cut: a command can still be copied."""
    if width is None or len(text) < width:
        return text
    return "\n".join(_in_rows(line, width) for line in text.split("\n"))


def _in_rows(line: str, width: int) -> str:
    kept, column, done = [], 0, 0
    for found in OURS.finditer(line):
        before = line[done : found.start()]
        column = _column_after(column, before, width)
        wraps = column == width  # and the next character begins a row
        kept += [before, "\\" if wraps else ""]
        column, done = 1 if wraps else column, found.start()
    return "".join([*kept, line[done:]])


def _column_after(column: int, text: str, width: int) -> int:
    """How many columns of its row are taken after the text. A full row is left only by the next character."""
    plain = _COLOUR.sub("", text)
    if plain.isascii() and "\t" not in plain:
        total = column + len(plain)
        return (total - 1) % width + 1 if total else 0
    for character in plain:
        if character == "\t":  # never leaves its row
            column = max(column, min((column // _TAB + 1) * _TAB, width - 1))
            continue
        size = cell_width(character)
        column = size if column + size > width else column + size
    return column
