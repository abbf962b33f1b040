"""The part of JSON Schema that tool arguments and elicitation forms use, checked by hand.

Written out because jsonschema costs more to import than the whole of this server.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from typing import Any

from mcptask.demo.jsonrpc import Json


def _is_integer(value: object) -> bool:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return whole and not isinstance(value, bool)


TYPES: dict[str, Callable[[object], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def _type_problem(value: object, wanted: Any) -> str | None:
    names = wanted if isinstance(wanted, list) else [wanted]
    if any(TYPES[name](value) for name in names):
        return None
    return f"must be of type {' or '.join(names)}"


def _choice_problem(value: object, options: list[Json]) -> str | None:
    """`oneOf`/`anyOf` in the only form that elicitation forms know: `[{const, title}, …]`."""
    choices = [option.get("const") for option in options]
    return None if value in choices else f"must be one of {choices}"


def _unique(value: list[Any], wanted: bool) -> bool:
    return not wanted or all(item not in value[:index] for index, item in enumerate(value))


# The formats of elicitation forms (Elicitation, "Requested Schema"); RFC 3339 wants an offset.
FORMATS: dict[str, tuple[str, Callable[[str], object]]] = {
    "email": (r"[^@\s]+@[^@\s]+", str),
    "uri": (r"[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-\[\]_a-z~]+", str),
    "date": (r"[0-9]{4}(-[0-9]{2}){2}", date.fromisoformat),
    "date-time": (
        r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})",
        datetime.fromisoformat,
    ),
}


def _has_format(value: str, name: str) -> bool:
    shape, read = FORMATS[name]
    try:
        return re.fullmatch(shape, value) is not None and bool(read(value))
    except ValueError:  # a day or an hour that no calendar has
        return False


# keyword → (the Python types it applies to, holds?, what to say).
RULES: dict[str, tuple[type | tuple[type, ...], Callable[[Any, Any], bool], str]] = {
    "minLength": (str, lambda value, bound: len(value) >= bound, "must have {} characters or more"),
    "maxLength": (str, lambda value, bound: len(value) <= bound, "must have {} characters or less"),
    "pattern": (str, lambda value, regex: re.search(regex, value) is not None, "must match {}"),
    "format": (str, _has_format, "must be a valid {}"),
    "minimum": ((int, float), lambda value, bound: value >= bound, "must be {} or more"),
    "maximum": ((int, float), lambda value, bound: value <= bound, "must be {} or less"),
    "minItems": (list, lambda value, bound: len(value) >= bound, "must have {} items or more"),
    "maxItems": (list, lambda value, bound: len(value) <= bound, "must have {} items or less"),
    "uniqueItems": (list, _unique, "must not have an item twice"),
    "enum": (object, lambda value, choices: value in choices, "must be one of {}"),
}


def _own_problems(value: Any, schema: Json) -> Iterator[str]:
    for keyword, (types, holds, text) in RULES.items():
        if keyword in schema and isinstance(value, types) and not holds(value, schema[keyword]):
            yield text.format(schema[keyword])
    for keyword in ("oneOf", "anyOf"):
        problem = _choice_problem(value, schema[keyword]) if keyword in schema else None
        if problem:
            yield problem


def problem(value: Any, schema: Json, name: str, kind: str = "argument") -> str | None:
    """The first thing wrong with `value`, in a sentence that names the argument; None if nothing.

    `name` is the path so far ("" for the whole object), `kind` the word for a member of it.
    """
    what = f"{kind} '{name}'" if name else f"the {kind}s"
    wrong_type = _type_problem(value, schema["type"]) if "type" in schema else None
    if wrong_type:
        return f"{what} {wrong_type}"
    for text in _own_problems(value, schema):
        return f"{what} {text}"
    if isinstance(value, dict):
        return _members_problem(value, schema, name, kind)
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        found = (
            problem(item, schema["items"], f"{name}[{index}]", kind)
            for index, item in enumerate(value)
        )
        return next((text for text in found if text), None)
    return None


def _members_problem(value: Json, schema: Json, name: str, kind: str) -> str | None:
    prefix = f"{name}." if name else ""
    properties: Json = schema.get("properties", {})
    for key in schema.get("required", []):
        if key not in value:
            return f"missing {kind} '{prefix}{key}'"
    for key, member in value.items():
        if key in properties:
            found = problem(member, properties[key], prefix + key, kind)
            if found:
                return found
        elif schema.get("additionalProperties") is False:
            return f"unknown {kind} '{prefix}{key}'; known: {', '.join(properties)}"
    return None


def with_defaults(value: Json, schema: Json) -> Json:
    """`value` with the defaults of the schema's properties where it is silent."""
    properties: Json = schema.get("properties", {})
    defaults = {key: member["default"] for key, member in properties.items() if "default" in member}
    return defaults | value
