"""A stdio server that dies in the middle of a watch: started again, and nothing of it is left behind."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcptask.env import Clock
from mcptask.protocol.transports.stdio import StdioTransport
from tests.e2e.running import ROOT, Cli, Process, alive

START = f"""
import json, os, sys
from pathlib import Path
folder = Path(__file__).parent
with open(folder / "pids", "a") as pids:
    pids.write(f"{{os.getpid()}}\\n")
life = len((folder / "pids").read_text().split())
if (folder / "broken").exists():
    sys.exit("no licence found")
sys.path.insert(0, {str(ROOT)!r})
"""
# The built-in server: it keeps its tasks on disk, so they survive it.
DEMO = "from mcptask.demo.__main__ import main\nmain(sys.argv[1:])\n"
# One task, which completes at the fourteenth `tasks/get`; each process dies of its second one. `lasting`: the
# task is kept on disk, else it is gone with the process that made it.
MORTAL = """
ID, TASKS = "tsk_8f21c0ffee", "io.modelcontextprotocol/tasks"
TASK = {"taskId": ID, "status": "working", "ttlMs": None, "pollIntervalMs": 100}
TOOL = {"name": "job", "inputSchema": {"type": "object"}}
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"extensions": {TASKS: {}}}},
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"resultType": "task", **TASK},
}
made, answered = lasting and life > 1, 0
def look():
    global answered
    answered += 1
    with open(folder / "gets", "a") as gets:
        gets.write(".")
    if answered == 2:
        os._exit(3)
    if os.path.getsize(folder / "gets") >= 14:
        return TASK | {"status": "completed", "result": {"content": [{"type": "text", "text": "hi"}]}}
    return TASK
for line in sys.stdin:
    asked = json.loads(line)
    method = asked["method"]
    made = made or method == "tools/call"
    found = look() if made and method == "tasks/get" else RESULTS.get(method)
    refusal = {"code": -32602 if method == "tasks/get" else -32601, "message": "not found"}
    said = {"result": {"resultType": "complete", **found}} if found else {"error": refusal}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **said}), flush=True)
"""


class Program:
    """A stdio server that notes the id of each process that runs it. A broken one dies at its start."""

    def __init__(self, folder: Path, source: str) -> None:
        self.folder = folder
        (folder / "server.py").write_text(START + source)
        self.words = [sys.executable, str(folder / "server.py")]
        if source == DEMO:
            self.words += ["--store", str(folder / "demo.sqlite3")]

    @property
    def pids(self) -> list[int]:
        return [int(line) for line in (self.folder / "pids").read_text().split()]

    @property
    def broken(self) -> bool:
        return (self.folder / "broken").exists()

    def break_it(self) -> None:
        (self.folder / "broken").touch()

    def mend_it(self) -> None:
        (self.folder / "broken").unlink()

    def is_gone(self) -> bool:
        return bool(self.pids) and not any(alive(pid) for pid in self.pids)


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Program]:
    return lambda source: Program(tmp_path, source)


@pytest.fixture
def flying(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Time flies as soon as no server is being talked to, over stdio as well."""
    watched = cli.time.watching(StdioTransport.exchange)
    monkeypatch.setattr(StdioTransport, "exchange", watched)
    return cli


def configured(cli: Cli, program: Program) -> None:
    cli.configure(f"[servers.local]\ncommand = {json.dumps(program.words)}\n")


def stored(cli: Cli) -> dict[str, Any]:
    (record,) = cli("list", "--json").listed["tasks"]
    return dict(record)


def test_a_child_that_is_killed_in_the_middle_of_a_watch_is_started_again_a6_7(
    start: Callable[..., Process], program: Callable[[str], Program], cli: Cli
) -> None:
    """A real process, and a kill from outside."""
    server = program(DEMO)
    configured(cli, server)
    watch = start("call", "slow_echo", "text=hi", "seconds=2", "--wait", "-v")
    watch.hear("is task 1")
    os.kill(server.pids[-1], signal.SIGKILL)
    watch.hear("starting it again")
    ran = watch.end()
    assert (ran.code, ran.out) == (0, "hi\n")
    assert "killed by signal 9" in ran.err
    assert len(server.pids) == 2
    assert server.is_gone()


def test_a_child_may_die_as_often_as_it_likes_as_long_as_it_answers_in_between_a6_7(
    flying: Cli, program: Callable[[str], Program]
) -> None:
    server = program("lasting = True\n" + MORTAL)
    configured(flying, server)
    ran = flying("call", "job", "--wait")
    assert (ran.code, ran.out) == (0, "hi\n")
    assert len(server.pids) == 8
    assert server.is_gone()


def test_a_task_that_died_with_its_process_is_lost_and_not_failed_a6_7_a4_3(
    flying: Cli, program: Callable[[str], Program]
) -> None:
    server = program("lasting = False\n" + MORTAL)
    configured(flying, server)
    ran = flying("call", "job", "--wait")
    assert ran.code == 6
    assert "local no longer knows task 1 (tsk_8f21c0ffee)" in ran.err
    assert "a stdio server's tasks often end with its process" in ran.err
    assert (stored(flying)["status"], stored(flying)["outcome"]) == ("working", "lost")
    assert len(server.pids) == 2
    assert server.is_gone()


@pytest.mark.parametrize("number", [1, 6])
def test_a_server_that_dies_at_every_start_is_given_up_and_its_tasks_are_as_they_were_a6_7_a10_6(
    flying: Cli, program: Callable[[str], Program], number: int
) -> None:
    """However many tasks are followed there: they do not start it more often than one would."""
    server = program(DEMO)
    configured(flying, server)
    for _ in range(number):
        assert flying("call", "slow_echo", "text=hi", "seconds=3600").code == 0
    server.break_it()
    ran = flying("watch", "--all")
    assert ran.code == 7
    assert "no contact for 5" in ran.err
    assert "no licence found" in ran.err
    assert "mcptask watch" in ran.err
    for record in flying("list", "--json").listed["tasks"]:
        assert (record["status"], record["outcome"]) == ("working", None)
    assert 10 < len(server.pids) - number < 25
    assert server.is_gone()


def test_a_server_that_starts_again_after_ten_minutes_is_followed_on_a6_7_a10_6(
    flying: Cli, program: Callable[[str], Program]
) -> None:
    server = program("lasting = True\n" + MORTAL)
    configured(flying, server)
    assert flying("call", "job").code == 0
    server.break_it()
    begun, time = flying.time.now(), flying.time

    async def sleep(seconds: float) -> None:
        await time.sleep(seconds)
        if server.broken and time.now() - begun > 600:
            server.mend_it()

    clock = Clock(now=time.now, wall=time.wall, sleep=sleep)
    ran = flying("watch", "1", "--give-up-after", "15m", clock=clock)
    assert (ran.code, ran.out) == (0, "hi\n")
    assert "answers again" in ran.err
    assert server.is_gone()
