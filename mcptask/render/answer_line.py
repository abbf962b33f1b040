"""The command that answers one question, spelled out for a person to copy and complete."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcptask.protocol.schemas import (
    Choice,
    Schema,
    alternatives,
    choices,
    is_schema,
    kind,
    required,
    sub,
)
from mcptask.protocol.task import ELICITATION
from mcptask.render.text import uncommanded, uncommanding

_MOST_CHOICES = 6
_ESCAPE = "\\U{:08x}"  # bash's
_PLACEHOLDERS = {"integer": "NUMBER", "number": "NUMBER", "boolean": "true|false"}
_BY_FORMAT = {"email": "EMAIL", "uri": "URL", "date": "DATE", "date-time": "TIME"}
# The types of a default, by that of its field; and all that a field may say of which it is known here that
# its default fits, without the validation that every answer goes through.
_OF_DEFAULTS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_PLAIN = frozenset(
    {"type", "title", "description", "default", "enum", "enumNames", "oneOf"}
    | {"minimum", "maximum", "minLength", "maxLength"}
)


def answer_line(
    ref: int | None, task_id: str, key: str, request: Any, open_keys: int, where: str = ""
) -> str:
    """`mcptask update 7 --key approve action=waitlist`

    With more than one open question `--key` is needed, and `where`, options that find it, for a task that is
    not stored. Names and choices are quoted for a shell; of choices the first is there; capitals and `…`
    stand for what is still to be typed. No comment follows: zsh knows none at its prompt, and a program none.
    """
    task = task_id if ref is None else str(ref)
    params = sub(request, "params") if isinstance(request, dict) else {}
    schema = sub(params, "requestedSchema")
    fields = {name: sub(schema, "properties").get(name) for name in _asked(schema)}
    if not _is_elicitation(request) or not _in_words(fields, schema):
        return _command(task, ["--responses", shell(_response(key, request, fields))], [], where)
    # With `=`, a key that starts with `-` is not taken for an option.
    options = [f"--key={shell(key)}" if key.startswith("-") else f"--key {shell(key)}"] * (
        open_keys > 1
    )
    if params.get("mode") == "url" or not fields:
        return _command(task, [*options, f"--{_word(params)}"], [], where)
    words = [f"{shell(name)}{_value(each, schema)}" for name, each in fields.items()]
    return _command(task, options, words, where)


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


def serving_option(request: Any) -> str | None:
    """What answers a request that no words answer: `--root PATH`. None for a form or a URL (A12.14)."""
    if _is_elicitation(request):
        return None
    roots = isinstance(request, dict) and request.get("method") == "roots/list"
    return "--root PATH" if roots else "--answer-with COMMAND"


def shell(text: str) -> str:
    """One word for a POSIX shell, on one line: what acts on a terminal or in a log is an escape of `$'…'`."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    safe = "".join(c if c.isprintable() else _ESCAPE.format(ord(c)) for c in escaped)
    safe = uncommanded(safe, _ESCAPE)
    return shlex.quote(text) if safe == escaped else f"$'{safe}'"


def _word(params: Schema) -> str:
    """What one may say to a form without fields, or to an address: a bad one can only be refused (A12.13)."""
    if params.get("mode") != "url":
        return "accept"
    from mcptask.protocol.addresses import read_address  # few questions have an address

    return "accept" if read_address(params.get("url")).refused is None else "decline"


def _is_elicitation(request: Any) -> bool:
    """A form or a URL. Another mode is answered as a whole, like all that is unknown."""
    if not isinstance(request, dict) or request.get("method") != ELICITATION:
        return False
    params = request.get("params")
    return isinstance(params, dict) and params.get("mode") in (None, "form", "url")


def _asked(schema: Schema) -> list[str]:
    """The required fields that the form does not fill in by itself; where it fills in all of them, these;
    where it requires none, all: nothing is hardly what is meant."""
    fields = sub(schema, "properties")
    needed = [name for name in required(schema) if name in fields]
    return [name for name in needed if not _filled_in(fields[name])] or needed or list(fields)


