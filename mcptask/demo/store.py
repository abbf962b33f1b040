"""The durable store: one SQLite file, shared by any number of demo processes.

WAL, because readers (`tasks/get`) must not wait for the runner of a busy store. With
`synchronous=NORMAL` a killed process loses nothing that was committed; only a power cut can take
the last moments, which a demo may lose. Every change is one `BEGIN IMMEDIATE` transaction, so what
two processes do to one task happens one after the other, never half.
"""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mcptask.demo.records import Record

SCHEMA_VERSION = 1
# How long a commit of another process may keep us waiting before it is an error.
BUSY_TIMEOUT_S = 10.0

SCHEMA = """
CREATE TABLE tasks (
    task_id TEXT PRIMARY KEY, tool TEXT NOT NULL, arguments TEXT NOT NULL, state TEXT NOT NULL,
    created REAL NOT NULL, updated REAL NOT NULL, poll_ms INTEGER NOT NULL, ttl_ms INTEGER,
    status TEXT NOT NULL, message TEXT, requests TEXT NOT NULL, answers TEXT NOT NULL,
    cancel_asked INTEGER NOT NULL, due REAL, runner TEXT, outcome TEXT NOT NULL,
    hidden INTEGER NOT NULL, rev INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX tasks_due ON tasks (due) WHERE due IS NOT NULL;
CREATE INDEX tasks_rev ON tasks (rev);
CREATE TABLE runners (runner TEXT PRIMARY KEY, expires REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE counters (rev INTEGER NOT NULL, secret BLOB NOT NULL);
"""

COLUMNS = tuple(Record._fields)
JSON_COLUMNS = frozenset({"arguments", "state", "requests", "answers", "outcome"})
BOOL_COLUMNS = frozenset({"cancel_asked", "hidden"})
SELECT = f"SELECT {', '.join(COLUMNS)} FROM tasks"
WRITE = f"INSERT OR REPLACE INTO tasks VALUES ({', '.join('?' * len(COLUMNS))})"
EXPIRED = "ttl_ms IS NOT NULL AND created + ttl_ms / 1000.0 <= ?"


def _to_row(record: Record) -> list[Any]:
    values = ((name, getattr(record, name)) for name in COLUMNS)
    return [json.dumps(value) if name in JSON_COLUMNS else value for name, value in values]


def _value(name: str, value: Any) -> Any:
    if name in JSON_COLUMNS:
        return json.loads(value)
    return bool(value) if name in BOOL_COLUMNS else value


def _from_row(row: Iterable[Any]) -> Record:
    return Record(**{name: _value(name, value) for name, value in zip(COLUMNS, row, strict=True)})


def _make_private(path: Path) -> None:
    """The folder 0700 if it is made here, the file 0600: a task id can act as a bearer token."""
    for folder in reversed([parent for parent in path.parents if not parent.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)  # a umask may have taken the owner's own bits
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        path.chmod(0o600)


def _connect(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        _make_private(path)
    connection = sqlite3.connect(
        ":memory:" if path is None else path,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _patiently(lambda: connection.execute("PRAGMA journal_mode=WAL"))
        connection.execute("PRAGMA synchronous=NORMAL")
        _create_tables(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _patiently(change: Callable[[], object]) -> None:
    """SQLite's own timeout does not hold for the change to WAL: of two processes that open a new
    file together, one is told at once that it is locked."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            change()
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _create_tables(connection: sqlite3.Connection) -> None:
    if _schema_version(connection) == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    # Asked again under the lock: another process may have been first.
    if _schema_version(connection) == 0:
        for statement in SCHEMA.split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO counters VALUES (0, ?)", (os.urandom(32),))
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
    connection.execute("COMMIT")
    if _schema_version(connection) != SCHEMA_VERSION:
        raise sqlite3.DatabaseError("made by another version of mcptask; give another --store")


def _schema_version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


class Store:
    """One connection for all threads of this process, one lock around it."""

    def __init__(self, path: Path | None, now: Callable[[], float] = time.time) -> None:
        """`path` None keeps everything in memory. Raises OSError, sqlite3.Error."""
        self.now = now
        self._connection = _connect(path)
        self._lock = threading.RLock()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def execute(self, sql: str, values: Iterable[Any] = ()) -> list[Any]:
        with self._lock:
            return self._connection.execute(sql, tuple(values)).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, and nobody else writes in between. Not to be nested."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise

    def load(self, task_id: str) -> Record | None:
        """The task, unless there is none or its time to live is over."""
        if not task_id.isascii():  # none of ours; and SQLite fails at half a surrogate pair
            return None
        rows = self.execute(f"{SELECT} WHERE task_id = ?", (task_id,))
        record = _from_row(rows[0]) if rows else None
        return record if record and record.expires > self.now() else None

    def save(self, record: Record) -> Record:
        """Writes the task as the newest change of all. To be called in a transaction."""
        rev = self.execute("UPDATE counters SET rev = rev + 1 RETURNING rev")[0][0]
        newest = record._replace(rev=rev)
        self.execute(WRITE, _to_row(newest))
        return newest

    def delete(self, task_id: str) -> None:
        self.execute("DELETE FROM tasks WHERE task_id = ?", (task_id,))

    def purge(self) -> None:
        """Deletes what has outlived its ttlMs (counted from createdAt), whatever its status."""
        now = self.now()
        if self.execute(f"SELECT 1 FROM tasks WHERE {EXPIRED} LIMIT 1", (now,)):
            self.execute(f"DELETE FROM tasks WHERE {EXPIRED}", (now,))

    def changed_since(self, rev: int) -> list[Record]:
        rows = self.execute(f"{SELECT} WHERE rev > ? ORDER BY rev", (rev,))
        return [_from_row(row) for row in rows]

    def rev(self) -> int:
        return int(self.execute("SELECT rev FROM counters")[0][0])

    def secret(self) -> bytes:
        """The key that seals requestState: every process on this store must accept it."""
        return bytes(self.execute("SELECT secret FROM counters")[0][0])

    def foreign_version(self) -> int:
        """Changes whenever another process has committed, and costs no read of the file."""
        return int(self.execute("PRAGMA data_version")[0][0])
