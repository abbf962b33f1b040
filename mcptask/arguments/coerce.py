"""Turns what was typed into the type that a schema gives. Raises nothing but UsageError.

Where text is allowed it stays exactly as typed. The readers of the other types accept what can be
meant in one way only: `no` is false, `2o` and `3.0` are no integers, `1` is no boolean.
"""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from mcptask.errors import UsageError
from mcptask.nearest import nearest
from mcptask.protocol.schemas import (
    Schema,
    alternatives,
    choices,
    describe,
    items,
    kind,
    sub,
)

BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SHOWN = 60  # characters of a refused text in a message
_MISS = object()
# Where a text fits several types, the first of these gets it: `null` before JSON, text before all.
_ORDER = ("integer", "number", "boolean", "null", "array", "object")


def from_text(text: str, schema: Any, root: Schema, label: str) -> Any:
    """The value that `text` stands for. `label` is the name to put into the UsageError."""
    check_unicode(text, label)
    options = alternatives(schema, root)
    listed = [option for option in options if choices(option)]
    for option in listed:
        if (value := _chosen(text, option, label)) is not _MISS:
            return value
    kinds = {kind(option): option for option in options if option not in listed}
    if not kinds.keys() <= set(_ORDER):  # text, no type at all, or a type that JSON Schema lacks
        return text
    containers = kinds.keys() & {"array", "object"}
    for name in (name for name in _ORDER if name in kinds):
        try:
            value = _read(name, text, kinds[name], root, label)
        except UsageError:
            if len(containers) == 1 and kinds.keys() <= {*containers, "null"} and not listed:
                raise  # the only thing it can have been: then the reason helps
            continue
        if value is not _MISS:
            return value
    raise UsageError(
        f"{label}: expected {describe(schema, root)}, not {quoted(text)}",
        hint=nearest(text, [str(each.value) for option in listed for each in choices(option)]),
    )


def from_texts(texts: Sequence[str], schema: Any, root: Schema, label: str) -> list[Any]:
    """`name=a name=b`: the items of an array, each read on its own. UsageError for other types."""
    for option in alternatives(schema, root):
        if kind(option) == "array":
            return [
                from_text(text, _item(option, index), root, f"{label}[{index}]")
                for index, text in enumerate(texts)
            ]
    raise UsageError(f"{label} is given {len(texts)} times, but it is not a list")


def from_json(text: str, label: str) -> Any:
    """Strict JSON: no NaN, Infinity, number too large for JSON readers, or key given twice."""
    check_unicode(text, label)
    try:
        value = json.loads(
            text.removeprefix("\ufeff"),
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=_no_duplicates,
        )
        json.dumps(value, ensure_ascii=False).encode()  # "\ud800" is JSON, but no text
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UsageError(f"{label}: not valid JSON: {error.msg} ({place})") from None
    except UnicodeEncodeError:
        raise UsageError(f"{label}: the JSON holds half a character (a lone surrogate)") from None
    except RecursionError:
        raise UsageError(f"{label}: the JSON is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{label}: not valid JSON: {error}") from None
    return value


def check_unicode(text: str, label: str) -> None:
    """Arguments that were not UTF-8 arrive with surrogates in them, and could not be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{label}: not valid UTF-8 text") from None


def quoted(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")


def _chosen(text: str, schema: Schema, label: str) -> Any:
    """The value of the choice that `text` names: by its value, else by a title that only it has."""
    options = choices(schema)
    for option in options:
        if option.value == text or (not isinstance(option.value, str) and option.title == text):
            return option.value
    folded = [option for option in options if option.title.casefold() == text.casefold()]
    exact = [option for option in folded if option.title == text]
    found = exact or folded
    if len(found) > 1:
        values = ", ".join(str(option.value) for option in found)
        raise UsageError(f"{label}: {quoted(text)} is the title of several choices: {values}")
    return found[0].value if found else _MISS


def _read(name: str, text: str, schema: Schema, root: Schema, label: str) -> Any:
    if name == "array":
        return _array(text, schema, root, label)
    if name == "object":
        value = from_json(text, label)
        return value if isinstance(value, dict) else _MISS
    return _READERS[name](text)


def _array(text: str, schema: Schema, root: Schema, label: str) -> list[Any]:
    """A text with `[` in front is a whole JSON array; any other is the only item."""
    if text.lstrip().startswith("["):
        value = from_json(text, label)
        assert isinstance(value, list)
        return value
    return [from_text(text, _item(schema, 0), root, label)]


def _item(schema: Schema, index: int) -> Any:
    """The schema of one item of an array schema."""
    fixed = items(schema, "prefixItems")
    return fixed[index] if index < len(fixed) else sub(schema, "items")


def _integer(text: str) -> Any:
    if not _INTEGER.fullmatch(text):
        return _MISS
    try:
        return int(text)
    except ValueError:  # thousands of digits: Python refuses to read or write them
        return _MISS


def _number(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return _integer(text)
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else _MISS


def _boolean(text: str) -> Any:
    return BOOLEANS.get(text.lower(), _MISS)


def _null(text: str) -> Any:
    return None if text == "null" else _MISS


_READERS = {"integer": _integer, "number": _number, "boolean": _boolean, "null": _null}


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    if math.isinf(value := float(text)):
        raise ValueError("a number is too large")
    return value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {quoted(twice)} is there twice")
    return result
