"""Real demo processes, over stdio and over HTTP, ended by their own handle."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcptask.demo.jsonrpc import Json
from tests.demo.wire import EVERYTHING, request

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "mcptask.demo"]
DEADLINE_S = 15.0


def spawn(*options: str | Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*COMMAND, *map(str, options)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


class Stdio:
    def __init__(self, store: Path) -> None:
        self.process = spawn("--store", store)
        self._last_id = 0

    def write(self, raw: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(raw)
        self.process.stdin.flush()

    def send(self, message: Json) -> None:
        self.write(json.dumps(message).encode() + b"\n")

    def read(self) -> Json:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, "the server has gone"
        message: Json = json.loads(line)
        return message

    def ask(self, method: str, capabilities: Json = EVERYTHING, **params: Any) -> Json:
        self._last_id += 1
        self.send(request(method, capabilities, self._last_id, **params))
        answer = self.read()
        assert answer["id"] == self._last_id
        return answer

    def start(self, name: str, /, **arguments: Any) -> str:
        answer = self.ask("tools/call", name=name, arguments=arguments)
        return str(answer["result"]["taskId"])

    def get(self, task_id: str) -> Json:
        found: Json = self.ask("tasks/get", taskId=task_id)["result"]
        return found

    def wait_for(self, task_id: str, wanted: Callable[[Json], bool]) -> Json:
        deadline = time.monotonic() + DEADLINE_S
        while not wanted(got := self.get(task_id)):
            assert time.monotonic() < deadline, got
            time.sleep(0.03)
        return got


def end(process: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    """Closes stdin, waits; what is left of the process is killed. (exit code, stderr)"""
    try:
        _, errors = process.communicate(timeout=DEADLINE_S)
    finally:
        process.kill()
    return process.returncode, errors


@contextmanager
def stdio(store: Path) -> Iterator[Stdio]:
    """A stdio server. It must leave cleanly, and without a word on stderr, if not killed."""
    server = Stdio(store)
    try:
        yield server
    finally:
        code, errors = end(server.process)
    assert code in (0, -9)
    assert errors == b""


@contextmanager
def http(store: Path) -> Iterator[str]:
    """The URL of an HTTP server on a free port."""
    process = spawn("--http", "127.0.0.1:0", "--store", store)
    try:
        assert process.stderr
        line = process.stderr.readline().decode()
        yield line.removeprefix("mcptask demo: ").strip()
    finally:
        process.terminate()
        code, errors = end(process)
    assert (code, errors) == (0, b"")
