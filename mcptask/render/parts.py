"""Pieces that frames are made of, as Rich `Text` of exact width. Made of clean strings, never of markup."""

from collections.abc import Iterable

from rich.text import Text

from mcptask.render.cells import ELLIPSIS, cell_width, chop, shorten
from mcptask.render.style import Look
from mcptask.render.text import clean

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
# Frames of spinner and pulse in a second.
PACE = 5.0
_PULSE = 6
_MOST_LINES = 60  # of one fact


def step(now: float) -> int:
    """Which picture of an animation is due."""
    return int(now * PACE)


def spinner(now: float) -> Text:
    return Text(SPINNER[step(now) % len(SPINNER)], "cyan")


def bar(share: float, width: int) -> Text:
    """`━━━━━━╸─────`: readable without colour."""
    halves = int(share * width * 2)
    full, half = "━" * (halves // 2), "╸" * (halves % 2)
    return Text.assemble((full + half, "cyan"), ("─" * (width - len(full + half)), "dim"))


def pulse(now: float, width: int) -> Text:
    """A bar that only says that something moves."""
    room = max(width - _PULSE, 1)
    place = step(now) % (2 * room)
    left = min(place if place < room else 2 * room - place, max(width - _PULSE, 0))
    light = min(_PULSE, width)
    right = width - left - light
    return Text.assemble(("─" * left, "dim"), ("━" * light, "cyan"), ("─" * right, "dim"))


def percent(share: float) -> str:
    """`68%`; 100 % only when all is done."""
    return f"{round(share * 100) if share >= 1 else min(round(share * 100), 99)}%"


def wrapped(text: str, width: int, most: int) -> list[str]:
    """Lines of at most `width` columns, broken at spaces where possible; at most `most` of them."""
    width = max(width, 1)
    lines: list[str] = []
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and cell_width(joined) <= width:
            lines[-1] = joined
        else:
            lines += chop(word, width)
    if len(lines) > most:
        lines = [
            *lines[: most - 1],
            shorten(f"{lines[most - 1]} {ELLIPSIS * 2}"[: width + 1], width),
        ]
        lines[-1] = lines[-1].rstrip(f" {ELLIPSIS}") + ELLIPSIS
    return [shorten(line, width) for line in lines]


def flow(parts: Iterable[str], width: int, *, cut: bool) -> list[str]:
    """Facts joined by ` · `, as many on a line as fit. `cut`: a longer fact is shortened, not wrapped."""
    lines: list[str] = []
    for part in parts:
        joined = f"{lines[-1]} · {part}" if lines else part
        if lines and cell_width(joined) <= width:
            lines[-1] = joined
        else:
            lines += [shorten(part, width)] if cut else wrapped(part, width, _MOST_LINES)
    return lines


def sides(left: Text, right: Text, width: int) -> list[Text]:
    """One line with something at each end, or the right part on lines of its own where both do not fit."""
    gap = width - left.cell_len - right.cell_len
    if gap >= 2:
        return [Text.assemble(left, " " * gap, right)]
    rest = chop(right.plain, width)
    style = str(right.style)
    return [cropped(left, width), *(Text(line, style) for line in rest)]


def cropped(text: Text, width: int) -> Text:
    """The text in at most `width` columns, its colours kept."""
    text = text.copy()
    text.truncate(max(width, 1), overflow="ellipsis")
    return text


def named(style: Look, *, loud: bool = False) -> Text:
    """`● working` in its colour."""
    return Text(f"{style.glyph} {style.word}", f"bold {style.colour}" if loud else style.colour)


def who(tool: str | None, server: str) -> str:
    """`reflow_month on studio`"""
    return f"{clean(tool or 'task')} on {clean(server)}"