def _filled_in(schema: Any) -> bool:
    """Has it a default that surely fits?"""
    if not is_schema(schema) or not schema.keys() <= _PLAIN:
        return False
    default: Any = schema.get("default")
    if options := choices(schema):
        return (type(default), default) in [(type(each.value), each.value) for each in options]
    if type(default) not in _OF_DEFAULTS.get(kind(schema), ()):
        return False
    text = isinstance(default, str)
    size = len(default) if text else default
    low, high = ("minLength", "maxLength") if text else ("minimum", "maximum")
    try:
        return bool(schema.get(low, size) <= size <= schema.get(high, size))
    except TypeError:  # a bound that is none
        return False


def _in_words(fields: Iterable[str], schema: Schema) -> bool:
    """Can they be given as `name=value`? Not where a name holds what stands between the two, nor where the
    form requires one that it does not list."""
    listed = all(name in sub(schema, "properties") for name in required(schema))
    return listed and all(name and "=" not in name and name[-1] != ":" for name in fields)


def _response(key: str, request: Any, fields: Iterable[str]) -> str:
    """`{"q": {"action": "accept", "content": {"a=b": …}}}`; `{"q": …}` where no form says what it takes."""
    answer = "…"
    if _is_elicitation(request):
        answer = f'{{"action": "accept", "content": {_object(fields)}}}'
    return f"{{{_quoted(key)}: {answer}}}"


def _object(names: Iterable[str]) -> str:
    """`{"name": …}`"""
    return f"{{{', '.join(f'{_quoted(name)}: …' for name in names) or '…'}}}"


def _value(schema: Any, root: Schema) -> str:
    """`=NUMBER`; `:='{"name": …}'` for what is typed as JSON."""
    one, several = _one(schema, root), kind(alternatives(schema, root)[0]) == "array"
    if kind(one) == "object":
        text = _object(_asked(one))
    elif (text := _example(one)).startswith(("@", "[")):  # as text it would be a file, or a list
        text = _quoted(text)
    else:
        return f"={shell(text)}"
    return f":={shell(f'[{text}]' if several else text)}"


def _one(schema: Any, root: Schema) -> Schema:
    """What one value of a field looks like."""
    first = alternatives(schema, root)[0]
    return alternatives(sub(first, "items"), root)[0] if kind(first) == "array" else first


def _example(one: Schema) -> str:
    if options := choices(one):
        return _typed(options[0].value)
    form = one.get("format") if kind(one) == "string" else None
    named = _BY_FORMAT.get(form) if isinstance(form, str) else None
    # A yes is never the example: whoever pastes it would agree without a thought, and so it is refused.
    return named or _PLACEHOLDERS.get(kind(one), "TEXT")


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else uncommanding(json.dumps(value))


def _command(name: str, options: list[str], fields: list[str], where: str) -> str:
    task, there = shell(name), [where] if where else []
    if any(word.startswith("-") for word in (task, *fields)):
        return " ".join(["mcptask update", *options, *there, "--", task, *fields])
    return " ".join(["mcptask update", task, *options, *fields, *there])


def _toml(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    """A text as JSON spells it, and TOML too; nothing in it acts on a terminal or in a log."""
    return uncommanding(json.dumps(text, ensure_ascii=not text.isprintable()))


def _in_toml(schema: Any, root: Schema) -> str:
    first = alternatives(schema, root)[0]
    if kind(first) == "array":
        return f"[{_in_toml(sub(first, 'items'), root)}]"
    if kind(first) == "object":
        names = (f"{_toml(name)} = …" for name in _asked(first))
        return f"{{ {', '.join(names) or '…'} }}"
    if options := choices(first):
        texts = all(isinstance(option.value, str) for option in options)
        return _quoted(_listed(options)) if texts else _listed(options)
    example = _example(first)
    return example if example in _PLACEHOLDERS.values() else _quoted(example)


def _listed(options: Sequence[Choice]) -> str:
    shown = [_typed(option.value) for option in options[:_MOST_CHOICES]]
    return "|".join([*shown, *(["…"] if len(options) > _MOST_CHOICES else [])])
