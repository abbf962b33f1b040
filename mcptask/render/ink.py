"""Lines in colour, which the live view is made of: pieces of clean text, each in a style. Draws nothing.

Our own rather than Rich's: a table of many tasks is made four times a second, and must cost next to nothing.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mcptask.render.cells import ELLIPSIS, cell_width, shorten
from mcptask.render.style import paint
from mcptask.render.text import unmistaken


class Piece(NamedTuple):
    """`style` is a colour, `bold` or `dim`, or several of them with spaces between."""

    text: str
    style: str = ""


Line = tuple[Piece, ...]


def line(*parts: str | Piece | Line) -> Line:
    """One line of strings, pieces and other lines."""
    return tuple(piece for part in parts for piece in _pieces(part) if piece.text)


def plain(text: Line) -> str:
    return "".join(piece.text for piece in text)


def columns(text: Line) -> int:
    return sum(cell_width(piece.text) for piece in text)


def cropped(text: Line, width: int) -> Line:
    """The line in at most `width` columns, its colours kept, without spaces at its end."""
    left, kept = max(width, 1), list(text)
    if columns(text) > left:
        kept = []
        for piece in text:
            cut = cell_width(piece.text) >= left  # one column is for the ellipsis
            shown = shorten(piece.text + ELLIPSIS, left) if cut else piece.text
            kept.append(Piece(shown, piece.style))
            left -= cell_width(shown)
            if cut:
                break
    while kept and not kept[-1].text.rstrip():
        kept.pop()
    return (*kept[:-1], Piece(kept[-1].text.rstrip(), kept[-1].style)) if kept else ()


def marked(text: Line) -> Line:
    """The line, which nobody can take for one of those that we write between what is drawn (`error: …`)."""
    told = plain(text)
    return text if unmistaken(told) == told else line("\\", text)


def coloured(text: Line) -> str:
    """What to write for it to a terminal that knows colours."""
    return "".join(paint(piece.text, piece.style, bool(piece.style)) for piece in text)


def _pieces(part: str | Piece | Line) -> Iterator[Piece]:
    if isinstance(part, str):
        yield Piece(part)
    elif isinstance(part, Piece):
        yield part
    else:
        yield from part
