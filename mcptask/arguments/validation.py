"""Holds a value to a JSON Schema (2020-12), before it is sent. Nothing is ever fetched.

The common keywords are checked here, in words for people; a schema that uses rarer ones goes to the
`jsonschema` package as a whole, whose import takes longer than everything else a command does.

A server's schema is seldom perfect, and what the server makes of it is the server's business. So:

* a keyword whose value is malformed, and a type that JSON Schema lacks, count as absent here;
* `$schema` does not change what the keywords mean (to `jsonschema` it does);
* `format` is held to only where the caller asks for it;
* a `pattern` is read as Python reads it, not as ECMA 262 has it.

A schema that takes more than a few seconds of computing, for instance by a pattern that backtracks
without end, is given up.
"""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from mcptask.arguments.coerce import quoted
from mcptask.arguments.formats import fits_format
from mcptask.arguments.full_validation import Unusable, full_problem, needs_all
from mcptask.arguments.limit import cpu_limit
from mcptask.errors import UsageError
from mcptask.protocol.schemas import (
    Schema,
    describe,
    is_schema,
    items,
    required,
    target,
)

SECONDS = 3.0  # of computing for one check
DEEPEST_VALUE = 200


@dataclass(frozen=True)
class _Rules:
    root: Schema
    formats: bool


def problem(
    value: Any, schema: Schema, label: str, *, formats: bool = False, way_out: str | None = None
) -> str | None:
    """The first thing that is wrong with `value`, as a sentence that starts with its place; else None.

    `schema` is also the root for its `$ref`s. `formats`: also hold texts to `format`, as an answer
    to a question must be. Raises UsageError, with `way_out` as its hint, when the schema itself
    cannot be used.
    """
    try:
        with cpu_limit(SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of `re`, about a server's pattern
            if needs_all(schema):
                return full_problem(value, schema, label, formats=formats)
            return _problem(value, schema, _Rules(schema, formats), label, 0)
    except Unusable as unusable:
        reason = str(unusable)
    except (re.error, OverflowError):
        reason = "has a pattern that is no regular expression"
    except RecursionError:
        reason = "goes round in circles, or the value is nested too deeply"
    except TimeoutError:
        reason = "takes too long to check"
    place = f"{label}: " if label else ""
    raise UsageError(f"{place}the schema {reason}", hint=way_out)


def _problem(value: Any, schema: Any, rules: _Rules, at: str, depth: int) -> str | None:
    if schema is False:
        return f"{at}: no value is allowed here"
    if not is_schema(schema):
        return None
    if depth > DEEPEST_VALUE:
        raise RecursionError
    for keyword, check in _CHECKS.items():
        if keyword in schema and (found := check(schema, value, rules, at)):
            return found
    if "$ref" in schema and (found := _referred(value, schema["$ref"], rules, at, depth)):
        return found
    return _combined(value, schema, rules, at, depth) or _inside(value, schema, rules, at, depth)


def _referred(value: Any, ref: str, rules: _Rules, at: str, depth: int) -> str | None:
    try:
        there = target(ref, rules.root)
    except LookupError:
        raise Unusable(f"refers to {quoted(ref)}, which it lacks") from None
    return _problem(value, there, rules, at, depth + 1)


def _combined(value: Any, schema: Schema, rules: _Rules, at: str, depth: int) -> str | None:
    def check(branch: Any) -> str | None:
        return _problem(value, branch, rules, at, depth + 1)

    for branch in items(schema, "allOf"):
        if found := check(branch):
            return found
    if branches := items(schema, "anyOf"):
        unfit = list(takewhile(bool, map(check, branches)))
        if len(unfit) == len(branches):
            return _telling(unfit) or _expected(schema, rules, at)
    if branches := items(schema, "oneOf"):
        unfit = [found for found in map(check, branches) if found]
        fitting = len(branches) - len(unfit)
        if fitting == 0:
            return _telling(unfit) or _expected(schema, rules, at)
        if fitting > 1:
            return f"{at}: fits {fitting} of the alternatives, of which only one may fit"
    return None


def _telling(unfit: list[str | None]) -> str | None:
    """With one branch besides null, its own words say more than the list of both."""
    typed = [found for found in unfit if found and not found.endswith("expected null")]
    return typed[0] if len(typed) == 1 else None


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


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, but true is not 1."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _type(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    known = [name for name in types if isinstance(name, str) and name in _TYPES]
    fits = not known or len(known) < len(types) or any(_TYPES[name](value) for name in known)
    return None if fits else _expected(schema, rules, at)


def _enum(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    allowed = schema["enum"]
    if not isinstance(allowed, list) or any(_same(value, each) for each in allowed):
        return None
    return _expected(schema, rules, at) if allowed else f"{at}: no value is allowed here"


def _const(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    return None if _same(value, schema["const"]) else _expected(schema, rules, at)


def _bound(
    keyword: str, measured: type | tuple[type, ...], bad: Callable[[Any, Any], bool], words: str
) -> Callable[[Schema, Any, _Rules, str], str | None]:
    """A check that compares a number, or the length of a text or list, with the keyword's number."""

    def check(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
        limit = schema[keyword]
        if not _is_number(limit) or not isinstance(value, measured) or isinstance(value, bool):
            return None
        size = len(value) if isinstance(value, str | list) else value
        s = "" if limit == 1 else "s"
        return f"{at}: {words.format(limit=limit, s=s)}" if bad(size, limit) else None

    return check


def _pattern(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    pattern = schema["pattern"]
    if not isinstance(pattern, str) or not isinstance(value, str) or re.search(pattern, value):
        return None
    return f"{at}: must match the pattern {quoted(pattern)}"


def _required(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    if not isinstance(value, dict):
        return None
    missing = [name for name in required(schema) if name not in value]
    return f"{at}: {', '.join(missing)} missing" if missing else None


def _format(schema: Schema, value: Any, rules: _Rules, at: str) -> str | None:
    if not rules.formats or fits_format(schema["format"], value):
        return None
    return f"{_expected(schema, rules, at)}, not {quoted(value)}"


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
    "minLength": _bound(
        "minLength", str, lambda n, m: n < m, "needs at least {limit} character{s}"
    ),
    "maxLength": _bound("maxLength", str, lambda n, m: n > m, "takes at most {limit} character{s}"),
    "minItems": _bound("minItems", list, lambda n, m: n < m, "needs at least {limit} of them"),
    "maxItems": _bound("maxItems", list, lambda n, m: n > m, "takes at most {limit} of them"),
    "pattern": _pattern,
    "format": _format,
    "required": _required,
}
