"""The whole of JSON Schema, by the `jsonschema` package, for schemas that use rare keywords.

Imported only then, inside a function. A `$ref` to another document is refused, never fetched.
"""

import re
from functools import partial
from typing import Any

from mcptask.arguments.formats import FORMATS, fits_format
from mcptask.protocol.schemas import Schema, is_local, is_schema, items, pointed

# Keywords that validation.py leaves to the `jsonschema` package.
RARE = frozenset(
    {
        "$dynamicRef",
        "$recursiveRef",
        "contains",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "if",
        "maxContains",
        "maxProperties",
        "minContains",
        "minProperties",
        "multipleOf",
        "not",
        "patternProperties",
        "prefixItems",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    }
)
# Where schemas lie inside a schema.
_ONE = ("items", "additionalProperties", "additionalItems")
_LISTS = ("anyOf", "oneOf", "allOf")
_TABLES = ("properties", "$defs", "definitions")

_LONGEST = 200  # characters of a message: it may repeat the whole value


class Unusable(Exception):
    """The schema cannot be used; the text says why."""


def needs_all(root: Schema) -> bool:
    """Does any part use a keyword, or a kind of `$ref`, that validation.py does not handle?"""
    waiting: list[Any] = [root]
    pointed_at: set[str] = set()
    while waiting:
        part = waiting.pop()
        if not is_schema(part):
            continue
        if RARE & part.keys() or ("$id" in part and part is not root):
            return True
        if isinstance(part.get("items"), list):  # the older spelling of prefixItems
            return True
        if "$ref" in part:
            ref = part["$ref"]
            if not is_local(ref):
                return True
            if ref not in pointed_at:
                pointed_at.add(ref)
                waiting.append(pointed(ref, root))
        waiting += [part.get(key) for key in _ONE]
        for key in _LISTS:
            waiting += items(part, key)
        for key in _TABLES:
            table = part.get(key)
            waiting += table.values() if is_schema(table) else ()
    return False


def full_problem(value: Any, schema: Schema, label: str, *, formats: bool) -> str | None:
    """The most telling problem as one sentence, or None. Raises Unusable and RecursionError."""
    import jsonschema
    from jsonschema.exceptions import SchemaError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    checker = jsonschema.FormatChecker(formats=())
    for name in FORMATS if formats else ():
        checker.checks(name)(partial(fits_format, name))
    registry: Registry[Any] = Registry()  # knows no document and fetches none
    try:
        kind.check_schema(dict(schema))
        validator = kind(schema, registry=registry, format_checker=checker)
        error = best_match(validator.iter_errors(value))
    except Unresolvable as problem:
        ref = str(problem.ref)[:_LONGEST]
        raise Unusable(f"refers to {ref!r}, which it lacks and is not fetched") from None
    except (SchemaError, re.error, ValueError, TypeError, LookupError, ArithmeticError):
        raise Unusable("is not valid") from None
    if error is None:
        return None
    message = error.message
    if len(message) > _LONGEST:
        message = message[:_LONGEST] + "…"
    return f"{_place(label, error.absolute_path)}: {message}"


def _place(label: str, path: Any) -> str:
    place = label
    for part in path:
        place += f"[{part}]" if isinstance(part, int) else f".{part}" if place else str(part)
    return place
