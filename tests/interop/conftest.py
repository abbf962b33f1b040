"""Fixtures for the servers that were not written here, and for the real CLI as a process.

`scripts/interop` makes the server's virtual environment and names its Python in
MCPTASK_INTEROP_PYTHON; without it these tests skip.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import MCPTASK, environment
from tests.e2e.terminal import Terminal
from tests.interop.cluster import SERVER, Front, fastmcp, fronted, redis
from tests.interop.programs import Program, free_port, running, until
from tests.oracle import trace
from tests.oracle.listening import Heard

SERVER_PYTHON = os.environ.get("MCPTASK_INTEROP_PYTHON")  # read before tests/conftest.py clears it
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


@dataclass
class Following:
    """One `mcptask … --jsonl` that goes on while the test does things to its server."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path
    seen: int = 0

    def hears(self, event: str, **fields: Any) -> dict[str, Any]:
        """Waits for such an event, after those that were waited for before."""
        for _ in until(RUN_SECONDS):
            ended = self.process.poll() is not None
            lines = self.out.read_text("utf-8").split("\n")[:-1]  # whole ones
            for line in lines[self.seen :]:
                self.seen += 1
                heard = json.loads(line)
                if heard | fields | {"event": event} == heard:
                    return heard
            if ended:
                break
        self.process.kill()
        return pytest.fail(f"no {event} {fields or ''} came: {self.ended()}")

    def ended(self) -> Run:
        rc = self.process.wait(RUN_SECONDS)
        return Run(rc, self.out.read_text("utf-8"), self.err.read_text("utf-8"))


Follow = Callable[..., Following]


@pytest.fixture
def following(home: Path, tmp_path: Path) -> Iterator[Follow]:
    """Starts the real CLI with `--jsonl`, and leaves it running."""
    started: list[Following] = []

    def start(*argv: str) -> Following:
        out, err = (tmp_path / f"{name}{len(started)}" for name in ("out", "err"))
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [*MCPTASK, *argv, "--jsonl"],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=home,
                env=environment({}),
            )
        started.append(Following(process, out, err))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()


@pytest.fixture
def mcptask(home: Path) -> Cli:
    """Runs the real CLI, a new process each time, with no terminal and an empty home."""

    def run(*argv: str) -> Run:
        done = subprocess.run(
            [*MCPTASK, *argv],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            cwd=home,
            env=environment({}),
        )
        return Run(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def terminal(home: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts the real CLI on a terminal: `terminal("watch", columns=60)`."""
    started: list[Terminal] = []

    def start(*argv: str, columns: int = 80, **environ: str) -> Terminal:
        started.append(Terminal(argv, home, environ, columns))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.fixture
def answered(heard: Heard) -> Callable[[], list[dict[str, Any]]]:
    """The answers of each `tasks/update` that any process of this test has sent so far."""

    def sent() -> list[dict[str, Any]]:
        messages = [entry.get("message") or {} for entry in trace.entries(heard.traced)]
        updates = [each for each in messages if each.get("method") == "tasks/update"]
        return [each["params"]["inputResponses"] for each in updates]

    return sent


@pytest.fixture(scope="session")
def server_python() -> str:
    if not SERVER_PYTHON:
        pytest.skip("run scripts/interop: it makes the environment that these servers need")
    return SERVER_PYTHON


@contextlib.contextmanager
def serving(python: str, folder: Path) -> Iterator[Program]:
    port = free_port()
    argv = [python, str(SERVER), "--http", str(port)]
    server = Program(argv, port, folder / "fastmcp.log")
    with running(server):
        yield server


@pytest.fixture(scope="session")
def url(server_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of one server that all tests share."""
    with serving(server_python, tmp_path_factory.mktemp("fastmcp")) as server:
        yield server.url


@pytest.fixture
def own_server(server_python: str, tmp_path: Path) -> Iterator[Program]:
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


@pytest.fixture(scope="session")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The Redis of the two nodes."""
    server = redis(tmp_path_factory.mktemp("backend") / "redis")
    with running(server):
        yield server


@pytest.fixture(scope="session")
def cluster(
    server_python: str, backend: Program, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    folder = tmp_path_factory.mktemp("cluster")
    nodes = fastmcp(server_python, folder / "nodes", backend)
    with running(*nodes), fronted(folder / "nginx", nodes, {}) as front:
        yield front


@pytest.fixture
def two_nodes(cluster: Front, backend: Program) -> Front:
    """Two nodes on one Redis behind nginx, all there again, whatever the last test did to them."""
    for program in (backend, *cluster.nodes, cluster.nginx):
        if program.process is None:
            program.start()
    return cluster
