"""Who runs which job: the leases that let several processes share one store.

A process is a runner: one row with an expiry that it pushes on. A task names its runner. A task
that is due and whose runner has no valid row is an orphan, and the first process to see it adopts
it. One renewal covers all jobs of a process, so a thousand tasks cost what one costs.
"""

import os
from collections.abc import Iterable

from mcptask.demo.store import Store

# A killed process is noticed after LEASE_S, by the next look: LEASE_S + BEAT_S < 2 s.
LEASE_S = 1.4
BEAT_S = 0.4


def new_runner() -> str:
    return f"{os.getpid()}-{os.urandom(6).hex()}"


def renew(store: Store, runner: str) -> float:
    """Holds the lease until the time that is returned; to be called every BEAT_S. One that comes
    too late only loses its jobs: a step is taken in a transaction that first makes sure whose job
    it is."""
    until = store.now() + LEASE_S
    store.execute("INSERT OR REPLACE INTO runners VALUES (?, ?)", (runner, until))
    return until


def release(store: Store, runner: str) -> None:
    """Leaves the jobs to whoever looks next, without the wait for the lease to run out."""
    store.execute("DELETE FROM runners WHERE runner = ?", (runner,))


def adopt(store: Store, runner: str, tools: Iterable[str]) -> list[tuple[str, float]]:
    """Claims the orphans whose tools this process knows: [(task id, due)]."""
    names = list(tools)
    orphan = (
        f"due IS NOT NULL AND tool IN ({', '.join('?' * len(names))}) AND"
        " (runner IS NULL OR runner NOT IN (SELECT runner FROM runners WHERE expires > ?))"
    )
    values = [*names, store.now()]
    # The look is a read and nearly always finds nothing: it must not take the write lock.
    if not store.execute(f"SELECT 1 FROM tasks WHERE {orphan} LIMIT 1", values):
        return []
    with store.transaction():
        store.execute("DELETE FROM runners WHERE expires <= ?", (store.now(),))
        renew(store, runner)
        claim = f"UPDATE tasks SET runner = ? WHERE {orphan} RETURNING task_id, due"
        return [(task_id, due) for task_id, due in store.execute(claim, [runner, *values])]
