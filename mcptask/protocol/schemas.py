"""Reads the JSON Schemas that servers send: `$ref`, alternatives, choices, expectations in words.

A schema is data from outside: any part of it may be malformed, hostile or missing. What cannot be
understood counts as absent here, and nothing is ever fetched.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeGuard
from urllib.parse import unquote

Schema = Mapping[str, Any]

# Bounds on what a schema can make us do.
MOST_ALTERNATIVES = 32
DEEPEST = 12
MOST_LISTED = 20
LONGEST_WORDS = 1000  # characters: alternatives inside lists inside lists multiply


class Choice(NamedTuple):
    """A value that may be sent, and what people call it."""

    value: Any
    title: str


def is_schema(thing: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(thing, dict)


def sub(schema: Schema, key: str) -> dict[str, Any]:
    """The object under `key`, or {}."""
    value = schema.get(key)
    return value if is_schema(value) else {}


def items(schema: Schema, key: str) -> list[Any]:
    """The list under `key`, or []."""
    value = schema.get(key)
    return value if isinstance(value, list) else []


def is_local(ref: Any) -> bool:
    return isinstance(ref, str) and (ref == "#" or ref.startswith("#/"))


def target(ref: str, root: Schema) -> Any:
    """What a local `$ref` (`#/$defs/Room`) points at. LookupError when it points nowhere."""
    place: Any = root
    for part in ref[2:].split("/") if ref != "#" else ():
        if isinstance(place, list):  # generators refer into anyOf: `#/properties/a/anyOf/0`
            place = {str(index): each for index, each in enumerate(place)}
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if not isinstance(place, dict):
            raise LookupError(ref)
        place = place[key]
    return place


def pointed(ref: Any, root: Schema) -> dict[str, Any]:
    """The schema that a local `$ref` points at; {} when it is not local or points at none."""
    try:
        place = target(ref, root) if is_local(ref) else {}
    except LookupError:
        return {}
    return place if is_schema(place) else {}


def alternatives(schema: Any, root: Schema) -> list[dict[str, Any]]:
    """The simple schemas that a value may follow: `$ref`, anyOf, oneOf, allOf, type lists undone.

    Good for reading a typed text, not for validation: allOf is merged keyword by keyword.
    """
    return list(islice(_alternatives(schema, root, 0), MOST_ALTERNATIVES))


def _alternatives(schema: Any, root: Schema, depth: int) -> Iterator[dict[str, Any]]:
    if not is_schema(schema) or depth > DEEPEST:
        yield {}
        return
    joined = _joined(schema, root)
    if choices(joined):
        yield joined
    elif branches := items(joined, "anyOf") or items(joined, "oneOf"):
        common = {key: joined[key] for key in joined if key not in ("anyOf", "oneOf")}
        for branch in branches:
            yield from _alternatives({"allOf": [branch, common]}, root, depth + 1)
    elif types := items(joined, "type"):
        yield from ({**joined, "type": each} for each in types)
    else:
        yield joined


def _joined(schema: Schema, root: Schema) -> dict[str, Any]:
    """`schema` as one, `$ref` and allOf undone. The outer and the earlier count; properties add up.

    A loop that meets each part once: length, depth and circles are the server's choice.
    """
    joined: dict[str, Any] = {}
    named: dict[str, Any] = {}
    seen: set[int] = set()
    waiting: list[Any] = [schema]
    while waiting:
        part = waiting.pop()
        if not is_schema(part) or id(part) in seen:
            continue
        seen.add(id(part))
        waiting += reversed([pointed(part.get("$ref"), root), *items(part, "allOf")])
        for name, each in sub(part, "properties").items():
            named.setdefault(name, each)
        for keyword, value in part.items():
            joined.setdefault(keyword, value)
    for undone in ("$ref", "allOf"):
        joined.pop(undone, None)
    if named:
        joined["properties"] = named
    return joined


def choices(schema: Schema) -> list[Choice]:
    """`enum` (and the older `enumNames`), `const`, or oneOf/anyOf of `const` and `title`; else []."""
    if values := items(schema, "enum"):
        names = items(schema, "enumNames")
        titles = names if len(names) == len(values) else values
        return [Choice(value, _title(title)) for value, title in zip(values, titles, strict=True)]
    if "const" in schema:
        return [_choice(schema)]
    branches = items(schema, "oneOf") or items(schema, "anyOf")
    if branches and all(is_schema(branch) and "const" in branch for branch in branches):
        return [_choice(branch) for branch in branches]
    return []


def offered(schema: Any, root: Schema) -> list[Choice]:
    """What the value of a field, or each item of its list, may be chosen from; [] where it is typed."""
    found = alternatives(schema, root)
    lists = [sub(option, "items") for option in found if kind(option) == "array"]
    items_too = [*found, *(each for inner in lists for each in alternatives(inner, root))]
    return next((values for option in items_too if (values := choices(option))), [])


def countable(options: Sequence[Choice]) -> bool:
    """May a choice be meant by its place in the list, from 1? Not where a number could be another's name."""
    return not any(
        word.strip().isdecimal() for each in options for word in (str(each.value), each.title)
    )


