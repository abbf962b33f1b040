"""Parts that frames are made of, of exact width. Made of clean strings."""

from collections.abc import Iterable

from mcptask.render.cells import ELLIPSIS, cell_width, chop, shorten
from mcptask.render.ink import Line, Piece, columns, cropped, line
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


def spinner(now: float) -> Piece:
    return Piece(SPINNER[step(now) % len(SPINNER)], "cyan")


def bar(share: float, width: int) -> Line:
    """`━━━━━━╸─────`: readable without colour."""
    halves = int(share * width * 2)
    full, half = "━" * (halves // 2), "╸" * (halves % 2)
    return line(Piece(full + half, "cyan"), Piece("─" * (width - len(full + half)), "dim"))


def pulse(now: float, width: int) -> Line:
    """A bar that only says that something moves."""
    room = max(width - _PULSE, 1)
    place = step(now) % (2 * room)
    left = min(place if place < room else 2 * room - place, max(width - _PULSE, 0))
    light = min(_PULSE, width)
    right = width - left - light
    return line(Piece("─" * left, "dim"), Piece("━" * light, "cyan"), Piece("─" * right, "dim"))


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


def sides(left: Line, right: Piece, width: int) -> list[Line]:
    """One line with something at each end, or the right part on lines of its own where both do not fit."""
    gap = width - columns(left) - cell_width(right.text)
    if gap >= 2:
        return [line(left, " " * gap, right)]
    return [
        cropped(left, width),
        *(line(Piece(part, right.style)) for part in chop(right.text, width)),
    ]


def named(style: Look, *, loud: bool = False) -> Piece:
    """`● working` in its colour."""
    return Piece(f"{style.glyph} {style.word}", f"bold {style.colour}" if loud else style.colour)


def who(tool: str | None, server: str) -> str:
    """`reflow_month on studio`"""
    return f"{clean(tool or 'task')} on {clean(server)}"
