"""One process at a time: the lock around read, change, write. Readers never take it.

filelock's, on a file of its own, since the state file is replaced at every write. The system lets go of
it when its holder dies. A file system without locks (some network mounts) gets filelock's second best: a
marker file that only one process can create. Who holds it lies in one more file, because filelock may
empty the first, and Windows lets nobody read it.
"""

import errno
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from mcptask.errors import StateUnwritable
from mcptask.store import atomic, statefile

if TYPE_CHECKING:
    from filelock import BaseFileLock

# How long one change may keep us waiting, in seconds: a thousand times what it takes, and less than a
# person's patience. While others get their changes in we queue on, for at most ROUNDS of it.
TIMEOUT = 10.0
ROUNDS = 6

# Seconds between two looks at the lock. Short, because nobody keeps a queue: who changes the file over
# and over would take the lock again before a slow waiter looks.
POLL = 0.01

NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds the lock of the file at `path`, whose folder exists.

    StateUnwritable, with the holder, when it was not free in time; OSError where none can be made.
    """
    lock = _taken(path)
    holder = _beside(path, ".lock.pid")
    try:
        with suppress(OSError):  # a full disk must not stop us here
            atomic.write(holder, f"{os.getpid()}\n".encode(), durable=False)
        yield
    finally:
        atomic.remove(holder)
        lock.release()


def _taken(path: Path) -> "BaseFileLock":
    from filelock import FileLock, SoftFileLock

    file, marker = _beside(path, ".lock"), _beside(path, ".locked")
    try:
        # filelock's own way to its second best warns on the terminal.
        lock = FileLock(file, mode=atomic.FILE_MODE, fallback_to_soft=False)
        return _waited_for(lock, path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise StateUnwritable(
                f"{path} cannot be written: its lock {file} is a symbolic link, which is not followed",
                hint=f"rm {shlex.quote(str(file))}",
            ) from error
        if error.errno not in NO_LOCKS:
            raise
    # That of a process on another machine stays when that one dies.
    hint = f"if no mcptask uses this file, here or elsewhere: rm {shlex.quote(str(marker))}"
    return _waited_for(SoftFileLock(marker, mode=atomic.FILE_MODE), path, hint)


def _waited_for(lock: "BaseFileLock", path: Path, hint: str | None = None) -> "BaseFileLock":
    from filelock import Timeout

    for _ in range(ROUNDS):
        before = statefile.mark(path)
        with suppress(Timeout):
            lock.acquire(timeout=TIMEOUT, poll_interval=POLL)
            return lock
        if statefile.mark(path) == before:
            break
    raise StateUnwritable(
        f"{path} cannot be written: {_holder(path)} has its lock, which was not free for {TIMEOUT:g} s",
        hint=hint,
    )


def _holder(path: Path) -> str:
    with suppress(OSError, ValueError):
        return f"process {int(_beside(path, '.lock.pid').read_text())}"
    return "another mcptask"


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
