"""The command that answers one question, spelled out for a person to copy and complete."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
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
from mcptask.render.text import uncommanded, uncommanding

_MOST_CHOICES = 6
_ESCAPE = "\\U{:08x}"  # bash's
_PLACEHOLDERS = {"integer": "NUMBER", "number": "NUMBER", "boolean": "true|false"}


def answer_line(
    ref: int | None, task_id: str, key: str, request: Any, open_keys: int, where: str = ""
) -> str:
    """`mcptask update 7 --key approve action=waitlist  # or refund, keep`.

    With more than one open question `--key` is needed, and `where`, options that find it, for a task that is
    not stored. Names and choices are quoted for a shell; of choices the first is there, and what else could
    be said is a comment; capitals stand for what is still to be typed.
    """
    task = task_id if ref is None else str(ref)
    if not _is_elicitation(request):
        return _command(task, ["--responses", shell(f"{{{_quoted(key)}: …}}")], [], where)
    # With `=`, a key that starts with `-` is not taken for an option.
    options = [f"--key={shell(key)}" if key.startswith("-") else f"--key {shell(key)}"] * (
        open_keys > 1
    )
    params = sub(request, "params")
    schema = sub(params, "requestedSchema")
    asked = {name: sub(schema, "properties").get(name) for name in _asked(schema)}
    if params.get("mode") == "url" or not asked:
        return _command(task, [*options, f"--{_word(params)}"], [], where)
    fields = [f"{shell(name)}={_placeholder(field, schema)}" for name, field in asked.items()]
    others = {name: _others(field, schema) for name, field in asked.items()}
    return _command(task, options, fields, where) + _comment(others)


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
    """A text as JSON spells it, and TOML too; nothing in it acts on a terminal or in a log."""
    return uncommanding(json.dumps(text, ensure_ascii=not text.isprintable()))


def _in_toml(schema: Any, root: Schema) -> str:
    first = alternatives(schema, root)[0]
    if kind(first) == "array":
        return f"[{_in_toml(sub(first, 'items'), root)}]"
    if options := choices(first):
        texts = all(isinstance(option.value, str) for option in options)
        return _quoted(_listed(options)) if texts else _listed(options)
    return _PLACEHOLDERS.get(kind(first), '"TEXT"')


def _command(name: str, options: list[str], fields: list[str], where: str) -> str:
    task, there = shell(name), [where] if where else []
    if any(word.startswith("-") for word in (task, *fields)):
        return " ".join(["mcptask update", *options, *there, "--", task, *fields])
    return " ".join(["mcptask update", task, *options, *fields, *there])


def _comment(others: Mapping[str, Sequence[str]]) -> str:
    """What else the fields of a form take. Every word is quoted: zsh knows no comments at its prompt, and
    what a server offers must run nothing there; mcptask then refuses the words.
    """
    said = {name: f"or {', '.join(map(shell, texts))}" for name, texts in others.items() if texts}
    named = [text if len(others) == 1 else f"{shell(name)} {text}" for name, text in said.items()]
    return f"  # {' · '.join(named)}" if named else ""


def shell(text: str) -> str:
    """One word for a POSIX shell, on one line: what acts on a terminal or in a log is an escape of `$'…'`."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    safe = "".join(c if c.isprintable() else _ESCAPE.format(ord(c)) for c in escaped)
    safe = uncommanded(safe, _ESCAPE)
    return shlex.quote(text) if safe == escaped else f"$'{safe}'"


def _asked(schema: Schema) -> list[str]:
    """The required fields; where none is, all: an empty form is hardly what is wanted."""
    names = [name for name in required(schema) if name in sub(schema, "properties")]
    return names or list(sub(schema, "properties"))


def _one(schema: Any, root: Schema) -> Schema:
    """What one value of a field looks like."""
    first = alternatives(schema, root)[0]
    return alternatives(sub(first, "items"), root)[0] if kind(first) == "array" else first


def _placeholder(schema: Any, root: Schema) -> str:
    one = _one(schema, root)
    options = choices(one)
    # A yes is never the example: whoever pastes it would agree without a thought, and so it is refused.
    return shell(_typed(options[0].value) if options else _PLACEHOLDERS.get(kind(one), "TEXT"))


def _others(schema: Any, root: Schema) -> list[str]:
    options = choices(_one(schema, root))
    shown = [_typed(option.value) for option in options[1:_MOST_CHOICES]]
    return [*shown, *(["…"] if len(options) > _MOST_CHOICES else [])]


def _listed(options: Sequence[Choice]) -> str:
    shown = [_typed(option.value) for option in options[:_MOST_CHOICES]]
    return "|".join([*shown, *(["…"] if len(options) > _MOST_CHOICES else [])])


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else uncommanding(json.dumps(value))
