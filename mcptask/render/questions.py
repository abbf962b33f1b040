"""What a task asks, in brief. Text only; asks nobody, validates nothing.

A question is one entry of `inputRequests`: a key that the server chose, and a request object (`method`,
`params`). The fields of a form are read leniently: this is for showing.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcptask.protocol.questions import Answer
from mcptask.protocol.schemas import (
    Schema,
    alternatives,
    describe,
    is_schema,
    kind,
    offered,
    required,
    sub,
)
from mcptask.protocol.task import ELICITATION
from mcptask.render.answer_line import serving_option, shell
from mcptask.render.cells import cell_width, pad
from mcptask.render.text import clean, first_line, flat

Request = Mapping[str, Any]

# Of a key that was another question before (A12.3); of answers (A12.4, A12.8).
ANOTHER = ", another question than before"
APPLYING = "sent, not yet applied"
UNACKNOWLEDGED = "sent, not yet acknowledged"

_LONGEST_MESSAGE = 5000  # characters
_MOST_FIELDS = 12
_MOST_CHOICES = 12


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


def served_by(ref: int | None, task_id: str, request: Request, where: str = "") -> str | None:
    """`mcptask watch 7 --answer-with COMMAND`, for a request that few would answer by hand."""
    option = serving_option(request)
    if option is None:
        return None
    return f"mcptask watch {to_type([task_name(ref, task_id)], f'{option} {where}'.rstrip())}"


def question(server: str, key: str, request: Request, *, changed: bool = False) -> str:
    """`studio asks (approve): 4 bookings fit nowhere. What should happen to them?`

    `changed`: under this key it asked something else before (A12.3).
    """
    return f"{clean(server)} asks ({clean(key)}){ANOTHER * changed}: {asked(request)}"


def sent(key: str, answer: Answer) -> str:
    """What has become of an answer whose question the task still lists."""
    return f"{clean(key)}: {APPLYING if answer.acknowledged else UNACKNOWLEDGED}"


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
    told = [(name, field(schema, _form(request))) for name, schema in shown]
    lines = [f"{pad(names[name], width)}  {what}".rstrip() for name, what in told]
    if len(properties) > len(shown):
        lines.append(f"and {len(properties) - len(shown)} more fields")
    return lines


def field(schema: Any, root: Schema) -> str:
    """A field's schema in a few words: its choices or what is expected, its default and description."""
    if not is_schema(schema):
        return ""
    facts = _choices(schema, root) or [clean(describe(schema, root))]
    if "default" in schema:
        facts.append(f"default {json_word(schema['default'])}")
    about = first_line(described(schema))
    return ", ".join(facts) + (f"  ({about})" if about else "")


def bounds(schema: Schema) -> list[str]:
    """How many of the choices a list holds: `1 to 3 of them`."""
    low, high = (clean(str(schema.get(key, ""))) for key in ("minItems", "maxItems"))
    if low and high:
        return [f"{low} to {high} of them"]
    return [
        f"at {which} {size} of them" for which, size in (("least", low), ("most", high)) if size
    ]


def described(schema: Schema) -> str:
    """What the server says about a field, not cleaned."""
    return str(schema.get("description") or schema.get("title") or "")


def asked(request: Request) -> str:
    """What a request says to the person, on one line."""
    parameters = sub(request, "params")
    method = request.get("method")
    message = _bounded(flat(str(parameters.get("message") or "")))
    if method == ELICITATION and parameters.get("mode") == "url":
        address = clean(str(parameters.get("url") or "(no address)"))
        return f"{message or 'open this address'} → {address}"
    return message or f"(a {clean(str(method))} request)"


def _bounded(text: str) -> str:
    more = len(text) - _LONGEST_MESSAGE
    return text if more <= 0 else f"{text[:_LONGEST_MESSAGE]}… and {more} more characters"


def json_word(value: Any) -> str:
    """A JSON value as one would type it: text bare, everything else as JSON."""
    if isinstance(value, str):
        return clean(value)
    return clean(json.dumps(value, ensure_ascii=False, default=str))


def _choices(schema: Schema, root: Schema) -> list[str]:
    """What may be chosen, and how many of it; [] where anything else may be said too."""
    only, *others = alternatives(schema, root)
    values = [json_word(choice.value) for choice in offered(schema, root)]
    if others or not values:
        return []
    several = kind(only) == "array"
    shown = " · ".join(values[:_MOST_CHOICES])
    more = f" · and {len(values) - _MOST_CHOICES} more" if len(values) > _MOST_CHOICES else ""
    return [("any of " if several else "") + shown + more, *(bounds(only) if several else [])]


def _form(request: Request) -> Schema:
    return sub(sub(request, "params"), "requestedSchema")
