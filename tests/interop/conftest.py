"""Fixtures for the servers that were not written here, and for the real CLI as a process.

`scripts/interop` makes the server's virtual environment and names its Python in
MCPTASK_INTEROP_PYTHON; without it these tests skip.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SERVER = Path(__file__).with_name("fastmcp_server.py")
SERVER_PYTHON = os.environ.get("MCPTASK_INTEROP_PYTHON")  # read before tests/conftest.py clears it
START_SECONDS = 60  # FastMCP takes 3 s to import; a busy machine, longer
RUN_SECONDS = 60  # bounds one command, so that a hang is a failure


@dataclass(frozen=True)
class Run:
    """How one `mcptask` process ended."""

    rc: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one document that `--json` promises."""
        try:
            return json.loads(self.stdout)
        except ValueError:
            pytest.fail(f"stdout is not one JSON document: {self}")

    @property
    def events(self) -> list[Any]:
        return [json.loads(line) for line in self.stdout.splitlines()]


Cli = Callable[..., Run]


@pytest.fixture
def mcptask(home: Path) -> Cli:
    """Runs the real CLI, a new process each time, with no terminal and an empty home."""

    def run(*argv: str) -> Run:
        done = subprocess.run(
            [sys.executable, "-m", "mcptask", *argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            cwd=home,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def server_python() -> str:
    if not SERVER_PYTHON:
        pytest.skip("run scripts/interop: it makes the environment that these servers need")
    return SERVER_PYTHON


@dataclass
class HttpServer:
    """One FastMCP process on one port; it may be stopped and started again."""

    python: str
    port: int
    log: Path
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.python, str(SERVER), "--http", str(self.port)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.05)
        self.stop()
        pytest.fail(f"FastMCP did not start:\n{self.log.read_text()}")

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def serving(python: str, folder: Path) -> Iterator[HttpServer]:
    server = HttpServer(python, free_port(), folder / "fastmcp.log")
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def url(server_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of one server that all tests share."""
    with serving(server_python, tmp_path_factory.mktemp("fastmcp")) as server:
        yield server.url


@pytest.fixture
def own_server(server_python: str, tmp_path: Path) -> Iterator[HttpServer]:
    """A server for one test, which may take it down."""
    with serving(server_python, tmp_path) as server:
        yield server


@pytest.fixture(scope="session")
def stdio(server_python: str) -> tuple[str, str]:
    """The options that start a server over stdio."""
    return "--stdio", shlex.join([server_python, str(SERVER), "--stdio"])


@pytest.fixture(params=["http", "stdio"])
def front(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The options that reach the same server over either transport."""
    if request.param == "http":
        return "--server", request.getfixturevalue("url")
    return request.getfixturevalue("stdio")
