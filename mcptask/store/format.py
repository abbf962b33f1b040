"""The state file's format: its text → `State`, and back. Pure.

Reading is forgiving, by one rule: a key that is not known, or whose value has the wrong type, lands in
`extra` and its field reads as not given; writing puts `extra` back, under what is known by then. So a
rewrite loses nothing that a person or another mcptask wrote. Only a task without an id, and lists that
are no lists of tables, make a file `Damaged`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from mcptask.errors import StateError
from mcptask.origin import Origin
from mcptask.protocol.task import in_utc
from mcptask.store import ledger, plain
from mcptask.store.records import (
    LARGEST_INTEGER,
    CallRecord,
    State,
    TaskRecord,
)

VERSION = 1

# What a record reads as when the file does not say: it counts as not ended, like every unknown status.
UNKNOWN_STATUS = "unknown"

# Lone surrogates (a file name in another encoding, hostile JSON) fit in no UTF-8 file. They are moved
# into the last private plane for it, where no text of this world has a character.
SURROGATE, MOVED = re.compile("[\ud800-\udfff]"), re.compile("[\U0010d800-\U0010dfff]")
MOVED_BY = 0x100000


class Damaged(ValueError):
    """The file is TOML, but not what we write nor a mended copy of it. The message says what and where."""


# The text of records, beside each the very one that it says: what has not changed is not written out anew.
Texts = dict[int, tuple[TaskRecord | CallRecord, str]]


class Loaded(NamedTuple):
    state: State
    warnings: list[str]
    texts: Texts


def loads(data: bytes) -> tuple[State, list[str]]:
    """The state, and a warning for each thing that was mended on the way. Raises what `loaded` raises."""
    state, warnings, _ = loaded(data)
    return state, warnings


def loaded(data: bytes) -> Loaded:
    """The same, and what `written` may use again.

    ValueError (`Damaged`, tomllib's with line and column, or not UTF-8) or RecursionError for what cannot
    be used; StateError for a version newer than this one.
    """
    text = data.decode("utf-8-sig")  # some editors begin a file with a byte-order mark
    if not text.isascii():
        text = MOVED.sub(lambda found: chr(ord(found[0]) - MOVED_BY), text)
    document, sources = _document(text)
    _check_version(document.pop("version", VERSION))
    next_ref = _number(document, "next_ref") or 1
    tasks = [_task_of(table, at) for at, table in enumerate(_tables(document, "tasks"), 1)]
    calls = [_call_of(table) for table in _tables(document, "calls")]
    texts = _by_record(tasks, sources.get("tasks")) | _by_record(calls, sources.get("calls"))
    refs = [*(task.ref for task in tasks), *(call.ref for call in calls)]
    next_ref = max(next_ref, *(ref + 1 for ref in refs), 1)
    warnings: list[str] = []
    taken: set[int] = set()
    for numbered in (tasks, calls):
        next_ref = _renumber(numbered, taken, next_ref, warnings)
    state = State(next_ref=next_ref, tasks=tuple(tasks), calls=tuple(calls), extra=document)
    return Loaded(state, warnings, texts)


def _document(text: str) -> plain.Document:
    document = plain.read(text)
    if document is None:
        import tomllib

        document = plain.Document(tomllib.loads(text), {})
    return document


def _by_record(records: Sequence[TaskRecord | CallRecord], texts: list[str] | None) -> Texts:
    return {id(record): (record, text) for record, text in zip(records, texts or (), strict=False)}


def dumps(state: State) -> bytes:
    """ValueError or RecursionError for what `extra` may hold and no file can be written from."""
    return written(state, {})[0]


def written(state: State, known: Texts) -> tuple[bytes, Texts]:
    """The file, and the texts of its records for the next time. Raises what `dumps` raises."""
    import tomli_w

    head: dict[str, Any] = {"version": VERSION, "next_ref": state.next_ref}
    texts: Texts = {}
    for name, record in _records(state):
        found = known.get(id(record))
        text = found[1] if found is not None else plain.block(name, _table(record))
        if text is None:  # a person's own doing: all of it at once, as it is right anyway
            texts.clear()
            break
        texts[id(record)] = record, text
    else:
        text = tomli_w.dumps(_with_extra(head, state.extra))
        return _encoded("\n".join((text, *(told for _, told in texts.values())))), texts
    for name, record in _records(state):
        head.setdefault(name, []).append(_table(record))
    return _encoded(tomli_w.dumps(_with_extra(head, state.extra))), {}


def _records(state: State) -> Iterator[tuple[str, TaskRecord | CallRecord]]:
    yield from (("tasks", task) for task in state.tasks)
    yield from (("calls", call) for call in state.calls)


def _table(record: TaskRecord | CallRecord) -> dict[str, Any]:
    return _with_extra(_known(record), record.extra)


def _encoded(text: str) -> bytes:
    if not text.isascii():
        text = SURROGATE.sub(lambda found: chr(ord(found[0]) + MOVED_BY), text)
    return text.encode()


def _check_version(version: object) -> None:
    if type(version) is not int or version < 1:
        raise Damaged(f"version is {version!r}, not a number from 1 on")
    if version > VERSION:
        raise StateError(
            f"it was written by a newer mcptask (format {version}, this one knows {VERSION})",
            hint="upgrade mcptask, or name another file with --state FILE",
        )


def _tables(document: dict[str, Any], key: str) -> list[dict[str, Any]]:
    tables = document.pop(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise Damaged(f"{key} is not a list of [[{key}]] tables")
    return tables


def _renumber(records: list[Any], taken: set[int], next_ref: int, warnings: list[str]) -> int:
    """Gives the later ones of equal numbers, and those without one, the next free number.

    In file order, so that every reader finds the same numbers until a writer makes them last.
    """
    for place, record in enumerate(records):
        if record.ref and record.ref not in taken:
            taken.add(record.ref)
            continue
        problem = f"number {record.ref} is there twice" if record.ref else "an entry has no number"
        warnings.append(f"{problem}: the later one is {next_ref} now")
        records[place] = replace(record, ref=next_ref)
        taken.add(next_ref)
        next_ref += 1
    return next_ref


# ── reading: each takes its key out of the table, or leaves it there for `extra` ────────────────────


def _task_of(table: dict[str, Any], at: int) -> TaskRecord:
    task_id = _text(table, "task_id")
    if not task_id:
        raise Damaged(f"[[tasks]] number {at} has no usable task_id")
    return TaskRecord(
        ref=_number(table, "ref") or 0,
        task_id=task_id,
        origin=_origin_of(table),
        protocol=_text(table, "protocol"),
        tool=_text(table, "tool"),
        status=_text(table, "status") or UNKNOWN_STATUS,
        status_message=_text(table, "status_message"),
        created_at=_moment(table, "created_at"),
        ttl_ms=_number(table, "ttl_ms"),
        poll_interval_ms=_number(table, "poll_interval_ms"),
        seen_at=_moment(table, "seen_at"),
        ended_at=_moment(table, "ended_at"),
        lost_at=_moment(table, "lost_at"),
        tool_error=_yes(table, "tool_error"),
        answered=ledger.read(table, _texts(table, "answered")),
        extra=table,
    )


def _call_of(table: dict[str, Any]) -> CallRecord:
    return CallRecord(
        ref=_number(table, "ref") or 0,
        origin=_origin_of(table),
        protocol=_text(table, "protocol"),
        tool=_text(table, "tool"),
        sent_at=_moment(table, "sent_at"),
        extra=table,
    )


def _origin_of(table: dict[str, Any]) -> Origin:
    return _origin(
        _text(table, "server"),
        _text(table, "url"),
        _texts(table, "command"),
        _text(table, "cwd"),
        _text(table, "bearer_env"),
    )


@lru_cache(maxsize=64)  # a thousand tasks are of a few servers
def _origin(
    server: str | None,
    url: str | None,
    command: tuple[str, ...],
    cwd: str | None,
    bearer_env: str | None,
) -> Origin:
    return Origin(server=server, url=url, command=command, cwd=cwd, bearer_env=bearer_env)


def _text(table: dict[str, Any], key: str) -> str | None:
    return str(table.pop(key)) if isinstance(table.get(key), str) else None


def _texts(table: dict[str, Any], key: str) -> tuple[str, ...]:
    values = table.get(key)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        return ()
    return tuple(table.pop(key))


def _yes(table: dict[str, Any], key: str) -> bool | None:
    return bool(table.pop(key)) if table.get(key) is True else None


def _number(table: dict[str, Any], key: str) -> int | None:
    number = table.get(key)
    if type(number) is not int or not 0 <= number <= LARGEST_INTEGER:
        return None
    return int(table.pop(key))


def _moment(table: dict[str, Any], key: str) -> datetime | None:
    value = table.get(key)
    if not isinstance(value, datetime):
        return None
    try:
        moment = in_utc(value)
    except OverflowError:
        return None
    del table[key]
    return moment


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def _known(record: TaskRecord | CallRecord | Origin) -> dict[str, Any]:
    """The fields that have a value, since TOML has no null; those of an origin lie among the others."""
    known: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name == "origin":
            known.update(_known(value))
        elif isinstance(record, TaskRecord) and field.name == "answered":
            known.update(ledger.written(value, record.extra.get("questions")))
        elif field.name != "extra" and value is not None and value != ():
            known[field.name] = value
    return known


def _with_extra(known: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    return known | {key: value for key, value in extra.items() if key not in known}
