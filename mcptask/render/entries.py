"""A form that is filled in key by key, as lines: what is filled in, the field in hand, what is to come.

Reads nothing, decides nothing. `width` and `high` are in columns and rows; no line is wider.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mcptask.protocol.schemas import Choice, Schema, alternatives, countable, kind, required, sub
from mcptask.render import forms
from mcptask.render.cells import cell_width, pad, shorten
from mcptask.render.ink import Line, Piece, columns, cropped, line
from mcptask.render.parts import flow, wrapped
from mcptask.render.questions import bounds, described
from mcptask.render.text import clean, flat

PROMPT = "› "
_GAP = 2
_MOST_OPTIONS = 8  # rows of a list of choices
_LEAST_ENTRY = 8  # columns
_MOST_WRONG = 6


class Layout(NamedTuple):
    """`column` is that of the names, `entry` how wide what is typed may be."""

    titles: Mapping[str, str]
    column: int
    width: int

    @property
    def indent(self) -> int:
        return 2 + self.column + _GAP

    @property
    def entry(self) -> int:
        return max(self.width - self.indent - len(PROMPT), _LEAST_ENTRY)


def layout(schema: Schema, width: int) -> Layout:
    needed = required(schema)
    names = sub(schema, "properties")
    titles = {name: clean(name) + (" *" if name in needed else "") for name in names}
    widest = max(map(cell_width, titles.values()), default=0)
    return Layout(titles, min(widest, width // 3), width)


def other_line(name: str, shown: str, place: Layout, *, dim: bool) -> Line:
    """A field that is not typed in now: `  note      call them first`."""
    title = pad(shorten(place.titles[name], place.column), place.column)
    return cropped(line(Piece(f"  {title}{' ' * _GAP}{shown}", "dim" if dim else "")), place.width)


def active_lines(
    name: str, entry: Sequence[Line], below: Iterable[Line], place: Layout
) -> list[Line]:
    """The field that is typed in: its name before the first line of the entry, and what to know below."""
    full = place.titles[name]
    title = pad(shorten(full, place.column), place.column)
    cut = wrapped(full, place.entry, 4) if cell_width(full) > place.column else []
    space = " " * place.indent
    known = [*dim_lines(cut), *below]
    return [
        line(Piece(f"  {title}{' ' * _GAP}", "bold"), entry[0]),
        *(line(space, each) for each in entry[1:]),
        *(cropped(line(f"{space}  ", each), place.width) for each in known),
    ]


def text_entry(shown: str) -> list[Line]:
    return [line(Piece(PROMPT, "cyan"), shown)]


def pick_entry(
    options: Sequence[Choice],
    at: int | None,
    chosen: Collection[int] | None,
    place: Layout,
) -> list[Line]:
    """`› 1 waitlist    2 refund    3 keep` where all fit on a line, else below each other.

    `chosen` are the places that are in a list of several, None where one is chosen.
    """
    shown = [_label(option, options) for option in options]
    if chosen is not None:
        shown = [f"[{'x' if n in chosen else ' '}] {text}" for n, text in enumerate(shown)]
    size = len(str(len(options))) if countable(options) else 0
    pieces = [
        _option(_numbered(n, each, size and 1), marked=at == n) for n, each in enumerate(shown)
    ]
    room = place.entry + len(PROMPT)
    gaps = [line("  ", each) for each in pieces[1:]]
    across = line(*pieces[:1], *gaps)
    if columns(across) <= room:
        return [across]
    pieces = [_option(_numbered(n, each, size), marked=at == n) for n, each in enumerate(shown)]
    first = min(max((at or 0) - _MOST_OPTIONS // 2, 0), max(len(pieces) - _MOST_OPTIONS, 0))
    return [cropped(each, room) for each in pieces[first : first + _MOST_OPTIONS]]


def choices_in_brief(options: Sequence[Choice]) -> str:
    return " · ".join(_label(option, options) for option in options[:_MOST_OPTIONS])


def _numbered(place: int, text: str, size: int) -> str:
    """`size` is how wide the numbers are; 0 where there are none."""
    return f"{place + 1:>{size}} {text}" if size else text


def _option(text: str, *, marked: bool) -> Line:
    return line(Piece(f"{PROMPT}{text}", "bold cyan")) if marked else line(f"  {text}")


def _label(option: Choice, options: Sequence[Choice]) -> str:
    """Its title; with the value, where another has the same."""
    alike = [each for each in options if each.title == option.title]
    return flat(option.title) if len(alike) == 1 and flat(option.title) else forms.choice(option)


def facts_of_text(each: Any, root: Schema) -> list[str]:
    facts = [forms.expected_words(each, root)]
    if any(kind(option) == "array" for option in alternatives(each, root)):
        facts.append("several with commas")
    return facts


def facts_of_pick(
    each: Any, root: Schema, options: Sequence[Choice], at: int | None, *, several: bool
) -> list[str]:
    number = "number or " if countable(options) else ""
    facts = [f"choose with the arrows, or type its {number}name"]
    if len(options) > _MOST_OPTIONS:
        facts.append(f"{(at or 0) + 1} of {len(options)}")
    if several:
        arrays = [option for option in alternatives(each, root) if kind(option) == "array"]
        facts += ["Space marks it", *(bounds(arrays[0]) if arrays else [])]
    return facts


def if_empty(*, empty: bool, untouched: bool, text: bool) -> list[str]:
    """How a field that is not required is left out. `untouched`: it is empty, as its default is."""
    if untouched:
        return ["Enter sends it empty", "Backspace leaves it out"]
    if text:
        return ["left out if empty"]
    return ["Enter leaves it out" if empty else "Backspace leaves it out"]


def below(
    each: Any, facts: Sequence[str], wrong: tuple[str, str | None] | None, place: Layout
) -> list[Line]:
    """What is wrong with the entry, else what to know of it; and what the server says of the field."""
    if wrong is not None:
        told, hint = wrong
        first, *rest = wrapped(f"! {flat(told)}", place.entry, _MOST_WRONG)
        rest += wrapped(flat(hint), place.entry, 4) if hint else []
        return [line(Piece(first[:1], "red"), first[1:]), *map(line, rest)]
    about = described(each) if isinstance(each, dict) else ""
    lines = [*forms.block(about, place.entry, 4), *flow(facts, place.entry, cut=False)]
    return [line(Piece(text, "dim")) for text in lines]


def frame(
    before: Sequence[Line],
    active: Sequence[Line],
    after: Sequence[Line],
    ways: Sequence[Line],
    high: int,
) -> tuple[list[Line], int]:
    """As much of it as there are rows for; and the place of the active field's first line."""
    ways = ways[: max(high - len(active), 1)]
    room = max(high - len(active) - len(ways), 0)
    later = after[: max(room - len(before), room // 2)]
    left = room - len(later)
    earlier = before[-left:] if left else []
    return [*earlier, *active, *later, *ways], len(earlier)


def ways_on(width: int, *, first: bool, started: bool) -> list[Line]:
    """What the keys do at a field."""
    back = () if first else ("Shift-Tab goes back",)
    escape = f"Esc declines, cancels or {'leaves it for later' if started else 'stops here'}"
    return dim_lines(flow(["* needed", "Enter goes on", *back, escape], width, cut=False))


def ways_out(width: int, *, started: bool) -> list[Line]:
    """After Esc."""
    ways = flow([*forms.leaving(started=started), "Enter goes back"], width, cut=False)
    return [*plain_lines(ways), *dim_lines(forms.leaving_lines(width, started=started))]


def dim_lines(texts: Iterable[str]) -> list[Line]:
    return [line(Piece(text, "dim")) for text in texts]


def plain_lines(texts: Iterable[str]) -> list[Line]:
    return [line(text) for text in texts]
