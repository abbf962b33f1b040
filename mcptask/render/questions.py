"""What a task asks, in brief. Text only; asks nobody, validates nothing.

A question is one entry of `inputRequests`: a key that the server chose, and a request object (`method`,
`params`). The fields of a form are read leniently: this is for showing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcptask.protocol.schemas import Schema, choices, is_schema, kind, required, sub
from mcptask.protocol.task import ELICITATION
from mcptask.render.answer_line import shell
from mcptask.render.cells import cell_width, pad
from mcptask.render.text import clean, first_line, flat

Request = Mapping[str, Any]

_MOST_FIELDS = 12
_MOST_CHOICES = 12
# Bounds of a field's schema → how they read.
_BOUNDS = (
    ("minLength", "at least {} characters"),
    ("maxLength", "up to {} characters"),
    ("minimum", "from {}"),
    ("maximum", "up to {}"),
    ("minItems", "at least {} of them"),
    ("maxItems", "up to {} of them"),
    ("format", "{}"),
)


def task_name(ref: int | None, task_id: str) -> str:
    """What to type for a task: its number, else its id as the shell needs it."""
    return str(ref) if ref is not None else shell(task_id)


def to_type(names: Sequence[str], where: str = "") -> str:
    """What follows the name of a command that is about these tasks (as `task_name` has them): `7`, or
    `tsk_8f21 -s https://…`. `where` are the options that find those that are not stored here.
    """
    options = [where] if where else []
    if any(name.startswith("-") for name in names):
        return " ".join([*options, "--", *names])
    return " ".join([*names, *options])


def question(server: str, key: str, request: Request) -> str:
    """`studio asks (approve): 4 bookings fit nowhere. What should happen to them?`"""
    return f"{clean(server)} asks ({clean(key)}): {asked(request)}"


def fields(request: Request) -> list[str]:
    """One line for each field of a form, aligned: `action *  waitlist · keep`; `*` = required.

    Of an address, what a person could overlook in it (A12.13).
    """
    if sub(request, "params").get("mode") == "url":
        from mcptask.protocol.addresses import read_address  # few questions have an address

        address = read_address(sub(request, "params").get("url"))
        return [
            f"! {clean(text)}" for text in (*address.warnings, *filter(None, [address.refused]))
        ]
    properties, needed = sub(_form(request), "properties"), required(_form(request))
    names = {name: clean(name) + (" *" if name in needed else "") for name in properties}
    one_more = len(properties) == _MOST_FIELDS + 1  # takes no more room than the word of it
    shown = list(properties.items())[: _MOST_FIELDS + one_more]
    width = max((cell_width(names[name]) for name, _ in shown), default=0)
    lines = [f"{pad(names[name], width)}  {field(schema)}".rstrip() for name, schema in shown]
    if len(properties) > len(shown):
        lines.append(f"and {len(properties) - len(shown)} more fields")
    return lines


def field(schema: Any) -> str:
    """A field's schema in a few words: its choices or its type, bounds, default and description."""
    if not is_schema(schema):
        return ""
    what = _choices(schema) or _type(schema)
    limits = bounds(schema)
    if "default" in schema:
        limits.append(f"default {json_word(schema['default'])}")
    about = first_line(described(schema))
    return ", ".join([what, *limits]) + (f"  ({about})" if about else "")


def bounds(schema: Schema) -> list[str]:
    return [words.format(clean(str(schema[key]))) for key, words in _BOUNDS if key in schema]


def described(schema: Schema) -> str:
    """What the server says about a field, not cleaned."""
    return str(schema.get("description") or schema.get("title") or "")


def asked(request: Request) -> str:
    """What a request says to the person, on one line."""
    parameters = sub(request, "params")
    method = request.get("method")
    message = flat(str(parameters.get("message") or ""))
    if method == ELICITATION and parameters.get("mode") == "url":
        address = clean(str(parameters.get("url") or "(no address)"))
        return f"{message or 'open this address'} → {address}"
    return message or f"(a {clean(str(method))} request)"


def json_word(value: Any) -> str:
    """A JSON value as one would type it: text bare, everything else as JSON."""
    if isinstance(value, str):
        return clean(value)
    return clean(json.dumps(value, ensure_ascii=False, default=str))


def _choices(schema: Schema) -> str:
    several = kind(schema) == "array"
    values = [
        json_word(choice.value) for choice in choices(sub(schema, "items") if several else schema)
    ]
    if not values:
        return "true · false" if kind(schema) == "boolean" else ""
    shown = " · ".join(values[:_MOST_CHOICES])
    more = f" · and {len(values) - _MOST_CHOICES} more" if len(values) > _MOST_CHOICES else ""
    return ("any of " if several else "") + shown + more


def _type(schema: Schema) -> str:
    kinds = schema.get("type")
    name = " or ".join(map(str, kinds)) if isinstance(kinds, list) else kind(schema)
    inner = sub(schema, "items")
    return clean(name) + (f" of {_type(inner)}" if "type" in inner else "")


def _form(request: Request) -> Schema:
    return sub(sub(request, "params"), "requestedSchema")
