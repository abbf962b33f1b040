"""Process groups: begin one, is anyone left, and end them all. POSIX; on Windows the tree of the child."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

# For a child that is not to share our Ctrl-C, and whose children are to be ended with it.
OWN_GROUP: Mapping[str, Any] = (
    {"start_new_session": True}
    if os.name == "posix"
    else {"creationflags": 0x00000200}  # CREATE_NEW_PROCESS_GROUP
)

STEP = 0.02  # s between two looks at what sends no signal


async def end_group(
    pid: int, exited: Callable[[], bool], grace: float, *, patience: float = 0.0
) -> None:
    """SIGTERM, then SIGKILL, each with `grace` seconds to take effect, until nobody is left of the group that
    `pid` leads. `exited` tells of the leader alone, who has `patience` seconds to end by itself. Cancelled
    half-way, it kills them at once.
    """

    def gone() -> bool:
        return exited() and not group_alive(pid)

    try:
        await within(patience, exited)
        for name in ("SIGTERM", "SIGKILL"):
            if gone():
                return
            signal_group(pid, name)
            await within(grace, gone)
    finally:
        if not gone():
            signal_group(pid, "SIGKILL")


async def within(seconds: float, done: Callable[[], bool]) -> None:
    """Until `done`, at most `seconds`. Looks often: what ends at once must not cost a wait."""
    loop = asyncio.get_running_loop()
    deadline, step = loop.time() + seconds, STEP / 20
    while not done() and loop.time() < deadline:
        await asyncio.sleep(step)
        step = min(step * 2, STEP)


def signal_group(pid: int, name: str) -> None:
    """Send SIGTERM or SIGKILL to every process of the group that `pid` leads; gone is fine."""
    if sys.platform == "win32":  # pragma: no cover (another platform: there, only killing is sure)
        kill = [_system_program("taskkill.exe"), "/F", "/T", "/PID", str(pid)]
        subprocess.run(kill, capture_output=True, check=False)
        return
    import signal

    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, getattr(signal, name))


def _system_program(name: str) -> str:  # pragma: no cover (another platform)
    """By its full path: without one, Windows would take it from the current folder first."""
    import ctypes

    folder = ctypes.create_unicode_buffer(260)
    ctypes.windll.kernel32.GetSystemDirectoryW(folder, len(folder))  # type: ignore[attr-defined]
    return os.path.join(folder.value, name)


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
