"""What the parts of `scripts/bench watch` share: servers, state files, processes and their cost."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from changing_peer import Plan

from mcptask.origin import Origin
from mcptask.store.format import dumps
from mcptask.store.records import State, TaskRecord

HERE = Path(__file__).parent
MCPTASK = str(Path(sys.executable).with_name("mcptask"))  # as it was installed, not the checkout
PATIENCE = 60.0  # s for a thing that should happen at once
SIZE = (40, 120)  # rows and columns of the terminal
KEPT = ("PATH", "LANG", "LC_ALL")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class World:
    """Where a run keeps its files. `demo_python` has the packages that the demo needs for HTTP."""

    folder: Path
    demo_python: str

    def state(self, name: str, origin: Origin, task_ids: Sequence[str]) -> Path:
        """A state file with these tasks, all of them under way."""
        tasks = tuple(
            TaskRecord(
                ref=ref,
                task_id=task_id,
                origin=origin,
                protocol="2026-07-28",
                tool="job",
                status="working",
            )
            for ref, task_id in enumerate(task_ids, 1)
        )
        path = self.folder / name / "tasks.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dumps(State(next_ref=len(tasks) + 1, tasks=tasks)))
        path.chmod(0o600)
        return path

    def env(self, state: Path | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        named = {"MCPTASK_STATE": str(state)} if state else {}
        return {**kept, **named, "HOME": str(self.folder), "TERM": "xterm-256color"}


# ── servers ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class ChangingPeer:
    """`changing_peer.py` in a process of its own."""

    root: str

    @property
    def url(self) -> str:
        return f"{self.root}/mcp"

    def log(self) -> dict[str, Any]:
        log: dict[str, Any] = self._ask("/log")
        return log

    def end(self, task_id: str) -> float:
        """Ends it; returns when that was."""
        return float(self._ask(f"/end/{task_id}"))

    def _ask(self, path: str) -> Any:
        with urllib.request.urlopen(self.root + path, timeout=PATIENCE) as answer:
            return json.load(answer)


@contextlib.contextmanager
def changing_peer(plan: Plan) -> Iterator[ChangingPeer]:
    argv = [sys.executable, str(HERE / "changing_peer.py"), json.dumps(asdict(plan))]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield ChangingPeer(f"http://127.0.0.1:{process.stdout.readline().strip()}")
        finally:
            process.kill()


@contextlib.contextmanager
def paced_demo(world: World, poll_ms: int, how: str, store: Path) -> Iterator[str]:
    """The URL of the demo over HTTP, in a process of its own."""
    argv = [world.demo_python, str(HERE / "paced_demo.py"), str(poll_ms), how, str(store), "http"]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        try:
            yield process.stderr.readline().split()[-1]
        finally:
            process.terminate()


# ── processes ────────────────────────────────────────────────────────────────────────────────────


class Running:
    """A process. Its end is timed by a thread that waits for nothing else.

    On a terminal `out` is what was drawn there, else stdout, which goes to a file.
    """

    def __init__(
        self, argv: Sequence[str], env: dict[str, str], out: Path, *, terminal: bool = False
    ) -> None:
        self.argv, self._out = argv, out
        self._err = out.with_suffix(".err")
        self.began = time.time()
        self.ended = self.cpu = 0.0
        self.code: int | None = None
        self._open = (self._on_a_terminal if terminal else self._in_the_dark)(argv, env)
        self.pid = self._open.pid
        self._waiting = threading.Thread(target=self._wait, daemon=True)
        self._waiting.start()

    def _in_the_dark(self, argv: Sequence[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        with self._out.open("wb") as out, self._err.open("wb") as err:
            return subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def _on_a_terminal(self, argv: Sequence[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, SIZE)
        opened = subprocess.Popen(
            argv, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self._err.touch()
        threading.Thread(target=self._read, args=(ours,), daemon=True).start()
        return opened

    def _read(self, ours: int) -> None:
        with self._out.open("wb") as out, contextlib.suppress(OSError):  # the end of a terminal
            while drawn := os.read(ours, 65536):
                out.write(drawn)
        os.close(ours)

    def _wait(self) -> None:
        _, status, used = os.wait4(self.pid, 0)
        self.ended = time.time()
        self.code = self._open.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = used.ru_utime + used.ru_stime

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8", errors="replace")

    def wait(self, seconds: float = PATIENCE) -> Running:
        self._waiting.join(seconds)
        if self.code is None:
            self.stop()
            raise Trouble(f"{' '.join(self.argv)}: no end after {seconds:.0f} s")
        return self

    def stop(self, signum: int = signal.SIGKILL) -> None:
        if self.code is None:
            os.kill(self.pid, signum)
            self._waiting.join(PATIENCE)

    def checked(self, seconds: float = PATIENCE) -> Running:
        self.wait(seconds)
        if self.code:
            said = (self._err.read_text() + self.out).strip().rpartition("\n")[2]
            raise Trouble(f"{' '.join(self.argv)}: exit {self.code}: {said[:300]}")
        return self


class Trouble(Exception):
    """A measurement that cannot be trusted; the text says why."""


def peak(running: Running, seconds: float) -> float:
    """The most memory that it had until it ended, in MiB.

    Not what `wait4` says: a process inherits that figure from the one that started it."""
    status = Path(f"/proc/{running.pid}/status")
    most, give_up = 0.0, time.monotonic() + seconds
    while running.code is None and time.monotonic() < give_up:
        with contextlib.suppress(OSError):
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
            most = max(most, int(found[1]) / 1024 if found else 0.0)
        time.sleep(0.05)
    running.checked(0)
    return most


def spent(pid: int) -> float:
    """Seconds of CPU so far, of all threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def sleeps(pid: int) -> int:
    """How often a thread of the process has gone to sleep by itself: each time, something woke it."""
    statuses = Path(f"/proc/{pid}/task").glob("*/status")
    lines = (line for status in statuses for line in status.read_text().splitlines())
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary"))


def until(happened: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    give_up = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > give_up:
            raise Trouble(f"{what}: not within {seconds:.0f} s")
        time.sleep(0.1)


def verdict(ok: bool) -> str:
    return "ok" if ok else "OVER"
