"""How each field of a form is filled in at a terminal: chosen from a list, or typed; and which schemas are no
form at all, so that the whole answer is written as JSON. Reads no terminal."""

import json
from typing import Any, NamedTuple

from mcptask.protocol.schemas import Choice, Schema, alternatives, choices, kind, required, sub

_SCALARS = frozenset({"string", "integer", "number", "boolean", "null", "any"})
_BOOLEANS = (Choice(True, "yes"), Choice(False, "no"))


class Options(NamedTuple):
    """What a value is chosen from: one of it, or `several`."""

    choices: tuple[Choice, ...]
    several: bool


def fits_form(schema: Schema) -> bool:
    """Can every answer that the schema asks for be given field by field?"""
    fields = sub(schema, "properties")
    listed = fields or not any(key in schema for key in ("$ref", "anyOf", "oneOf", "allOf"))
    return (
        bool(listed)
        and set(required(schema)) <= fields.keys()
        and all(_is_simple(each, schema) for each in fields.values())
    )


def options_of(schema: Any, root: Schema) -> Options | None:
    """What a field's value is chosen from; None where it is typed."""
    found = [each for each in alternatives(schema, root) if kind(each) != "null"]
    if found and all(map(_choices, found)):
        return Options(tuple(choice for each in found for choice in _choices(each)), several=False)
    if len(found) == 1 and kind(found[0]) == "array":
        inner = alternatives(sub(found[0], "items"), root)
        if all(map(_choices, inner)):
            values = tuple(choice for each in inner for choice in _choices(each))
            return Options(values, several=True)
    return None


def as_typed(value: Any) -> str:
    """What one would type for a value: read again, it is the same."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(map(_is_plain, value)):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _is_plain(item: Any) -> bool:
    """Is it, between commas, itself?"""
    return isinstance(item, str) and item == item.strip() != "" and not set(item) & set(",[")


def _choices(schema: Schema) -> tuple[Choice, ...]:
    if listed := choices(schema):
        return tuple(listed)
    return _BOOLEANS if kind(schema) == "boolean" else ()


def _is_simple(schema: Any, root: Schema) -> bool:
    """A text, a number, yes or no, a choice, or a list of those; or nothing."""
    return all(
        _is_scalar(each) or (kind(each) == "array" and _holds_scalars(each, root))
        for each in alternatives(schema, root)
    )


def _is_scalar(schema: Schema) -> bool:
    return all(not isinstance(each.value, dict | list) for each in choices(schema)) and (
        bool(choices(schema)) or kind(schema) in _SCALARS
    )


def _holds_scalars(schema: Schema, root: Schema) -> bool:
    inner = schema.get("items")
    return isinstance(inner, dict) and all(map(_is_scalar, alternatives(inner, root)))
