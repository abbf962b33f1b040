"""Servers as child processes that a test may end, kill and start again."""

from __future__ import annotations

import contextlib
import random
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

START_SECONDS = 60  # FastMCP takes 3 s to import; a busy machine, longer
# Below the range from which Linux takes the ports of outgoing connections: a server that is away for a
# while must find its port free again.
PORTS = range(20_000, 32_000)


@dataclass
class Program:
    """One process that serves on one port. `argv[0]` is found on the PATH."""

    argv: list[str]
    port: int
    log: Path
    environ: Mapping[str, str] | None = None
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def launch(self) -> None:
        """Starts it and does not wait: several come up side by side."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environ
            )

    def serves(self) -> None:
        assert self.process is not None
        for _ in until(START_SECONDS):
            if self.process.poll() is not None:
                break
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
        self.stop()
        pytest.fail(f"{self.argv[0]} did not start:\n{self.log.read_text()}")

    def start(self) -> None:
        self.launch()
        self.serves()

    def stop(self) -> None:
        self._end(subprocess.Popen.terminate)

    def kill(self) -> None:
        """As if the machine had lost its power: nothing is said to anyone."""
        self._end(subprocess.Popen.kill)

    def _end(self, how: Callable[[subprocess.Popen[bytes]], None]) -> None:
        if self.process is None:
            return
        how(self.process)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


@contextlib.contextmanager
def running(*programs: Program) -> Iterator[None]:
    """Starts them side by side, and ends them whatever happens."""
    try:
        for program in programs:
            program.launch()
        for program in programs:
            program.serves()
        yield
    finally:
        for program in programs:
            program.stop()


def until(seconds: float) -> Iterator[None]:
    """Looks again and again, twenty times a second, for so long at most."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        yield
        time.sleep(0.05)


def free_port() -> int:
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def needed(program: str, package: str) -> str:
    """The path of a program of this machine. Its absence is a failure: a skip would look like a pass."""
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    if path is None:
        pytest.fail(f"this test needs {program} (Debian: apt-get install {package})", pytrace=False)
    return path
