"""The command that answers one question, spelled out for a person to copy and complete."""

import shlex
from typing import Any

from mcptask.protocol.schemas import Schema, alternatives, choices, is_schema, kind, required, sub

_MOST_CHOICES = 6
_PLACEHOLDERS = {"integer": "NUMBER", "number": "NUMBER", "boolean": "'true|false'"}


def answer_line(ref: int | None, task_id: str, key: str, request: Any, open_keys: int) -> str:
    """`mcptask update 7 --key approve action='waitlist|refund|keep'`.

    With more than one open question `--key` is needed. Names and choices are quoted for a shell; `|` parts
    the choices, and capitals stand for what is still to be typed.
    """
    task = task_id if ref is None else str(ref)
    method = request.get("method") if is_schema(request) else None
    if method != "elicitation/create":
        return _command(task, ["--responses", shell('{"' + key + '": …}')], [])
    # With `=`, a key that starts with `-` is not taken for an option.
    options = [f"--key={shell(key)}" if key.startswith("-") else f"--key {shell(key)}"] * (
        open_keys > 1
    )
    params = sub(request, "params")
    schema = sub(params, "requestedSchema")
    fields = [_field(name, sub(schema, "properties").get(name), schema) for name in _asked(schema)]
    if params.get("mode") == "url" or not fields:
        return _command(task, [*options, "--accept"], [])
    return _command(task, options, fields)


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
    if not options:
        return _PLACEHOLDERS.get(kind(first), "TEXT")
    shown = [_typed(option.value) for option in options[:_MOST_CHOICES]]
    more = ["…"] if len(options) > _MOST_CHOICES else []
    # Quoted as one word: pasted as it is, it is refused, and starts no pipe that sends the first choice.
    return shell("|".join([*shown, *more]))


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else str(value).lower()
