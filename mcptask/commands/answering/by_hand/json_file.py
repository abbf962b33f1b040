"""An answer that is written as JSON: the file that an editor gets, and what is read back. Pure."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from mcptask.arguments.coerce import from_json
from mcptask.arguments.responses import content_problem
from mcptask.commands.answering.who import Who
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question
from mcptask.protocol.schemas import (
    Schema,
    alternatives,
    describe,
    is_schema,
    kind,
    properties,
    required,
    sub,
)
from mcptask.render.questions import described
from mcptask.render.text import clean, clean_block, clean_json, flat

MARK = "//"
_DEEPEST = 8  # objects inside objects that are begun, or told of
_MOST_SCHEMA_LINES = 200
_MOST_FIELD_LINES = 200
# Editors obey settings in the first and last five lines of a file (vim's modelines): these are ours.
_FIRST = (
    "Write the answer as JSON below, save it and close the editor.",
    "Nothing is sent before a last look at it. What is still null is to be filled in.",
    f"Lines that begin with {MARK} are dropped.",
    "",
    "",
)
_LAST = ("", "", "", "", "The end of the answer.")


def file_text(who: Who, question: Question, schema: Schema, written: str = "") -> str:
    """The answer as it was written, else how it begins; as comments what is wrong with it, first, and what is
    known of it.
    """
    known = [
        *_FIRST,
        *(_wrong(written, schema) if written else ()),
        f"{who.server} asks ({question.key}), for {who.tool}:",
        *clean_block(str(sub(question.request, "params").get("message") or "")).split("\n"),
        "",
        *field_lines(schema),
    ]
    more = ["", "The whole schema:", *_schema_lines(schema), *_LAST]
    return "\n".join([*_comment(known), written or begun_text(schema), *_comment(more), ""])


def _wrong(written: str, schema: Schema) -> list[str]:
    try:
        read_back(written, schema)
    except UsageError as wrong:
        told = [wrong.message, *([wrong.hint] if wrong.hint else [])]
        return [*(f"! {flat(each)}" for each in told), ""]
    return []


def begun_text(schema: Schema) -> str:
    """JSON with what is known of the answer, to go on from."""
    return clean_json(json.dumps(begun_content(schema), ensure_ascii=False, indent=2))


def begun_content(schema: Schema) -> dict[str, Any]:
    """What the answer begins with. `null` stands for what nobody but the person can know."""
    value = _begun(schema, schema, 0)
    return value if isinstance(value, dict) else {}


def _begun(schema: Any, root: Schema, depth: int) -> Any:
    found = alternatives(schema, root)
    if default := [each["default"] for each in found if "default" in each]:
        return default[0]
    first = found[0] if found else {}
    if "const" in first:
        return first["const"]
    if kind(first) == "array":
        least = first.get("minItems")
        count = 1 if isinstance(least, int) and least > 0 else 0
        return [_begun(sub(first, "items"), root, depth + 1)] * count if depth < _DEEPEST else []
    if kind(first) != "object":
        return None
    needed = required(first)
    return {
        name: _begun(each, root, depth + 1)
        for name, each in sub(first, "properties").items()
        if depth < _DEEPEST and (name in needed or (is_schema(each) and "default" in each))
    }


def without_comments(text: str) -> str:
    kept = (line for line in text.split("\n") if not line.lstrip().startswith(MARK))
    return "\n".join(kept).strip("\n")


def read_back(text: str, schema: Schema) -> dict[str, Any]:
    """The content of the answer, held to the schema. UsageError with what is wrong."""
    content = from_json(text, "the answer")
    if not isinstance(content, dict):
        raise UsageError("the answer must be a JSON object: { … }")
    if found := content_problem(content, schema):
        raise UsageError(found)
    return content


def is_whole(text: str) -> bool:
    """Is it JSON to its end?"""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def field_lines(schema: Schema) -> Iterator[str]:
    """`name *  what is expected`, not cleaned; and what the server says of it. Fields inside a field stand
    below it.
    """
    return islice(_field_lines(schema, schema, 0), _MOST_FIELD_LINES)


def _field_lines(schema: Any, root: Schema, depth: int) -> Iterator[str]:
    needed = {name for each in alternatives(schema, root) for name in required(each)}
    space = "  " * depth
    for name, each in properties(schema, root).items():
        star = " *" if name in needed else ""
        yield f"{space}{name}{star}  {describe(each, root)}"
        about = flat(described(each)) if is_schema(each) else ""
        if about.casefold() not in ("", name.casefold()):  # generators make titles of names
            yield f"{space}    {about}"
        if depth < _DEEPEST:
            yield from _field_lines(each, root, depth + 1)
            for option in alternatives(each, root):
                yield from _field_lines(sub(option, "items"), root, depth + 1)


def _schema_lines(schema: Schema) -> list[str]:
    lines = json.dumps(schema, ensure_ascii=False, indent=2).split("\n")
    more = len(lines) - _MOST_SCHEMA_LINES
    return lines if more <= 0 else [*lines[:_MOST_SCHEMA_LINES], f"… and {more} more lines"]


def _comment(lines: "tuple[str, ...] | list[str]") -> list[str]:
    return [f"{MARK} {clean(line)}".rstrip() for line in lines]