def _choice(branch: Schema) -> Choice:
    title = branch.get("title")
    return Choice(branch["const"], title if isinstance(title, str) else _title(branch["const"]))


def _title(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)
    except RecursionError:  # it could just be read, from fewer calls deep
        return "…"


def kind(schema: Schema) -> str:
    """`type`, or what the other keywords imply; `any` when nothing does."""
    declared = schema.get("type")
    if isinstance(declared, str):
        return declared
    if schema.get("properties") is not None:
        return "object"
    return "array" if "items" in schema or "prefixItems" in schema else "any"


def properties(schema: Any, root: Schema) -> dict[str, Any]:
    """Every property that any branch of an object schema declares: name → schema."""
    found: dict[str, Any] = {}
    for branch in alternatives(schema, root):
        found.update(sub(branch, "properties"))
    return found


def required(schema: Schema) -> list[str]:
    return [name for name in items(schema, "required") if isinstance(name, str)]


_FORMATS = {
    "email": "an e-mail address",
    "uri": "a URI such as https://example.org/page",
    "date": "a date such as 2026-09-30",
    "date-time": "a date and time such as 2026-09-30T14:00:00Z",
}
_PLAIN = {
    "string": "text",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "a JSON object",
    "null": "null",
}


def describe(schema: Any, root: Schema) -> str:
    """What is expected, in words: `an integer from 1 to 5`, `one of waitlist, refund, keep`."""
    words = _all_described(schema, root, depth=0)
    return words if len(words) <= LONGEST_WORDS else words[:LONGEST_WORDS] + "…"


def _all_described(schema: Any, root: Schema, depth: int) -> str:
    words = dict.fromkeys(_described(each, root, depth) for each in alternatives(schema, root))
    return " or ".join(words)


def _described(schema: dict[str, Any], root: Schema, depth: int) -> str:
    if values := choices(schema):
        shown = [_title(choice.value) for choice in values[:MOST_LISTED]]
        more = ", …" if len(values) > MOST_LISTED else ""
        return f"one of {', '.join(shown)}{more}" if len(values) > 1 else shown[0]
    name = kind(schema)
    if name == "array":
        inner = sub(schema, "items") if depth < 2 else {}  # lists of lists may go round in circles
        each = f" ({_all_described(inner, root, depth + 1)} each)" if inner else ""
        return f"a list{_range(schema, 'minItems', 'maxItems')}{each}"
    if name == "string":
        form = schema.get("format")
        text = _FORMATS.get(form, "text") if isinstance(form, str) else "text"
        size = _range(schema, "minLength", "maxLength")
        return f"{text}{size} character{'' if size.endswith(' 1') else 's'}" if size else text
    return _PLAIN.get(name, "any value") + _range(schema, "minimum", "maximum")


def _range(schema: Schema, lowest: str, highest: str) -> str:
    low, high = (
        value if isinstance(value, int | float) and not isinstance(value, bool) else None
        for value in (schema.get(lowest), schema.get(highest))
    )
    between = "from {low} to {high}" if lowest == "minimum" else "of {low} to {high}"
    if low is not None and high is not None:
        return " " + between.format(low=low, high=high)
    if high is not None:
        return f" of at most {high}"
    # Nothing is shorter than 0, so only for numbers does that say anything.
    return f" of at least {low}" if low or (low == 0 and lowest == "minimum") else ""
