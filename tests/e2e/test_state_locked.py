"""Another process has the state file's lock and keeps it: who, is said, and nothing else waits for it."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from mcptask.store import lock
from tests.e2e.running import ROOT, Cli
from tests.e2e.scripted import ID, Scripted, now, tool_result

HOLD = """
import sys
from pathlib import Path
from mcptask.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(on_server: Cli, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A task is stored, and then another process holds the lock; our patience is short."""
    assert on_server("call", "job", "month=x").out == f"{ID}\n"
    monkeypatch.setattr(lock, "TIMEOUT", 0.05)
    command = [sys.executable, "-c", HOLD, str(on_server.state)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process.pid
        process.kill()


def said(pid: int) -> str:
    return f"process {pid} has its lock, which was not free for 0.05 s"


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("wait", [(), ("--wait",)])
def test_a_call_prints_the_id_and_its_exit_is_the_tasks(
    on_server: Cli, server: Scripted, holder: int, wait: tuple[str, ...], failed: bool
) -> None:
    server.on("tasks/get", now("completed", result=tool_result(failed=failed)))
    before = on_server.state.read_bytes()
    ran = on_server("call", "job", "month=x", *wait)
    assert ran.code == (1 if failed and wait else 0)
    assert ran.out == ("moved 138, unresolved 4\n" if wait else f"{ID}\n")
    assert f"warning: nothing can be remembered: {on_server.state} cannot be written" in ran.err
    assert f"warning: task {ID} could not be stored" in ran.err
    assert said(holder) in ran.err
    assert on_server.state.read_bytes() == before


def test_reading_does_not_wait_for_it_and_a_watch_goes_on(on_server: Cli, holder: int) -> None:
    assert ID in on_server("list").out
    for command in ("get 1", "watch 1"):
        ran = on_server(*command.split())
        assert (ran.code, "moved 138, unresolved 4" in ran.out) == (0, True)
        assert f"warning: task 1 could not be noted: {on_server.state}" in ran.err
        assert said(holder) in ran.err


def test_what_only_changes_the_file_says_that_it_did_not(on_server: Cli, holder: int) -> None:
    before = on_server.state.read_bytes()
    body = on_server("forget", "1", "--json")
    assert (body.code, said(holder) in body.out) == (2, True)
    assert on_server.state.read_bytes() == before
