"""Which of several terminals that watch one task has its form open: the others wait (A12.2).

A lock of the system's for each task, on a file of its own in a folder beside the state file: it is free again
when its holder dies. Where none can be had (some network mounts, a folder of somebody else's), everybody may
ask, and the ledger sees to it that one answer is sent.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcptask.store import atomic
from mcptask.store.paths import resolved

if TYPE_CHECKING:
    from filelock import BaseFileLock


@contextmanager
def held(state_path: Path, ref: int) -> Iterator[bool]:
    """May this terminal ask what the task asks, until the end of the block? Never waits, never raises."""
    file = _folder(state_path) / str(ref)
    lock = _taken(file)
    if not isinstance(lock, bool):
        try:
            yield True
        finally:
            # While it is held: whoever has opened the file meanwhile sees that it has no name any more.
            atomic.remove(file)
            lock.release()
    else:
        yield lock


def _taken(file: Path) -> "BaseFileLock | bool":
    """The lock; False where another has it, in this process or another, and True where there is none."""
    from filelock import FileLock, Timeout

    # A marker in its place would stay when its holder dies, and everybody else would wait for ever.
    lock = FileLock(file, mode=atomic.FILE_MODE, fallback_to_soft=False)
    if file.parent.is_symlink():  # none of ours: what it leads to would be emptied
        return True
    try:
        atomic.make_folder(file.parent)
        lock.acquire(blocking=False)
    except Timeout:
        return False
    except OSError:
        return True
    return lock


def _folder(state_path: Path) -> Path:
    path = resolved(state_path)
    return path.with_name(path.name + ".forms")
