"""Fixtures: mcptask in-process and as a process, on a terminal, and the servers that it talks to."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from mcptask.cli import make_app
from mcptask.protocol.transports.http import HttpTransport
from tests.e2e.running import MCPTASK, PATIENCE, ROOT, Cli, Process, Ran
from tests.e2e.scripted import Scripted, created, scripted
from tests.e2e.several import Started
from tests.e2e.terminal import Terminal

COMMAND = get_command(make_app())


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "cwd"
    folder.mkdir()
    return folder


@pytest.fixture
def cli(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """mcptask in this process, talking to nobody in particular."""
    cli = Cli(cwd)
    # To build the parser is half of a run's time, and it is the same each time.
    monkeypatch.setattr("typer.main.get_command", lambda app: COMMAND)
    monkeypatch.setattr(HttpTransport, "exchange", cli.time.watching(HttpTransport.exchange))
    return cli


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted() as script:
        yield script


@pytest.fixture
def on_server(cli: Cli, server: Scripted) -> Cli:
    """The same, with MCPTASK_SERVER naming the scripted server."""
    cli.environ["MCPTASK_SERVER"] = server.url
    return cli


@pytest.fixture
def started(cli: Cli) -> Started:
    """Stored tasks tsk_1, tsk_2, … on a server: `started(server, 3)`."""

    def start(script: Scripted, count: int) -> None:
        for _ in range(count):
            server_has = len(script.got("tools/call"))
            script.on("tools/call", created(f"tsk_{server_has + 1}"))
            assert cli("call", "job", "month=x", "-s", script.url).code == 0

    return start


@pytest.fixture
def start(cwd: Path) -> Iterator[Callable[..., Process]]:
    """Start a real process: `start("watch", "7", NO_COLOR="1")`."""
    started: list[Process] = []

    def one(*argv: str, **environ: str) -> Process:
        started.append(Process(argv, cwd, environ))
        return started[-1]

    yield one
    for process in started:
        process.kill()


@pytest.fixture
def process(start: Callable[..., Process]) -> Callable[..., Ran]:
    """Run a real process to its end."""

    def one(*argv: str, stdin: str = "", **environ: str) -> Ran:
        return start(*argv, **environ).end(stdin)

    return one


@pytest.fixture
def terminal(cwd: Path) -> Iterator[Callable[..., Terminal]]:
    """Start mcptask on a terminal: `terminal("watch", columns=60)`."""
    started: list[Terminal] = []

    def one(
        *argv: str,
        columns: int = 80,
        piped: bool = False,
        controlling: bool = False,
        command: Sequence[str] = MCPTASK,
        **environ: str,
    ) -> Terminal:
        more: dict[str, Any] = {"piped": piped, "controlling": controlling, "command": command}
        started.append(Terminal(argv, cwd, environ, columns, **more))
        return started[-1]

    yield one
    for each in started:
        each.close()


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What a scripted server waits for before it answers; open at the end of the test."""
    gate = threading.Event()
    yield gate
    gate.set()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a demo server over HTTP, one for all tests: no task of one is seen by another."""
    store = tmp_path_factory.mktemp("demo") / "demo.sqlite3"
    command = [sys.executable, "-m", "mcptask.demo", "--http", "127.0.0.1:0", "--store", str(store)]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stderr
        try:
            yield running.stderr.readline().removeprefix("mcptask demo: ").strip()
        finally:
            running.terminate()
            running.wait(PATIENCE)
