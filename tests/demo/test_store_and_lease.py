"""Tasks outlive processes, and several processes share them: each job has one runner."""

import sqlite3
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mcptask.demo.jobs import Done, Job, Next, Step, Tool, table, text_result
from mcptask.demo.store import Store
from tests.demo.wire import Bench, Clock

TAKEN: list[tuple[str, int]] = []


def _counting(job: Job) -> Step:
    """Ten steps of 0.2 s; each is noted outside of the store, as a side effect would be."""
    step = job.state.get("step", 0)
    TAKEN.append((job.arguments["name"], step))
    if step == 10:
        return Done(text_result("ten"))
    return Next(0.2, {"step": step + 1}, f"{step} of 10")


OBJECT = {"type": "object"}
TOOLS = table(Tool("counting", "", "", OBJECT, step=_counting))


@pytest.fixture(autouse=True)
def _nothing_taken() -> None:
    TAKEN.clear()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "mcptask" / "demo.sqlite3"


def both_wait(one: Bench, other: Bench, seconds: float) -> None:
    end = one.clock.seconds + seconds
    while one.clock.seconds < end:
        one.clock.seconds += 0.05
        one.turn()
        other.turn()


def test_the_store_is_for_its_owner_alone(path: Path) -> None:
    bench = Bench(path)
    bench.start("slow_echo", text="a")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    modes = {stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert modes == {0o600}
    bench.close()


def test_a_task_is_there_in_the_next_process(path: Path) -> None:
    first = Bench(path)
    task_id = first.start("reflow_month", month="2026-09", seconds=0)
    first.wait(0.2)
    got = first.get(task_id)
    first.close()
    second = Bench(path, clock=first.clock)
    assert second.get(task_id) == got
    second.close()


def test_a_killed_job_goes_on_where_it_was_and_no_step_twice(path: Path) -> None:
    clock = Clock()
    first = Bench(path, TOOLS, clock)
    task_id = first.start("counting", name="a")
    first.wait(0.9)
    taken = len(TAKEN)
    assert 0 < taken < 10
    first.close()
    clock.seconds += 3600
    second = Bench(path, TOOLS, clock)
    second.wait(0.1)
    assert len(TAKEN) == taken + 1, "an interrupted job keeps its pace, it does not catch up"
    second.wait(2.0)
    assert second.get(task_id)["status"] == "completed"
    assert [("a", step) for step in range(11)] == TAKEN
    second.close()


def test_an_orphan_is_taken_over_within_two_seconds(path: Path) -> None:
    clock = Clock()
    first, second = Bench(path, TOOLS, clock), Bench(path, TOOLS, clock)
    task_id = first.start("counting", name="a")
    both_wait(first, second, 0.5)
    first.close()
    taken = len(TAKEN)
    killed = clock.seconds
    while len(TAKEN) == taken:
        second.wait(0.05)
        assert clock.seconds - killed < 2.0
    second.wait(2.5)
    assert second.get(task_id)["status"] == "completed"
    assert [("a", step) for step in range(11)] == TAKEN
    second.close()


def test_a_job_left_on_purpose_is_taken_over_at_the_next_look(path: Path) -> None:
    clock = Clock()
    first, second = Bench(path, TOOLS, clock), Bench(path, TOOLS, clock)
    first.start("counting", name="a")
    both_wait(first, second, 0.3)
    first.engine.scheduler.stop()
    taken = len(TAKEN)
    second.wait(0.45)
    assert len(TAKEN) > taken
    first.close()
    second.close()


def test_two_living_processes_share_the_work_and_no_step(path: Path) -> None:
    clock = Clock()
    benches = Bench(path, TOOLS, clock), Bench(path, TOOLS, clock)
    ids = [benches[index % 2].start("counting", name=str(index)) for index in range(20)]
    both_wait(*benches, 2.5)
    assert len(TAKEN) == len(set(TAKEN)) == 20 * 11
    assert {benches[0].get(task_id)["status"] for task_id in ids} == {"completed"}
    for bench in benches:
        bench.close()


def test_a_process_that_slept_through_its_lease_takes_no_step_of_its_successor(path: Path) -> None:
    clock = Clock()
    sleeper, successor = Bench(path, TOOLS, clock), Bench(path, TOOLS, clock)
    sleeper.start("counting", name="a")
    sleeper.wait(0.3)
    clock.seconds += 5
    successor.wait(0.3)
    both_wait(sleeper, successor, 3)
    assert [("a", step) for step in range(11)] == TAKEN
    sleeper.close()
    successor.close()


def test_either_process_may_be_asked_to_cancel_or_update(path: Path) -> None:
    clock = Clock()
    first, second = Bench(path, clock=clock), Bench(path, clock=clock)
    echo = first.start("slow_echo", text="a")
    ask = first.start("reflow_month", month="2026-09", seconds=0, ask=True)
    both_wait(first, second, 0.2)
    second.result("tasks/cancel", taskId=echo)
    answer = {"unplaced": {"action": "accept", "content": {"action": "keep"}}}
    second.result("tasks/update", taskId=ask, inputResponses=answer)
    second.turn()
    assert first.get(echo)["status"] == "cancelled"
    assert first.get(ask)["status"] == "completed"
    first.close()
    second.close()


def test_a_process_leaves_the_jobs_of_tools_it_does_not_have(path: Path) -> None:
    clock = Clock()
    first = Bench(path, TOOLS, clock)
    task_id = first.start("counting", name="a")
    first.close()
    stranger = Bench(path, clock=clock)
    stranger.wait(5)
    assert stranger.get(task_id)["status"] == "working"
    stranger.result("tasks/cancel", taskId=task_id)
    stranger.wait(1)
    owner = Bench(path, TOOLS, clock)
    owner.wait(1)
    assert owner.get(task_id)["status"] == "cancelled"
    assert TAKEN == []
    stranger.close()
    owner.close()


def test_an_idle_process_writes_nothing(path: Path) -> None:
    clock = Clock()
    idle, other = Bench(path, clock=clock), Bench(path, clock=clock)
    before = other.engine.store.foreign_version()
    idle.wait(5)
    assert other.engine.store.foreign_version() == before
    idle.close()
    other.close()


def test_a_store_of_another_version_is_refused(path: Path) -> None:
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(sqlite3.DatabaseError, match="another version"):
        Store(path)


def test_processes_that_make_the_store_together_do_not_trip_over_each_other(
    tmp_path: Path,
) -> None:
    script = "import sys; from pathlib import Path; from mcptask.demo.store import Store\n"
    script += "sys.stdin.read(1)\nfor path in sys.argv[1:]: Store(Path(path)).close()"
    paths = [str(tmp_path / str(index)) for index in range(30)]
    command = [sys.executable, "-c", script, *paths]
    processes = [
        subprocess.Popen(command, cwd=Path(__file__).parents[2], stdin=subprocess.PIPE)
        for _ in range(3)
    ]
    time.sleep(0.3)  # all have imported what they need, and wait for the word
    for process in processes:
        assert process.stdin
        process.stdin.write(b"g")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=30)
    assert [process.returncode for process in processes] == [0, 0, 0]


def test_a_thousand_tasks_are_no_problem() -> None:
    bench = Bench()
    ids = [bench.start("slow_echo", text=str(index), seconds=1) for index in range(1000)]
    for _ in range(6):
        bench.clock.seconds += 0.2
        bench.turn()
    texts = [bench.get(task_id)["result"]["content"][0]["text"] for task_id in ids]
    assert texts == [str(index) for index in range(1000)]
    bench.close()


def test_a_step_that_the_store_refused_is_taken_later(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(path, TOOLS)
    task_id = bench.start("counting", name="a")
    real = bench.engine.store.transaction

    def refuse() -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(bench.engine.store, "transaction", refuse)
    with pytest.raises(sqlite3.OperationalError):
        bench.turn()
    monkeypatch.setattr(bench.engine.store, "transaction", real)
    bench.wait(2.2)
    assert bench.get(task_id)["status"] == "completed"
    bench.close()


def test_a_transaction_that_fails_leaves_nothing_behind(path: Path) -> None:
    bench = Bench(path, TOOLS)
    task_id = bench.start("counting", name="a")
    store = bench.engine.store

    def fail() -> None:
        with store.transaction():
            store.delete(task_id)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert bench.get(task_id)["status"] == "working"
    bench.close()
