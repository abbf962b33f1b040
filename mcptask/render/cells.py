"""How many terminal columns a text takes, and cutting and padding to columns. Standard library only.

Every view measures its words with this.
"""

from unicodedata import category, east_asian_width, normalize

ELLIPSIS = "…"


def cell_width(text: str) -> int:
    """Columns that a cleaned text takes: two for wide characters, none for marks that combine."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def shorten(text: str, width: int) -> str:
    """The text in at most `width` columns; what is cut is marked by an ellipsis."""
    if cell_width(text) <= width:
        return text
    return _head(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


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


def fit(text: str, width: int, *, right: bool = False) -> str:
    """The text in exactly `width` columns."""
    return pad(shorten(text, width), width, right=right)


def chop(text: str, width: int) -> list[str]:
    """The text in pieces of at most `width` columns; one character at least in each."""
    pieces = []
    while text:
        piece = _head(text, width) or text[:1]
        pieces.append(piece)
        text = text[len(piece) :]
    return pieces or [""]


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
    kind = category(character)
    if kind in {"Mn", "Me", "Cf"}:
        return 0
    # One that this Python does not know yet counts as wide there, which it mostly is not.
    return 2 if kind != "Cn" and east_asian_width(character) in {"W", "F"} else 1
