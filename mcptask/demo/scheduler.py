"""The one thread that runs all jobs: a heap of due times, the lease, expiry, and the news.

`turn()` does everything that is due and says how long to wait; the thread only repeats it, so
tests call it with a clock of their own and no thread.
"""

import heapq
import sqlite3
import threading
from collections.abc import Callable
from itertools import count

from mcptask.demo import lease
from mcptask.demo.jobs import Tools
from mcptask.demo.lifecycle import advance
from mcptask.demo.records import Record
from mcptask.demo.store import Store
from mcptask.demo.watchers import Watchers

# Steps taken in one transaction: enough to make commits cheap for a thousand tasks, few enough
# that a request never waits long for the lock.
BATCH = 64
# How often the changes of other processes are looked for while somebody watches.
LOOK_S = 0.1
# After a store error (another process holds the lock for too long) the next try.
RETRY_S = 0.5

Timer = Callable[[], None]
# (due, order of arrival, a task id or a function to call)
Entry = tuple[float, int, str | Timer]


class Scheduler:
    def __init__(self, store: Store, tools: Tools, watchers: Watchers) -> None:
        self.runner = lease.new_runner()
        self._store, self._tools, self._watchers = store, tools, watchers
        self._heap: list[Entry] = []
        self._order = count()
        self._wake = threading.Condition()
        self._next_beat = 0.0
        self._leased_until = 0.0
        self._stopping = False
        self._thread = threading.Thread(target=self._loop, name="demo-scheduler", daemon=True)

    def start(self) -> None:
        self._beat()
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after the step it is in, and leaves its jobs to others at once."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=2)
        lease.release(self._store, self.runner)

    def at(self, due: float, what: str | Timer) -> None:
        """Puts a task id, or a function to call, on the heap. Stale entries do no harm."""
        with self._wake:
            if self._leased_until <= self._store.now():
                self._next_beat = 0.0
            heapq.heappush(self._heap, (due, next(self._order), what))
            self._wake.notify()

    def changed(self, record: Record) -> None:
        """To be called after this process has committed `record`."""
        self._watchers.note_change()
        if record.due is not None and record.runner == self.runner:
            self.at(record.due, record.task_id)
        else:
            self.look()

    def look(self) -> None:
        """Makes the thread look for news now."""
        with self._wake:
            self._wake.notify()

    def turn(self) -> float:
        """Does what is due now; returns the seconds until the next turn."""
        if self._store.now() >= self._next_beat:
            self._beat()
        while batch := self._take_due():
            self._run_or_keep(batch)
        self._watchers.publish()
        return self._pause()

    def _beat(self) -> None:
        """The lease, expired tasks, orphans. A process without jobs holds no lease, so that an
        idle server only reads."""
        for task_id, due in lease.adopt(self._store, self.runner, self._tools):
            self.at(due, task_id)
        if self._heap:
            self._leased_until = lease.renew(self._store, self.runner)
        self._store.purge()
        self._next_beat = self._store.now() + lease.BEAT_S

    def _take_due(self) -> list[Entry]:
        now = self._store.now()
        with self._wake:
            batch: list[Entry] = []
            while self._heap and self._heap[0][0] <= now and len(batch) < BATCH:
                batch.append(heapq.heappop(self._heap))
            return batch

    def _run_or_keep(self, batch: list[Entry]) -> None:
        """What could not be done stays on the heap: nobody else would think of it."""
        try:
            self._run([what for _, _, what in batch])
        except sqlite3.Error:
            with self._wake:
                for entry in batch:
                    heapq.heappush(self._heap, entry)
            raise

    def _run(self, batch: list[str | Timer]) -> None:
        task_ids = [what for what in batch if isinstance(what, str)]
        with self._store.transaction():
            done = [record for record in map(self._step, task_ids) if record]
        for record in done:
            self.changed(record)
        for what in batch:
            if not isinstance(what, str):
                what()

    def _step(self, task_id: str) -> Record | None:
        """One step, if it is still ours to take: inside the transaction, so exactly once."""
        record, now = self._store.load(task_id), self._store.now()
        if record is None or record.runner != self.runner:
            return None
        if record.due is None or record.due > now:
            return None
        return self._store.save(advance(record, self._tools[record.tool], now))

    def _pause(self) -> float:
        now = self._store.now()
        with self._wake:
            next_due = self._heap[0][0] if self._heap else self._next_beat
        longest = LOOK_S if self._watchers else lease.BEAT_S
        return max(0.0, min(next_due - now, self._next_beat - now, longest))

    def _loop(self) -> None:
        while not self._stopping:
            try:
                pause = self.turn()
            except sqlite3.Error:
                # A locked or full disk passes or does not; the jobs are safe in the store.
                pause = RETRY_S
            self._sleep(pause)

    def _sleep(self, pause: float) -> None:
        with self._wake:
            if not self._stopping:
                self._wake.wait(pause)
