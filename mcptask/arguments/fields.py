"""One line that was typed for a field of a form → its value, held to the form at once.

What `FIELD=VALUE` accepts is accepted here too, and the number of a choice, `y` and `n`, and a list with
commas. Reads no terminal.
"""

import re
from collections.abc import Collection, Iterator
from typing import Any

from mcptask.arguments.coerce import from_json, from_text
from mcptask.arguments.responses import field_problem
from mcptask.errors import UsageError
from mcptask.protocol.schemas import (
    Choice,
    Schema,
    alternatives,
    choices,
    countable,
    kind,
    offered,
    sub,
)

_CONTROLS = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_MOST_PIECES = 8  # of the name of one choice, between its commas
_SHORT = {"y": "yes", "n": "no"}


def typed(name: str, line: str, schema: Schema) -> Any:
    """The value of the field `name` of a form. Raises UsageError with what is expected."""
    if _CONTROLS.search(line):
        raise UsageError(f"{name}: there is a control character in it, as arrow keys type them")
    each = sub(schema, "properties").get(name)
    array = _array(each, schema)
    value = _one(name, line, each, schema) if array is None else _list(name, line, array, schema)
    if found := field_problem(name, value, schema):
        raise UsageError(found)
    return value


def is_list(schema: Any, root: Schema) -> bool:
    """Is a line for this field a list?"""
    return _array(schema, root) is not None


def _array(schema: Any, root: Schema) -> Schema | None:
    """The schema of a field whose value is a list and nothing else (but null)."""
    found = [option for option in alternatives(schema, root) if kind(option) != "null"]
    return found[0] if found and all(kind(option) == "array" for option in found) else None


def _list(name: str, line: str, array: Schema, root: Schema) -> list[Any]:
    """`[` in front: JSON. Else commas part the items, but for those inside the name of a choice."""
    text = line.strip()
    if text.startswith("["):
        value = from_json(text, name)
        assert isinstance(value, list)
        return value
    each = sub(array, "items")
    names = {
        word.casefold()
        for choice in offered(each, root)
        for word in (str(choice.value), choice.title)
    }
    return [_one(name, part, each, root) for part in _parts(text, names) if part]


def _parts(text: str, names: Collection[str]) -> Iterator[str]:
    pieces = [piece.strip() for piece in text.split(",")]
    while pieces:
        longest = min(len(pieces), _MOST_PIECES)
        joined = (", ".join(pieces[:count]) for count in range(longest, 0, -1))
        part = next((each for each in joined if each.casefold() in names), pieces[0])
        pieces = pieces[part.count(",") + 1 :]
        yield part


def _one(name: str, line: str, schema: Any, root: Schema) -> Any:
    options = offered(schema, root)
    text = line if _is_text(schema, root, options) else line.strip()
    if countable(options) and text in (places := [str(n + 1) for n in range(len(options))]):
        return options[places.index(text)].value
    if any(kind(option) == "boolean" for option in alternatives(schema, root)) and not options:
        text = _SHORT.get(text.lower(), text)
    return from_text(text, schema, root, name)


def _is_text(schema: Any, root: Schema, options: list[Choice]) -> bool:
    """Free text stays as it was typed, its outer spaces too."""
    kinds = [kind(each) for each in alternatives(schema, root) if not choices(each)]
    return not options and any(each in ("string", "any") for each in kinds)
