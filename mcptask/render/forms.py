"""A question as a form at the terminal, line by line: who asks, each field, the last look (A12.12, A12.13).

Lines only: reads nothing, decides nothing. Whatever the server wrote is cleaned, and stands indented, so
that no line of ours begins with it. `width` is in columns.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcptask.protocol.schemas import (
    Schema,
    alternatives,
    countable,
    describe,
    kind,
    offered,
    required,
    sub,
)
from mcptask.protocol.task import Status
from mcptask.render.cells import cell_width, pad, shorten
from mcptask.render.parts import flow, wrapped
from mcptask.render.questions import Request, bounds, described, json_word
from mcptask.render.style import look, paint
from mcptask.render.text import clean, clean_block, clean_json, flat

PROMPT = "› "
_MOST_MESSAGE_LINES = 60
_MOST_DESCRIPTION_LINES = 4
_MOST_PARAMETER_LINES = 12
_MOST_CHOICES = 200
_LEAVING = ("d declines", "c cancels the question", "l answers later")
_ASIDE = tuple(f":{word}" for word in _LEAVING)  # while a field is typed, `d` alone may be its text


def question_lines(
    server: str, tool: str, key: str, request: Request, width: int, *, colour: bool
) -> list[str]:
    """`◐ studio asks (approve), for reflow_month:` and the whole message below it."""
    asks = look(Status.INPUT_REQUIRED)
    first, *rest = wrapped(
        f"{asks.glyph} {flat(server)} asks ({flat(key)}), for {flat(tool)}:", width - 2, 9
    )
    message = str(sub(request, "params").get("message") or "")
    return [
        first.replace(asks.glyph, paint(asks.glyph, asks.colour, colour), 1),
        *_indented(rest),
        *_indented(_block(message, width - 2, _MOST_MESSAGE_LINES)),
    ]


def way_out_lines(schema: Schema, width: int) -> list[str]:
    """What can be typed instead of any field's value."""
    needed = ["* needed"] if required(schema) else []
    return flow([*needed, *_ASIDE], width, cut=False)


def field_lines(name: str, schema: Schema, values: Mapping[str, Any], width: int) -> list[str]:
    """`action *  1 waitlist · 2 refund · 3 keep`, and below it what the server says about the field.

    `schema` is the form's, `values` what its fields have so far.
    """
    needed, each = name in required(schema), sub(schema, "properties").get(name)
    facts = [*_expected(each, schema), *_if_empty(name, each, schema, values, needed=needed)]
    title = clean(name) + (" *" if needed else "")
    first, *rest = flow([f"{title}  {facts[0]}", *facts[1:]], width - 4, cut=False)
    about = described(each) if isinstance(each, dict) else ""
    below = [*rest, *_block(about, width - 4, _MOST_DESCRIPTION_LINES)]
    return [f"  {first}", *(f"    {line}" for line in below)]


def wrong_lines(message: str, hint: str | None, width: int, *, colour: bool) -> list[str]:
    """What is wrong with the line that was typed, below it."""
    first, *rest = wrapped(f"! {flat(message)}", width - 4, 9)
    lines = [f"  {paint('!', 'red', colour)}{first[1:]}", *(f"    {line}" for line in rest)]
    return lines + [f"    {line}" for line in (wrapped(flat(hint), width - 4, 4) if hint else ())]


