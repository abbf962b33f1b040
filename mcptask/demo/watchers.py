"""Who wants to hear of changes to tasks, in this process.

A watcher names task ids and gets each changed task once per look: the state at that moment, never
an older one after a newer one. Changes of other processes on the same store are seen too.
"""

import threading
from collections.abc import Callable
from typing import NamedTuple

from mcptask.demo.records import Record
from mcptask.demo.store import Store


class Watcher(NamedTuple):
    """`deliver` is called from the scheduler's thread and must not block."""

    task_ids: frozenset[str]
    deliver: Callable[[Record], None]
    close: Callable[[], None]


class Watchers:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._watchers: list[Watcher] = []
        self._rev = 0
        self._foreign = 0
        self._own_change = False

    def __bool__(self) -> bool:
        return bool(self._watchers)

    def add(self, watcher: Watcher) -> None:
        with self._lock:
            if not self._watchers:
                self._rev = self._store.rev()
                self._foreign = self._store.foreign_version()
            self._watchers.append(watcher)

    def remove(self, watcher: Watcher) -> None:
        with self._lock:
            self._watchers = [other for other in self._watchers if other is not watcher]

    def note_change(self) -> None:
        """This process has committed a change: `data_version` tells only of the others'."""
        self._own_change = True

    def publish(self) -> None:
        """Delivers what changed since the last look. Costs one pragma when nothing did."""
        with self._lock:
            watchers = list(self._watchers)
            changed = self._changes() if watchers else []
        for record in changed:
            for watcher in watchers:
                if record.task_id in watcher.task_ids:
                    watcher.deliver(record)

    def _changes(self) -> list[Record]:
        foreign = self._store.foreign_version()
        if foreign == self._foreign and not self._own_change:
            return []
        self._foreign, self._own_change = foreign, False
        changed = self._store.changed_since(self._rev)
        self._rev = changed[-1].rev if changed else self._rev
        return changed

    def close(self) -> None:
        """The server ends: every watcher is told so, and no more."""
        with self._lock:
            watchers, self._watchers = self._watchers, []
        for watcher in watchers:
            watcher.close()
