"""The program of `--answer-with` as a process: how many run at once, and how one is ended."""

import asyncio
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcptask.commands import _children
from mcptask.commands._children import Child
from tests.commands.answering.programs import GOOD, SAMPLING, Asked, says
from tests.e2e.running import PATIENCE, alive

# Deaf to SIGTERM, with a child of its own that is as well. Both note themselves.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
with open(sys.argv[1], "a") as file:
    print(os.getpid(), file=file)
time.sleep(600)
"""
# Notes that it runs, and answers once there is a file `notes.go`.
PATIENT = f"""
import os, sys, time
with open(sys.argv[1], "a") as file:
    print(os.getpid(), file=file)
while not os.path.exists(sys.argv[1] + ".go"):
    time.sleep(0.01)
{says(GOOD)}
"""


async def until(true: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.01)


def test_a_question_that_is_gone_ends_the_program_with_its_whole_group_a12_14(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_children, "GRACE", 0.2)
    run = Asked(tmp_path, STUBBORN, verbose=True)

    async def course() -> None:
        asking = asyncio.create_task(run.answer())
        await until(lambda: len(run.pids) == 2)
        asking.cancel("studio no longer asks it")
        with pytest.raises(asyncio.CancelledError, match="studio no longer asks it"):
            await asking
        await until(lambda: not any(map(alive, run.pids)))

    asyncio.run(course())
    assert run.job.warnings == []
    assert "): it is ended: studio no longer asks it\n" in run.err.getvalue()


@pytest.fixture
def most_at_once(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many programs ran at the same time, at most."""
    start, stop = Child.start, Child.stop
    running, counts = set[Child](), [0]

    async def counted(child: Child, *args: Any) -> None:
        running.add(child)
        counts.append(len(running))
        await start(child, *args)

    async def discounted(child: Child) -> None:
        await stop(child)
        running.discard(child)

    monkeypatch.setattr(Child, "start", counted)
    monkeypatch.setattr(Child, "stop", discounted)
    return lambda: max(counts)


def test_no_more_than_four_run_at_once_however_many_ask_a12_14(
    tmp_path: Path, most_at_once: Callable[[], int]
) -> None:
    run = Asked(tmp_path, PATIENT)

    async def course() -> list[Any]:
        asking = [asyncio.create_task(run.answer(key=f"q{n}")) for n in range(7)]
        await until(lambda: len(run.pids) >= 4)
        asking.pop().cancel()  # it waits for its turn, and gives it up
        run.notes.with_name("notes.go").touch()
        return await asyncio.gather(*asking)

    assert asyncio.run(course()) == [GOOD] * 6
    assert (most_at_once(), len(run.pids)) == (4, 6)


def test_a_program_that_reads_nothing_of_a_long_request_may_answer_all_the_same(
    tmp_path: Path,
) -> None:
    long = {**SAMPLING, "params": {"systemPrompt": "x" * 3_000_000}}
    assert Asked(tmp_path, says(GOOD))(long) == GOOD


def test_what_it_leaves_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    source = """
import os, sys, time
print(%r, flush=True)
if pid := os.fork():
    open(sys.argv[1], "w").write(str(pid))
else:
    time.sleep(600)
"""
    run = Asked(tmp_path, source % json.dumps(GOOD))
    try:
        assert run() == GOOD
        assert all(map(alive, run.pids))
    finally:
        for pid in run.pids:
            os.kill(pid, signal.SIGKILL)


def test_it_has_no_terminal_to_read_from_or_to_write_on(tmp_path: Path) -> None:
    """Its session is its own, and one that is new has none."""
    source = "import json, os\nprint(json.dumps({**%r, 'model': str(os.getsid(0) == os.getpid())}))"
    assert Asked(tmp_path, source % GOOD)()["model"] == "True"