def review_lines(
    key: str, schema: Schema, values: Mapping[str, Any], width: int, *, problem: str | None
) -> list[str]:
    """The whole answer, before it goes; `problem` is why it cannot go like this."""
    names = {name: clean(name) for name in dict.fromkeys([*sub(schema, "properties"), *values])}
    column = min(max(map(cell_width, names.values()), default=0), width // 3)
    end = ":" if names else " has no fields."
    head, *more = wrapped(f"Your answer to {flat(key)}{end}", width - 2, 4)
    lines = [head, *_indented(more)]
    for name, shown in names.items():
        value = _shown(values[name], name, schema) if name in values else "(left out)"
        first, *rest = wrapped(value, max(width - column - 4, 8), 40)
        lines.append(f"  {pad(shorten(shown, column), column)}  {first}")
        lines += [f"  {' ' * column}  {line}" for line in rest]
    if problem:
        lines += wrong_lines(problem, None, width, colour=False)
    edits = ("e edits",) if names else ()
    ways = [*(() if problem else ("Enter sends",)), *edits, *_LEAVING]
    return lines + flow(ways, width, cut=False)


def address_lines(
    url: object, host: str, warnings: Sequence[str], refused: str | None, width: int
) -> list[str]:
    """The whole address on one line, however long it is, so that it can be copied; then its host."""
    lines = [f"  {clean(url)}"] if isinstance(url, str) else []
    lines += _indented(wrapped(f"host: {clean(host)}", width - 2, 9)) if host else []
    for warning in warnings:
        lines += wrong_lines(warning, None, width, colour=False)
    if refused:
        lines += wrong_lines(
            f"{refused}, so nobody can agree to it here", None, width, colour=False
        )
        return lines + flow(["n says no", *_LEAVING[1:]], width, cut=False)
    lines += wrapped("Nothing is opened here. If you go there yourself, say so:", width, 3)
    return lines + flow(["y agrees to open it", "n says no", *_LEAVING[1:]], width, cut=False)


def unanswerable_lines(request: Request, width: int) -> list[str]:
    """A request of another kind, as it came."""
    lines = _indented(wrapped(flat(str(request.get("method"))), width - 2, 4))
    if parameters := sub(request, "params"):
        text = clean_json(json.dumps(parameters, ensure_ascii=False, indent=2, default=str))
        lines += _indented(_block(text, width - 2, _MOST_PARAMETER_LINES))
    return lines + wrapped("It cannot be answered by hand at the terminal.", width, 3)


def _block(text: str, width: int, most: int) -> list[str]:
    """Text of several lines, wrapped; blank lines at its ends are dropped."""
    lines = [
        piece
        for line in clean_block(text).expandtabs(4).strip("\n ").split("\n")
        for piece in wrapped(line.rstrip(), width, most)
    ]
    more = len(lines) - most
    if more > 1:  # a single one takes no more room than the word of it
        lines[most:] = [f"… and {more} more lines"]
    return lines if any(lines) else []


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}".rstrip() for line in lines]


def _expected(schema: Any, root: Schema) -> list[str]:
    """The choices with their numbers, else what to type in words."""
    options = offered(schema, root)
    lists = [each for each in alternatives(schema, root) if kind(each) == "array"]
    facts = [clean(describe(schema, root))]
    if options:
        numbers = countable(options)
        facts = [
            (f"{place} " if numbers else "") + _choice(option.value, option.title)
            for place, option in enumerate(options[:_MOST_CHOICES], 1)
        ]
        facts += [f"and {len(options) - _MOST_CHOICES} more"] * (len(options) > _MOST_CHOICES)
        facts += bounds(lists[0]) if lists else []
    elif facts == ["true or false"]:
        facts = ["yes or no"]
    return [*facts, *(["several with commas"] if lists else [])]


def _if_empty(
    name: str, each: Any, root: Schema, values: Mapping[str, Any], *, needed: bool
) -> list[str]:
    """What Enter alone does, and how a field that has a value is left out."""
    if name not in values:
        return [] if needed else ["Enter leaves it out"]
    takes = f"Enter takes {shorten(_shown(values[name], name, root), 30)}"
    return [takes] if needed else [takes, ":x leaves it out"]


def _shown(value: Any, name: str, root: Schema) -> str:
    """A value as people know it: by its title, where it is a choice; a list with commas."""
    each = sub(root, "properties").get(name)
    if isinstance(value, list):
        return ", ".join(_item(part, each, root) for part in value) or "(an empty list)"
    return _item(value, each, root)


def _item(value: Any, schema: Any, root: Schema) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == "":
        return "(an empty text)"
    for option in offered(schema, root):
        if option.value == value:
            return _choice(option.value, option.title)
    return json_word(value)


def _choice(value: Any, title: str) -> str:
    """`On hold (waitlist)`"""
    word = json_word(value)
    return word if flat(title) == word else f"{flat(title)} ({word})"
