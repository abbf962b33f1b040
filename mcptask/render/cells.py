"""How many terminal columns a text takes, and cutting and padding to columns. Standard library
only.

The live view measures with Rich; this serves everything that must start fast.
"""

from unicodedata import east_asian_width, normalize

ELLIPSIS = "…"


def cell_width(text: str) -> int:
    """Columns that a cleaned text takes: two for wide characters, none for marks that combine."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def shorten(text: str, width: int) -> str:
    """The text in at most `width` columns; what is cut is marked by an ellipsis."""
    if cell_width(text) <= width:
        return text
    return _head(text, width - 1) + ELLIPSIS if width > 0 else ""


def shorten_middle(text: str, width: int) -> str:
    """The same for ids, whose end tells them apart as well as their beginning does."""
    if cell_width(text) <= width:
        return text
    tail = max((width - 1) // 3, 0)
    kept = _head(text[::-1], tail)[::-1]
    return (_head(text, width - 1 - cell_width(kept)) + ELLIPSIS + kept) if width > 0 else ""


def pad(text: str, width: int, *, right: bool = False) -> str:
    """The text filled with spaces to `width` columns; `right` puts them before it."""
    space = " " * max(width - cell_width(text), 0)
    return space + text if right else text + space


def normal(text: str) -> str:
    """Composed characters, so that `é` is one column however it was sent."""
    return text if text.isascii() else normalize("NFC", text)


def _head(text: str, width: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _columns(character)
        if used > width:
            return text[:index]
    return text


def _columns(character: str) -> int:
    from unicodedata import category

    if category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if east_asian_width(character) in {"W", "F"} else 1
