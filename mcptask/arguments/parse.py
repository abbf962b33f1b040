"""ARG, as in HTTPie: `name=text`, `name:=JSON`, `name=@FILE`, `name:=@FILE`, and `--args` for all.

Turns them into the arguments of a tool and refuses what the tool's `inputSchema` does not allow,
before anything is sent.
"""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mcptask.arguments.coerce import check_unicode, from_json, from_text, from_texts, quoted
from mcptask.arguments.validation import problem
from mcptask.errors import UsageError
from mcptask.nearest import nearest
from mcptask.protocol.schemas import Schema, alternatives, describe, properties, required, sub

UNCHECKED = "--no-validate sends it anyway"
SYNTAX = "write name=text, name:=JSON, name=@FILE or name:=@FILE"


@dataclass(frozen=True)
class Files:
    """Where `@FILE` and `-` read their text from: the path, or standard input. Both give text."""

    read_file: Callable[[str], str]
    read_stdin: Callable[[], str]

    def text(self, path: str, label: str) -> str:
        """The text of a file (`-`: standard input). Raises UsageError when it cannot be read."""
        if not path:
            raise UsageError(f"{label}: no file is named after @", hint=SYNTAX)
        try:
            return self.read_stdin() if path == "-" else self.read_file(path)
        except OSError as error:
            reason = error.strerror or str(error)
        except UnicodeError:
            reason = "it is not UTF-8 text"
        except ValueError as error:  # a NUL in the path
            reason = str(error)
        hint = f"""for a text that starts with @, write {label}:='"@…"'"""
        raise UsageError(f"{label}: cannot read {quoted(path)}: {reason}", hint=hint)

    def whole(self, raw: str, label: str) -> dict[str, Any]:
        """`JSON|@FILE|-` of an option that takes a whole object."""
        text = raw
        if raw == "-" or raw.startswith("@"):
            text = self.text(raw.removeprefix("@"), label)
        value = from_json(text, label)
        if not isinstance(value, dict):
            raise UsageError(f"{label} takes a JSON object", hint=f"""{label} '{{"name": 1}}'""")
        return value


@dataclass(frozen=True)
class Given:
    """One ARG: the text still to be turned into a type, or the value of its JSON."""

    value: Any
    is_json: bool


def pairs(args: Iterable[str], files: Files) -> dict[str, list[Given]]:
    """Name → what was given for it, in order. Raises UsageError for what is no ARG."""
    found: dict[str, list[Given]] = {}
    for arg in args:
        name, equals, text = arg.partition("=")
        is_json = name.endswith(":")
        name = name.removesuffix(":")
        if not equals or not name:
            what = "has no name" if equals else "is no argument"
            raise UsageError(f"{quoted(arg)} {what}", hint=SYNTAX)
        check_unicode(name, quoted(name))
        if text.startswith("@"):
            text = files.text(text[1:], name)
        value = from_json(text, name) if is_json else text
        found.setdefault(name, []).append(Given(value, is_json))
    return found


def parse(
    args: list[str],
    raw: str | None,
    schema: Mapping[str, Any],
    *,
    validate: bool,
    read_file: Callable[[str], str],
    read_stdin: Callable[[], str],
    tool: str = "NAME",
    where: str = "",
) -> dict[str, Any]:
    """The arguments of `tool`: the object of `--args` (`raw`), as it is, with the ARGs over it.

    `where` are the options that name the server, for a hint.

    `schema` is the tool's inputSchema, {} when it is not known. Raises UsageError: bad syntax always;
    unknown, missing and wrong values unless `validate` is False, and then text that does not fit the
    type that the schema gives is sent as text.
    """
    files = Files(read_file, read_stdin)
    whole = files.whole(raw, "--args") if raw is not None else {}
    given = pairs(args, files)
    names = properties(schema, schema)
    help_line = f"mcptask tools {shlex.quote(tool)}{where and f' {where}'}  shows its arguments"
    if validate:
        _refuse_unknown([*whole, *given], names, schema, tool, help_line)
    with hinted(help_line):
        typed = {
            name: value_of(name, values, names.get(name, _extra(schema)), schema, strict=validate)
            for name, values in given.items()
        }
    arguments = {**whole, **typed}
    if validate:
        _refuse_missing(arguments, names, schema, tool, help_line)
        if found := problem(arguments, schema, "", way_out=UNCHECKED):
            raise UsageError(found.removeprefix(": "), hint=f"{help_line}; {UNCHECKED}")
    return arguments


def value_of(name: str, given: list[Given], schema: Any, root: Schema, *, strict: bool) -> Any:
    """The value of one name. Given several times, it is the items of an array.

    `strict`: raise UsageError for text that does not fit; else it stays text.
    """
    if len(given) > 1:
        if any(each.is_json for each in given):
            raise UsageError(
                f"{name}:=… is given together with another {name}",
                hint=f"give one, with the whole value: {name}:='[…]'",
            )
        return from_texts([each.value for each in given], schema, root, name)
    (only,) = given
    if only.is_json:
        return only.value
    try:
        return from_text(only.value, schema, root, name)
    except UsageError:
        if strict:
            raise
        check_unicode(only.value, name)
        return only.value


@contextmanager
def hinted(line: str) -> Iterator[None]:
    """Adds where to look to the hint of a UsageError from inside."""
    try:
        yield
    except UsageError as error:
        error.hint = f"{error.hint} {line}" if error.hint else line
        raise


def _refuse_unknown(
    given: Iterable[str], names: Mapping[str, Any], schema: Schema, tool: str, help_line: str
) -> None:
    """A name that the tool does not list is taken for a typing error, unless the schema invites more."""
    if _is_open(schema):
        return
    for name in given:
        if name not in names:
            takes = f"it takes {', '.join(names)}" if names else "it takes no arguments"
            close = nearest(name, names)
            raise UsageError(
                f"{tool} has no argument {quoted(name)}: {takes}",
                hint=f"{close} {help_line}" if close else help_line,
            )


def _is_open(schema: Schema) -> bool:
    """Does the schema say that other names are welcome, or say nothing about names at all?"""
    branches = alternatives(schema, schema)
    if any(branch.get("additionalProperties", False) is not False for branch in branches):
        return True
    if any("patternProperties" in b or b.get("unevaluatedProperties") for b in branches):
        return True
    return not any("properties" in b or "additionalProperties" in b for b in branches)


def _extra(schema: Schema) -> Any:
    return sub(schema, "additionalProperties")


def _refuse_missing(
    arguments: Mapping[str, Any], names: Mapping[str, Any], schema: Schema, tool: str, hint: str
) -> None:
    missing = [name for name in required(schema) if name not in arguments]
    if missing:
        what = ", ".join(f"{name} ({describe(names.get(name), schema)})" for name in missing)
        raise UsageError(f"{tool} needs {what}", hint=hint)
