"""The command that answers one question, spelled out for a person to copy and complete."""

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from mcptask.protocol.schemas import (
    Choice,
    Schema,
    alternatives,
    choices,
    kind,
    required,
    sub,
)
from mcptask.protocol.task import ELICITATION

_MOST_CHOICES = 6
_PLACEHOLDERS = {"integer": "NUMBER", "number": "NUMBER", "boolean": "true|false"}


def answer_line(ref: int | None, task_id: str, key: str, request: Any, open_keys: int) -> str:
    """`mcptask update 7 --key approve action='waitlist|refund|keep'`.

    With more than one open question `--key` is needed. Names and choices are quoted for a shell; `|` parts
    the choices, and capitals stand for what is still to be typed.
    """
    task = task_id if ref is None else str(ref)
    if not _is_elicitation(request):
        return _command(task, ["--responses", shell(f"{{{_quoted(key)}: …}}")], [])
    # With `=`, a key that starts with `-` is not taken for an option.
    options = [f"--key={shell(key)}" if key.startswith("-") else f"--key {shell(key)}"] * (
        open_keys > 1
    )
    params = sub(request, "params")
    schema = sub(params, "requestedSchema")
    fields = [_field(name, sub(schema, "properties").get(name), schema) for name in _asked(schema)]
    if params.get("mode") == "url" or not fields:
        return _command(task, [*options, f"--{_word(params)}"], [])
    return _command(task, options, fields)


def answers_entry(key: str, request: Any) -> str:
    """The entry of an `--answers` file for one question: `approve = { action = "waitlist|refund|keep" }`."""
    if not _is_elicitation(request):
        return f"{_toml(key)} = {{ … }}"
    params = sub(request, "params")
    schema = sub(params, "requestedSchema")
    if params.get("mode") == "url":
        return f'{_toml(key)} = "{_word(params)}"'
    fields = [
        f"{_toml(name)} = {_in_toml(sub(schema, 'properties').get(name), schema)}"
        for name in _asked(schema)
    ]
    return f"{_toml(key)} = {{ {', '.join(fields)} }}" if fields else f"{_toml(key)} = {{}}"


def _word(params: Schema) -> str:
    """What one may say to a form without fields, or to an address: a bad one can only be refused (A12.13)."""
    if params.get("mode") != "url":
        return "accept"
    from mcptask.protocol.addresses import read_address  # few questions have an address

    return "accept" if read_address(params.get("url")).refused is None else "decline"


def _is_elicitation(request: Any) -> bool:
    return isinstance(request, dict) and request.get("method") == ELICITATION


def _toml(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    """A text as JSON spells it, and TOML too; nothing in it acts on a terminal."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _in_toml(schema: Any, root: Schema) -> str:
    first = alternatives(schema, root)[0]
    if kind(first) == "array":
        return f"[{_in_toml(sub(first, 'items'), root)}]"
    if options := choices(first):
        texts = all(isinstance(option.value, str) for option in options)
        return _quoted(_listed(options)) if texts else _listed(options)
    return _PLACEHOLDERS.get(kind(first), '"TEXT"')


def _command(name: str, options: list[str], fields: list[str]) -> str:
    task = shell(name)
    if any(word.startswith("-") for word in (task, *fields)):
        return " ".join(["mcptask update", *options, "--", task, *fields])
    return " ".join(["mcptask update", task, *options, *fields])


def shell(text: str) -> str:
    """One word for a POSIX shell, on one line: controls become escapes in bash's `$'…'`."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + "'"


def _asked(schema: Schema) -> list[str]:
    """The required fields; where none is, all: an empty form is hardly what is wanted."""
    names = [name for name in required(schema) if name in sub(schema, "properties")]
    return names or list(sub(schema, "properties"))


def _field(name: str, schema: Any, root: Schema) -> str:
    return f"{shell(name)}={_placeholder(schema, root)}"


def _placeholder(schema: Any, root: Schema) -> str:
    first = alternatives(schema, root)[0]
    if kind(first) == "array":
        first = alternatives(sub(first, "items"), root)[0]
    options = choices(first)
    # Quoted as one word: pasted as it is, it is refused, and starts no pipe that sends the first choice.
    return shell(_listed(options) if options else _PLACEHOLDERS.get(kind(first), "TEXT"))


def _listed(options: Sequence[Choice]) -> str:
    shown = [_typed(option.value) for option in options[:_MOST_CHOICES]]
    return "|".join([*shown, *(["…"] if len(options) > _MOST_CHOICES else [])])


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
