"""The TOML that mcptask writes, read and written fast: a thousand tasks take a tenth of tomllib's time.

Exact or not at all: what is not as plain as what we write (comments, other quotes, tables of a person's own)
is left to tomllib and tomli_w, which say the same of all that is accepted here. Pure.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

Table = dict[str, Any]

# What a line may hold. The classes are TOML's: no control character but the tab, no leading zero, no hour 24.
_TEXT = r'"([^"\\\x00-\x08\x0a-\x1f\x7f]*)"'
_ESCAPED = r'("(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\.)*")'
_NUMBER = r"(0|[1-9][0-9]{0,17})"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{6})?(?:\+00:00|Z)"
_MOMENT = rf"([0-9]{{4}}-[01][0-9]-[0-3][0-9][ T]{_TIME})"
_LINE = re.compile(rf"([A-Za-z0-9_-]+) = (?:{_TEXT}|{_ESCAPED}|{_NUMBER}|{_MOMENT}|(true|false))")
_LIST = re.compile(r"([A-Za-z0-9_-]+) = \[")
_ITEM = re.compile(rf"    (?:{_TEXT}|{_ESCAPED}),")
_QUESTION = re.compile(r"\[tasks\.questions\.([A-Za-z0-9_-]+)\]")

RECORDS = ("tasks", "calls")
_HEADERS = {f"[[{name}]]": name for name in RECORDS}


class Document(NamedTuple):
    """What tomllib would say, and the text of each record, by its list and its place in it."""

    tables: Table
    texts: dict[str, list[str]]


class _NotPlain(Exception):
    """This is for tomllib to read, or to refuse."""


def read(text: str) -> Document | None:
    """None where it is not plain, which is not to say that it is wrong."""
    lines = text.split("\n")
    try:
        return _Reader(lines).document()
    except (
        _NotPlain,
        ValueError,
    ):  # ValueError: the 31st of February; tomllib's own are of this kind
        return None


def block(name: str, table: Mapping[str, Any]) -> str | None:
    """The text of one record of the list `name`; None where it holds what a block cannot be made of alone.

    ValueError, TypeError or RecursionError as tomli_w.
    """
    import tomli_w

    lists = [value for value in table.values() if isinstance(value, list | tuple)]
    if any(not isinstance(item, str) for value in lists for item in value):
        return None
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    flat = {key: value for key, value in table.items() if key not in inner}
    below = "".join("\n" + tomli_w.dumps({name: {key: value}}) for key, value in inner.items())
    return f"[[{name}]]\n{tomli_w.dumps(flat)}{below}"


def _unescaped(text: str) -> str:
    import tomllib

    return str(tomllib.loads(f"_ = {text}")["_"])


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.tables: Table = {}
        self.records: dict[str, list[Table]] = {}
        self.record: Table = {}  # the last one
        self.starts: list[tuple[str, int]] = []
        # Most lines of a file are there many times.
        self.known: dict[str, tuple[str, Any]] = {}

    def document(self) -> Document:
        table, known, lines = self.tables, self.known, self.lines
        while self.at < len(lines):
            line = lines[self.at]
            self.at += 1
            if line in known:
                key, value = known[line]
            elif not line:
                continue
            elif line[0] == "[":
                table = self._table(line)
                continue
            else:
                key, value = self._pair(line)
            if key in table:
                raise _NotPlain
            table[key] = value
        return Document(self.tables, self._texts())

    def _pair(self, line: str) -> tuple[str, Any]:
        found = _LINE.fullmatch(line)
        if found is None:
            return self._list(line)
        key, text, escaped, number, moment, yes = found.groups()
        if text is not None:
            value: Any = text
        elif number is not None:
            value = int(number)
        elif moment is not None:
            value = datetime.fromisoformat(moment)
        elif escaped is not None:
            value = _unescaped(escaped)
        else:
            value = yes == "true"
        self.known[line] = key, value
        return key, value

    def _list(self, line: str) -> tuple[str, list[str]]:
        found = _LIST.fullmatch(line)
        if found is None:
            raise _NotPlain
        items: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            if line == "]":
                return found[1], items
            item = _ITEM.fullmatch(line)
            if item is None:
                break
            items.append(_unescaped(item[2]) if item[1] is None else item[1])
        raise _NotPlain

    def _table(self, line: str) -> Table:
        name = _HEADERS.get(line)
        if name is None:
            return self._question(line)
        if name in self.tables and name not in self.records:  # a line that only looks like it
            raise _NotPlain
        records = self.records.setdefault(name, [])
        self.tables[name] = records
        self.record = {}
        records.append(self.record)
        self.starts.append((name, self.at - 1))
        return self.record

    def _question(self, line: str) -> Table:
        found = _QUESTION.fullmatch(line)
        if found is None or not self.starts or self.starts[-1][0] != "tasks":
            raise _NotPlain
        questions = self.record.setdefault("questions", {})
        if not isinstance(questions, dict) or found[1] in questions:
            raise _NotPlain
        table: Table = {}
        questions[found[1]] = table
        return table

    def _texts(self) -> dict[str, list[str]]:
        texts: dict[str, list[str]] = {name: [] for name in RECORDS}
        bounds = [*(start for _, start in self.starts), len(self.lines)]
        for (name, start), end in zip(self.starts, bounds[1:], strict=True):
            texts[name].append("\n".join(self.lines[start:end]).rstrip("\n") + "\n")
        return texts
