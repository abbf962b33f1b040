"""Holds a value to a JSON Schema, before it is sent. Nothing is ever fetched.

The common keywords are checked here, in words for people; a schema that uses rarer ones goes to the
`jsonschema` package as a whole, whose import takes longer than everything else a command does.
"""

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from mcptask.commands._coerce import quoted
from mcptask.errors import UsageError
from mcptask.protocol.schemas import (
    Schema,
    describe,
    is_local,
    is_schema,
    items,
    pointed,
    required,
)

# Keywords left to the `jsonschema` package.
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
    }
)
# Where schemas lie inside a schema.
_ONE = ("items", "additionalProperties", "additionalItems")
_LISTS = ("anyOf", "oneOf", "allOf")
_TABLES = ("properties", "$defs", "definitions")

# Steps of one check: a schema whose branches lead back to itself doubles the work at each turn.
MOST_STEPS = 1_000_000
DEEPEST_VALUE = 200


@dataclass(frozen=True)
class _Rules:
    root: Schema
    formats: bool
    steps: Iterator[int] = field(default_factory=count)


def problem(
    value: Any, schema: Schema, label: str, *, formats: bool = False, way_out: str | None = None
) -> str | None:
    """The first thing that is wrong with `value`, as a sentence that starts with its place; else None.

    `schema` is also the root for its `$ref`s. `formats`: also hold texts to `format`, as an answer
    to a question must be. Raises UsageError, with `way_out` as its hint, when the schema itself
    cannot be used.
    """
    if _is_rare(schema):
        from mcptask.commands._full_validation import full_problem

        return full_problem(value, schema, label, way_out)
    try:
        return _problem(value, schema, _Rules(schema, formats), label, 0)
    except re.error:
        reason = "has a pattern that is no regular expression"
    except RecursionError:
        reason = "goes round in circles, or the value is nested too deeply"
    raise UsageError(f"{label or 'the arguments'}: the schema {reason}", hint=way_out)


def _is_rare(schema: Any) -> bool:
    """Does any part use a keyword, or a kind of `$ref`, that is not handled here?"""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not is_schema(part):
            continue
        if RARE & part.keys() or ("$ref" in part and not is_local(part["$ref"])):
            return True
        if isinstance(part.get("items"), list):  # the older spelling of prefixItems
            return True
        waiting += [part.get(key) for key in _ONE]
        for key in _LISTS:
            waiting += items(part, key)
        for key in _TABLES:
            table = part.get(key)
            waiting += table.values() if is_schema(table) else ()
    return False


def _problem(value: Any, schema: Any, rules: _Rules, at: str, depth: int) -> str | None:
    if schema is False:
        return f"{at}: no value is allowed here"
    if not is_schema(schema):
        return None
    if depth > DEEPEST_VALUE or next(rules.steps) > MOST_STEPS:
        raise RecursionError
    for keyword, check in _CHECKS.items():
        if keyword in schema and (found := check(schema, value, rules, at)):
            return found
    if "$ref" in schema:
        target = pointed(schema["$ref"], rules.root)
        if found := _problem(value, target, rules, at, depth + 1):
            return found
    return _combined(value, schema, rules, at, depth) or _inside(value, schema, rules, at, depth)


def _combined(value: Any, schema: Schema, rules: _Rules, at: str, depth: int) -> str | None:
    for branch in items(schema, "allOf"):
        if found := _problem(value, branch, rules, at, depth + 1):
            return found
    for keyword, most in (("anyOf", math.inf), ("oneOf", 1)):
        branches = items(schema, keyword)
        found_in = [_problem(value, branch, rules, at, depth + 1) for branch in branches]
        fitting = found_in.count(None)
        if branches and fitting == 0:
            # With one branch besides null, its own words say more than the list of both.
            typed = [each for each in found_in if each and not each.endswith("expected null")]
            return typed[0] if len(typed) == 1 else _expected(schema, rules, at)
        if fitting > most:
            return f"{at}: fits {fitting} of the alternatives, of which only one may fit"
    return None


