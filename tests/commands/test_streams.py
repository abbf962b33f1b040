"""From when a task's time is counted."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands._streams import followed
from mcptask.protocol.task import Task
from mcptask.store.records import TaskRecord
from tests.protocol.fakes import FakeClock, task

HOUR = 3600.0


def started(ahead: float, seed: Task | None) -> float:
    """When a task began on our clock, whose server says that it was made `ahead` seconds from now."""
    clock = FakeClock().clock
    job: Any = SimpleNamespace(env=SimpleNamespace(clock=clock))
    made = clock.wall() + timedelta(seconds=ahead)
    record = TaskRecord(ref=1, task_id="tsk", status="working", created_at=made)
    endpoint: Any = SimpleNamespace(name="studio")
    return followed(job, record, endpoint, seed).subject.started - clock.now()


@pytest.mark.parametrize("ahead", [-HOUR, 0.0, HOUR])
def test_a_task_made_just_now_counts_from_now_whatever_its_server_says_a14_5(ahead: float) -> None:
    assert started(ahead, task()) == 0.0


def test_a_stored_task_counts_from_its_making_but_never_from_the_future_a14_5() -> None:
    assert started(-HOUR, None) == -HOUR
    assert started(HOUR, None) == 0.0
