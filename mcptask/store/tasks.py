"""The store of tasks: reading it, and every change that a command makes to it.

`read` never locks: the file is whole at every moment. Every change reads, changes and writes under the
lock, so that commands in other terminals lose nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from mcptask.env import Clock
from mcptask.origin import Origin
from mcptask.protocol.questions import Ledger
from mcptask.protocol.task import Task
from mcptask.store import atomic, edits, ledger, statefile
from mcptask.store.lock import locked
from mcptask.store.paths import resolved
from mcptask.store.records import (
    CallRecord,
    Sighting,
    State,
    TaskRecord,
    new_record,
    observed,
    sighted,
)

# A poll that brings nothing new is written down this often, so that a watch leaves the disk alone.
SEEN_EVERY = timedelta(seconds=60)


class TaskStore:
    """The state file at `path`. `warnings` collects what a person should hear of, each once; `told` gets
    each as it comes.
    """

    def __init__(
        self, path: Path, clock: Clock, told: Callable[[str], None] = lambda text: None
    ) -> None:
        self._told = told
        self.path = resolved(path)
        self.clock = clock
        self.warnings: list[str] = []
        self._last = statefile.Reading(state=State())  # the last look at the file, whoever wrote it
        self._mark: tuple[int, int, int] | None = None  # of the file as it was then

    def read(self) -> State:
        """What the file says; no file is an empty state. Touches nothing.

        StateError: damaged, or of a newer format. StateUnwritable: it cannot be read.
        """
        reading = self._look()
        if reading.damage is not None:
            raise statefile.damaged(self.path, reading.damage)
        self._warn(reading.warnings)
        return reading.state

    def change(self, fn: Callable[[State], State]) -> State:
        """Replaces the state by `fn` of it, under the lock; returns what was written.

        `fn` may run on an empty state in place of a damaged one, which is kept aside under a name that
        `warnings` tells. What `fn` raises comes out, with nothing written. StateError for a newer format;
        StateUnwritable where file, folder or lock cannot be had: then nothing was changed.
        """
        try:
            atomic.make_folder(self.path.parent, durable=True)
            with locked(self.path):
                return self._changed(fn)
        except OSError as error:
            raise statefile.unusable(self.path, error, "written") from error

    def begin_call(self, origin: Origin, tool: str | None, protocol: str | None) -> CallRecord:
        """Marks a `tools/call` as sent, before it is. The mark's `ref` is the task's later on."""
        made: list[CallRecord] = []

        def with_call(state: State) -> State:
            call = CallRecord(
                ref=state.next_ref,
                origin=origin,
                protocol=protocol,
                tool=tool,
                sent_at=self.clock.wall(),
            )
            made.append(call)
            return replace(state, next_ref=call.ref + 1, calls=(*state.calls, call))

        self.change(with_call)
        return made[0]

    def add(
        self,
        task: Task,
        *,
        origin: Origin,
        tool: str | None,
        protocol: str | None,
        ref: int | None = None,
    ) -> TaskRecord:
        """Stores a task, in place of the call mark `ref` that it answers; without one it gets a new number.

        A task that is there already (same origin and id) is updated and keeps its own number. Only when a
        call has just made it while the stored one had ended or was lost, the id was used again: it is a
        new task.
        """
        added: list[TaskRecord] = []

        def with_task(state: State) -> State:
            calls = tuple(call for call in state.calls if call.ref != ref)
            record = new_record(
                task,
                self.clock.wall(),
                ref=edits.free_ref(state, ref),
                origin=origin,
                tool=tool,
                protocol=protocol,
            )
            stored = edits.stored(state, origin, task.task_id)
            over = stored is not None and (stored.terminal or stored.lost_at is not None)
            if stored is not None and not (over and ref is not None):
                record = replace(
                    observed(stored, task, self.clock.wall()),
                    origin=origin,
                    tool=tool or stored.tool,
                    protocol=protocol or stored.protocol,
                )
            added.append(record)
            others = tuple(old for old in state.tasks if old is not stored)
            tasks = tuple(sorted((*others, record), key=lambda one: one.ref))
            next_ref = max(state.next_ref, record.ref + 1)
            return replace(state, next_ref=next_ref, tasks=tasks, calls=calls)

        self.change(with_task)
        return added[0]

    def drop_call(self, ref: int) -> None:
        """The call was answered at once, or surely never sent: its mark goes."""
        self.change(
            lambda state: replace(
                state, calls=tuple(call for call in state.calls if call.ref != ref)
            )
        )

    def observe_all(self, seen: Mapping[int, Sighting]) -> dict[int, TaskRecord]:
        """The stored tasks with these numbers after what was seen of them, without those that were
        forgotten meanwhile. All of it is one change. One that the server does not know (a sighting of None)
        is remembered as lost until it is seen again.

        What says nothing new is not written more often than SEEN_EVERY, unless something else is.
        """
        known = edits.by_refs(self._glance(), seen)
        if known.keys() == seen.keys() and not _brings_news(known, seen):
            return known

        def with_sightings(state: State) -> State:
            if not _brings_news(edits.by_refs(state, seen), seen):
                return state
            return edits.edited(state, seen, lambda found: sighted(found, seen[found.ref]))

        return edits.by_refs(self.change(with_sightings), seen)

    def claim_all(self, ref: int, wanted: Ledger) -> Ledger:
        """Notes that these answers are about to be sent, before they are: what dies on the way sends them
        again as they were (A12.8), and no two terminals answer one question (A12.2).

        Returned are those that were noted, or could not be: for a task that was forgotten, and for what the
        file has no room for, the caller remembers what it sent, as long as it runs.
        """
        new = dict(wanted)

        def with_claims(known: Ledger) -> Ledger:
            after, noted = ledger.claimed(known, wanted)
            new.clear()
            new.update(noted)
            return after

        self._with_ledger(ref, with_claims)
        return new

    def acknowledged(self, ref: int, taken: Ledger) -> None:
        """The server took these answers, so no terminal asks or sends them again (A12.5)."""
        self._with_ledger(ref, lambda known: ledger.acknowledged(known, taken))

    def unclaim(self, ref: int, refused: Ledger) -> None:
        """The server did not take these answers: their questions are open again (A12.8)."""
        self._with_ledger(ref, lambda known: ledger.unclaimed(known, refused))

    def ledger(self, ref: int) -> Ledger:
        """What was answered so far, from whatever terminal; nothing of a task that is not there."""
        found = edits.by_ref(self._glance(), ref)
        return {} if found is None else found.answered

    def forget(self, refs: Iterable[int]) -> tuple[int, ...]:
        """Drops the records and call marks with these numbers. Returns those that were there."""
        wanted = frozenset(refs)
        dropped: list[int] = []

        def without(state: State) -> State:
            there = {task.ref for task in state.tasks} | {call.ref for call in state.calls}
            dropped.extend(sorted(there & wanted))
            return replace(
                state,
                tasks=tuple(task for task in state.tasks if task.ref not in wanted),
                calls=tuple(call for call in state.calls if call.ref not in wanted),
            )

        self.change(without)
        return tuple(dropped)

    def _with_ledger(self, ref: int, fn: Callable[[Ledger], Ledger]) -> None:
        def edit(found: TaskRecord) -> TaskRecord:
            return replace(found, answered=fn(found.answered))

        self.change(lambda state: edits.edited(state, {ref}, edit))

    def _glance(self) -> State:
        """The state, read again only when the file is another one: each poll of a long watch asks."""
        mark = statefile.mark(self.path)
        if mark is None or mark != self._mark:
            self._look()
            self._mark = mark
        return self._last.state

    def _look(self) -> statefile.Reading:
        self._last = statefile.read(self.path, self._last)
        return self._last

    def _changed(self, fn: Callable[[State], State]) -> State:
        before = self._look()
        self._warn(before.warnings)
        wanted = fn(before.state)
        after = edits.retained(wanted)
        if after == before.state:
            if before.damage is not None:
                self._warn([f"{self.path} is damaged: {before.damage}"])
            return after
        if before.damage is not None:
            aside = statefile.set_aside(self.path, before.data)
            text = f"{self.path} was damaged ({before.damage}); it is kept as {aside}"
            backup = statefile.backup_of(aside)
            self._warn([f"{text}, the last good copy as {backup}" if backup.exists() else text])
        self._last = statefile.write(self.path, after, before)
        return after

    def _warn(self, texts: Iterable[str]) -> None:
        for text in texts:
            if text not in self.warnings:
                self.warnings.append(text)
                self._told(text)


def _brings_news(known: Mapping[int, TaskRecord], seen: Mapping[int, Sighting]) -> bool:
    return any(_worth_writing(record, seen[ref]) for ref, record in known.items())


def _worth_writing(record: TaskRecord, sighting: Sighting) -> bool:
    after = sighted(record, sighting)
    if after == record:  # an ended task stays as it is, and a lost one lost
        return False
    recent = record.seen_at is not None and sighting.at - record.seen_at < SEEN_EVERY
    return not recent or replace(after, seen_at=record.seen_at) != record