def _inside(value: Any, schema: Schema, rules: _Rules, at: str, depth: int) -> str | None:
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            if found := _problem(item, schema["items"], rules, f"{at}[{index}]", depth + 1):
                return found
    if isinstance(value, dict):
        named = schema.get("properties")
        known = named if is_schema(named) else {}
        for name, item in value.items():
            inner = known.get(name, schema.get("additionalProperties", True))
            if inner is False and name not in known:
                return f"{at}: unknown name {quoted(name)}"
            if found := _problem(item, inner, rules, f"{at}.{name}" if at else name, depth + 1):
                return found
    return None


def _expected(schema: Schema, rules: _Rules, at: str) -> str:
    return f"{at}: expected {describe(schema, rules.root)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def same(one: Any, other: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, but true is not 1."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _type(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    known = [name for name in types if isinstance(name, str) and name in _TYPES]
    fits = not known or len(known) < len(types) or any(_TYPES[name](value) for name in known)
    return None if fits else _expected(schema, rules, at)


def _enum(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    allowed = items(schema, "enum")
    fits = not allowed or any(same(value, each) for each in allowed)
    return None if fits else _expected(schema, rules, at)


def _const(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    return None if same(value, schema["const"]) else _expected(schema, rules, at)


def _bound(
    keyword: str, measured: type | tuple[type, ...], bad: Callable[[Any, Any], bool], words: str
) -> Callable[[Schema, Any, _Rules, str], str | None]:
    """A check that compares a number, or the length of a text or list, with the keyword's number."""

    def check(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
        limit = schema[keyword]
        if not _is_number(limit) or not isinstance(value, measured) or isinstance(value, bool):
            return None
        size = len(value) if isinstance(value, str | list) else value
        return f"{at}: {words.format(limit=limit)}" if bad(size, limit) else None

    return check


def _pattern(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    pattern = schema["pattern"]
    if not isinstance(pattern, str) or not isinstance(value, str) or re.search(pattern, value):
        return None
    return f"{at}: must match the pattern {quoted(pattern)}"


def _unique(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    if schema["uniqueItems"] is not True or not isinstance(value, list):
        return None
    different = {json.dumps(item, sort_keys=True) for item in value}
    return f"{at}: the same item is there twice" if len(different) < len(value) else None


def _required(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    if not isinstance(value, dict):
        return None
    missing = [name for name in required(schema) if name not in value]
    return f"{at}: {', '.join(missing)} missing" if missing else None


def _is_uri(text: str) -> bool:
    parts = urlsplit(text)
    return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"\s", text)


_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_FORMATS: dict[str, Callable[[str], object]] = {
    "email": re.compile(r"[^@\s]+@[^@\s]+").fullmatch,
    "uri": _is_uri,
    "date": lambda text: _DATE.fullmatch(text) and date.fromisoformat(text),
    "date-time": lambda text: _DATE_TIME.fullmatch(text) and datetime.fromisoformat(text.upper()),
}


def _format(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    reader = _FORMATS.get(str(schema["format"]))
    if reader is None or not rules.formats or not isinstance(value, str):
        return None
    try:
        fits = bool(reader(value))
    except ValueError:
        fits = False
    return None if fits else f"{_expected(schema, rules, at)}, not {quoted(value)}"


_CHECKS: dict[str, Callable[[Schema, Any, _Rules, str], str | None]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "minimum": _bound("minimum", (int, float), lambda n, m: n < m, "must be at least {limit}"),
    "maximum": _bound("maximum", (int, float), lambda n, m: n > m, "must be at most {limit}"),
    "exclusiveMinimum": _bound(
        "exclusiveMinimum", (int, float), lambda n, m: n <= m, "must be more than {limit}"
    ),
    "exclusiveMaximum": _bound(
        "exclusiveMaximum", (int, float), lambda n, m: n >= m, "must be less than {limit}"
    ),
    "minLength": _bound("minLength", str, lambda n, m: n < m, "needs {limit} characters or more"),
    "maxLength": _bound("maxLength", str, lambda n, m: n > m, "takes {limit} characters at most"),
    "minItems": _bound("minItems", list, lambda n, m: n < m, "needs {limit} items or more"),
    "maxItems": _bound("maxItems", list, lambda n, m: n > m, "takes {limit} items at most"),
    "pattern": _pattern,
    "format": _format,
    "uniqueItems": _unique,
    "required": _required,
}
