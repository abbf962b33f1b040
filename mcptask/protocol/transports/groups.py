"""Process groups: is anyone left, and tell them all. POSIX; on Windows the tree of the child instead."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def signal_group(pid: int, name: str) -> None:
    """Send SIGTERM or SIGKILL to every process of the group that `pid` leads; gone is fine."""
    if sys.platform == "win32":  # pragma: no cover (another platform: there, only killing is sure)
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True, check=False)
        return
    import signal

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, getattr(signal, name))


def group_alive(pid: int) -> bool:
    """Is a process of the group running? One that only waits to be reaped is not.

    An orphan is reaped by process 1, and in a container that may never happen.
    """
    if sys.platform == "win32":  # pragma: no cover (another platform: `taskkill /T` took the tree)
        return False
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):  # macOS: not permitted, where all are zombies
        return False
    return _running_in(pid, Path("/proc"))


def _running_in(group: int, proc: Path) -> bool:
    """Does /proc know a running process of the group? True where there is no /proc to ask."""
    if not (proc / "self").exists():
        return True
    return any(_runs(entry, group) for entry in proc.iterdir() if entry.name.isdigit())


def _runs(entry: Path, group: int) -> bool:
    try:
        stat = (entry / "stat").read_text("utf-8", "replace")
    except OSError:  # it ended meanwhile
        return False
    # pid (name) state ppid pgrp …: the name may hold spaces and brackets.
    state, _, pgrp = stat.rpartition(")")[2].split()[:3]
    return int(pgrp) == group and state not in ("Z", "X")
