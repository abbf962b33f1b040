"""Running mcptask: in this process with a world of the test's own, or as a real process."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from mcptask.cli import run
from mcptask.env import LONGEST_SLEEP, Clock, Env
from mcptask.protocol.transports.base import Message, Request
from tests.e2e import documents
from tests.oracle.listening import traced_environment

ROOT = Path(__file__).parents[2]
MCPTASK = [sys.executable, "-m", "mcptask"]
PATIENCE = 30.0  # s: a busy machine is slow, not wrong
TURNS = 20  # of the event loop: enough for what one answer sets in motion
# -2: a signal in the last moment of the process, after everything is said; a shell calls it 130.
EXIT_CODES = {*range(10), 124, 130, 141, 143, -2}


@dataclass(frozen=True)
class Ran:
    """What a run left: the exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        body = documents.document(self.out)
        assert body["exitCode"] == self.code
        return body

    @property
    def documents(self) -> dict[str, Any]:
        body = documents.documents(self.out)
        assert body["exitCode"] == self.code
        return body

    @property
    def dry_run(self) -> dict[str, Any]:
        return documents.dry_run(self.out)

    @property
    def listed(self) -> dict[str, Any]:
        return documents.listed(self.out)

    @property
    def events(self) -> list[dict[str, Any]]:
        return documents.events(self.out)

    def checked(self, argv: tuple[str, ...]) -> "Ran":
        """What holds for every run whatsoever."""
        told = f"{argv}: exit {self.code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.out + self.err, told
        assert self.code in EXIT_CODES, told
        assert "\x1b" not in self.out + self.err, told
        if "--json" in argv and "--" not in argv and "--jsonl" not in argv:
            assert self.out.endswith("}\n"), told
            json.loads(self.out)
            assert self.out.isascii()
        return self


class FastClock:
    """Time that jumps to the next moment that anyone sleeps until, as soon as no request is under way."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, float]] = []  # each request's method, and when it was sent
        self._ahead = 0.0
        self._wakes: list[float] = []
        self._under_way = 0
        self._events = 0  # sleeps that were over, requests that began or ended

    def now(self) -> float:
        return time.monotonic() + self._ahead

    def wall(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self._ahead)

    async def sleep(self, seconds: float) -> None:
        wake = self.now() + min(max(seconds, 0.0), LONGEST_SLEEP)
        self._wakes.append(wake)
        try:
            while self.now() < wake:
                if await self._idle() and wake == min(self._wakes):
                    self._ahead += max(wake - self.now(), 0.0)
        finally:
            self._wakes.remove(wake)
            self._events += 1
        await asyncio.sleep(0)

    async def _idle(self) -> bool:
        """After all that is ready has had its turn: is nobody talking to a server?"""
        events = self._events
        for _ in range(TURNS):
            await asyncio.sleep(0)
        if self._under_way:
            await asyncio.sleep(0.001)
        return not self._under_way and events == self._events

    def watching(self, exchange: Callable[..., AsyncGenerator[Message, None]]) -> Any:
        """A transport's `exchange`, with this clock told while it runs."""

        async def watched(transport: Any, request: Request) -> AsyncGenerator[Message, None]:
            self.sent.append((request.method, self.now()))
            self._under_way += 1
            self._events += 1
            try:
                async with aclosing(exchange(transport, request)) as messages:
                    async for message in messages:
                        yield message
            finally:
                self._under_way -= 1
                self._events += 1

        return watched

    def gaps(self, method: str) -> list[float]:
        """Seconds between the requests of one kind."""
        at = [when for what, when in self.sent if what == method]
        return [round(later - earlier, 1) for earlier, later in pairwise(at)]

    @property
    def clock(self) -> Clock:
        return Clock(now=self.now, wall=self.wall, sleep=self.sleep)


class _Stream(io.StringIO):
    encoding = "utf-8"


@dataclass
class Cli:
    """`cli("list", "--json")` runs in this process. `time` flies, unless `clock` is another one."""

    cwd: Path
    time: FastClock = field(default_factory=FastClock)
    environ: dict[str, str] = field(default_factory=dict)

    def __call__(
        self, *argv: str, stdin: str = "", clock: Clock | None = None, **environ: str
    ) -> Ran:
        out, err = _Stream(), _Stream()
        env = Env(
            stdin=io.StringIO(stdin),
            stdout=out,
            stderr=err,
            environ={**os.environ, **self.environ, **environ},
            cwd=self.cwd,
            clock=clock or self.time.clock,
        )
        code = run(argv, env)
        return Ran(code, out.getvalue(), err.getvalue()).checked(argv)

    @property
    def state(self) -> Path:
        return Path(os.environ["XDG_STATE_HOME"]) / "mcptask" / "tasks.toml"

    def configure(self, text: str) -> Path:
        path = Path(os.environ["XDG_CONFIG_HOME"]) / "mcptask" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


def environment(more: Mapping[str, str], *, traced: bool = True) -> dict[str, str]:
    heard = traced_environment() if traced else {}
    return {**os.environ, "PYTHONPATH": str(ROOT), **heard, **more}


class Process:
    """A real mcptask process, with pipes. Ended by its own id when the test is over."""

    def __init__(self, argv: tuple[str, ...], cwd: Path, more: Mapping[str, str]) -> None:
        self.argv = argv
        self.popen = subprocess.Popen(
            [*MCPTASK, *argv],
            cwd=cwd,
            env=environment(more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.told = ""

    def hear(self, words: str) -> None:
        """Read stderr until these words have come."""
        assert self.popen.stderr
        while words not in self.told:
            line = self.popen.stderr.readline()
            assert line, f"{self.argv} ended without saying {words!r}: {self.told}"
            self.told += line

    def send(self, signum: signal.Signals) -> None:
        self.popen.send_signal(signum)

    def end(self, stdin: str | None = None) -> Ran:
        try:
            out, err = self.popen.communicate(stdin, timeout=PATIENCE)
        finally:
            self.kill()
        return Ran(self.popen.returncode, out, self.told + err).checked(self.argv)

    def kill(self) -> None:
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()
        for stream in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if stream is not None:
                stream.close()


def wait_until(true: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Is there such a process, one that still runs? A zombie that nobody reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
