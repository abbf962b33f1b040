"""What is noted of followed tasks: of one at once, of several together and not too often, all at the end."""

import asyncio
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands.following.batches import LEAST_REST, REST, Note, keeping
from mcptask.env import Clock
from mcptask.errors import StateUnwritable
from mcptask.protocol.task import Task
from mcptask.store.records import Sighting, TaskRecord
from tests.protocol.fakes import FakeClock, run

RECORDS = [TaskRecord(ref=ref, task_id=f"tsk_{ref}", status="working") for ref in range(1, 4)]


class World:
    """A job whose store tells what was written, and takes `cost` seconds for it. A sleep lasts until
    `go_on`."""

    def __init__(self) -> None:
        self.fake = FakeClock()
        self.cost = 0.0
        self.full = False
        self.written: list[dict[int, str]] = []
        self.saved: list[str] = []
        self.warned: list[str] = []
        self.slept: list[float] = []
        self._awake = asyncio.Event()
        clock = Clock(now=self.fake.clock.now, wall=self.fake.clock.wall, sleep=self._sleep)
        self.job: Any = SimpleNamespace(
            env=SimpleNamespace(clock=clock),
            store=SimpleNamespace(observe_all=self._observe),
            outcomes=SimpleNamespace(save_all=self._save),
            config=SimpleNamespace(store_results=True),
            warn=self.warned.append,
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._awake.clear()
        await self._awake.wait()

    async def go_on(self) -> None:
        """Whoever sleeps is woken, and all that is ready has its turn."""
        self._awake.set()
        await turns()

    def _observe(self, seen: Mapping[int, Sighting]) -> Mapping[int, Sighting]:
        self.fake.time += self.cost
        if self.full:
            raise StateUnwritable("the disk is full")
        self.written.append(
            {ref: task.status if task else "lost" for ref, (task, _) in seen.items()}
        )
        return seen

    def _save(self, ended: list[tuple[Task, object]]) -> int:
        self.saved += [task.task_id for task, _ in ended]
        return len(ended)


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def seen(note: Note, ref: int, status: str = "working", **fields: Any) -> None:
    note(RECORDS[ref - 1], Task(task_id=f"tsk_{ref}", status=status, **fields))


def test_what_is_seen_of_a_single_task_is_there_before_anyone_is_told() -> None:
    world = World()

    async def course() -> None:
        async with keeping(world.job, several=False) as (note, _):
            seen(note, 1)
            assert world.written == [{1: "working"}]
            seen(note, 1, "completed", result={})
            assert (world.written[1:], world.saved) == ([{1: "completed"}], ["tsk_1"])

    run(course())
    assert (len(world.written), world.slept) == (2, [])


def test_what_came_of_several_goes_into_one_write_and_the_next_keeps_its_distance() -> None:
    world = World()
    world.cost = 0.1

    async def course() -> None:
        async with keeping(world.job, several=True) as (note, _):
            seen(note, 1)
            seen(note, 2)
            assert world.written == []
            await turns()
            assert world.written == [{1: "working", 2: "working"}]
            assert world.slept == [pytest.approx(REST * world.cost)]
            seen(note, 1, "failed", error={})
            seen(note, 3)
            note(RECORDS[2], None)
            await turns()
            assert len(world.written) == 1
            await world.go_on()
            assert world.written[1:] == [{1: "failed", 3: "lost"}]
            assert world.saved == ["tsk_1"]

    run(course())
    assert len(world.written) == 2


def test_writing_that_costs_nothing_is_not_done_all_the_time_either() -> None:
    world = World()

    async def course() -> None:
        async with keeping(world.job, several=True) as (note, _):
            await world.go_on()
            assert world.slept == []  # nobody wakes up for nothing
            seen(note, 1)
            await turns()
            assert world.slept == [LEAST_REST]
            await world.go_on()
            await world.go_on()
            assert world.slept == [LEAST_REST]

    run(course())


def test_what_must_be_there_before_someone_reads_is_written_at_once_and_nothing_else_is() -> None:
    world = World()

    async def course() -> None:
        async with keeping(world.job, several=True) as (note, settle):
            seen(note, 1, "completed", result={})
            seen(note, 2)
            settle(3)
            assert world.written == []
            settle(1)
            assert world.written == [{1: "completed", 2: "working"}]
            settle(2)
            assert len(world.written) == 1

    run(course())
    assert len(world.written) == 1


def leave() -> None:
    """The end of the following."""


def fail() -> None:
    raise ZeroDivisionError


def be_cancelled() -> None:
    raise asyncio.CancelledError


@pytest.mark.parametrize("way_out", [leave, fail, be_cancelled])
def test_what_was_not_written_yet_is_on_every_way_out(way_out: Callable[[], None]) -> None:
    world = World()

    async def course() -> None:
        async with keeping(world.job, several=True) as (note, _):
            seen(note, 1)
            await turns()
            seen(note, 2, "completed", result={})
            way_out()

    try:
        run(course())
    except (ZeroDivisionError, asyncio.CancelledError):
        assert way_out is not leave
    assert world.written == [{1: "working"}, {2: "completed"}]
    assert world.saved == ["tsk_2"]


@pytest.mark.parametrize(
    ("several", "what"), [(False, "task 1"), (True, "what was seen of the tasks")]
)
def test_a_full_disk_is_told_in_the_same_words_and_what_it_kept_out_is_written_later(
    several: bool, what: str
) -> None:
    world = World()
    world.full = True

    async def course() -> None:
        async with keeping(world.job, several=several) as (note, _):
            seen(note, 1, "completed", result={})
            await turns()
            assert set(world.warned) == {f"{what} could not be noted: the disk is full"}
            world.full = False

    run(course())
    assert (world.written, world.saved) == ([{1: "completed"}], ["tsk_1"])
