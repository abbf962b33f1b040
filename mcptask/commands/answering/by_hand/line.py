"""One line that is edited: what each key makes of it, and the part of it that fits on the screen. Pure."""

from collections.abc import Callable
from typing import NamedTuple

from mcptask.commands.answering.by_hand.keys import PASTE, TEXT, Key
from mcptask.render.cells import ELLIPSIS, cell_width
from mcptask.render.text import clean


class TextLine(NamedTuple):
    """`at` counts the characters before the cursor."""

    text: str = ""
    at: int = 0


def begun(text: str) -> TextLine:
    """The cursor stands at the end of what is there."""
    return TextLine(text, len(text))


def edited(line: TextLine, key: Key) -> TextLine | None:
    """The line after the key; None where it is no key for a line."""
    if key.name in (TEXT, PASTE):
        # What was pasted is one line here. A character that does something is no text of anyone's.
        new = key.text if key.name == TEXT else _on_one_line(key.text)
        return TextLine(line.text[: line.at] + new + line.text[line.at :], line.at + len(new))
    edit = _EDITS.get(key.name)
    return edit(line) if edit else None


def _on_one_line(text: str) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").replace("\n", " ")
    return "".join(each for each in lines.replace("\t", " ") if each >= " " and each != "\x7f")


def _before(line: TextLine) -> int:
    """Where the character before the cursor begins, with the marks that combine with it."""
    at = line.at - 1
    while at > 0 and not cell_width(line.text[at]):
        at -= 1
    return max(at, 0)


def _after(line: TextLine) -> int:
    at = line.at + 1
    while at < len(line.text) and not cell_width(line.text[at]):
        at += 1
    return min(at, len(line.text))


def _cut(line: TextLine, start: int, end: int) -> TextLine:
    return TextLine(line.text[:start] + line.text[end:], start)


def _word_before(line: TextLine) -> int:
    before = line.text[: line.at].rstrip()
    return before.rfind(" ") + 1


_EDITS: dict[str, Callable[[TextLine], TextLine]] = {
    "left": lambda line: line._replace(at=_before(line)),
    "right": lambda line: line._replace(at=_after(line)),
    "home": lambda line: line._replace(at=0),
    "end": lambda line: line._replace(at=len(line.text)),
    "backspace": lambda line: _cut(line, _before(line), line.at),
    "delete": lambda line: _cut(line, line.at, _after(line)),
    "cut before": lambda line: _cut(line, 0, line.at),
    "cut after": lambda line: _cut(line, line.at, len(line.text)),
    "cut word": lambda line: _cut(line, _word_before(line), line.at),
}


def window(line: TextLine, width: int) -> tuple[str, int]:
    """What of the line is shown in `width` columns, the cursor's among them, and the column of the cursor.

    What does not fit is marked by an ellipsis. A character that is not shown as itself is shown escaped.
    """
    shown = [clean(each) for each in line.text]
    sizes = [cell_width(each) for each in shown]
    room = max(width - 1, 1)  # the last column is for the cursor behind the text
    if sum(sizes) <= room:
        return "".join(shown), sum(sizes[: line.at])
    start, used = line.at, 0
    # One column each is for the marks at both ends.
    while start > 0 and used + sizes[start - 1] <= room - 2:
        start -= 1
        used += sizes[start]
    mark = ELLIPSIS if start else ""
    text, column = mark + "".join(shown[start : line.at]), len(mark) + used
    end, taken = line.at, column
    while end < len(shown) and taken + sizes[end] <= room - (end + 1 < len(shown)):
        taken += sizes[end]
        end += 1
    return text + "".join(shown[line.at : end]) + (ELLIPSIS if end < len(shown) else ""), column
