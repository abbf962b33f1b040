"""A laptop that was closed for an hour while it followed a task (A10.8)."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.errors import Unreachable
from tests.protocol.fakes import ID, done, wire
from tests.protocol.pushing import SILENCE, ack, at, tells, watched
from tests.protocol.virtual import Clocks

GONE = Unreachable("no route")
HOUR = 3600.0


def slept(gets: dict[float, Any], *naps: tuple[float, float], counted: bool, **rules: Any) -> Any:
    clocks = Clocks()
    return watched(
        gets=gets,
        known="it does not push",
        clocks=clocks,
        beside=[clocks.nap(at, seconds, counted=counted) for at, seconds in naps],
        **rules,
    )


@pytest.mark.parametrize("counted", [False, True], ids=["now stood still", "now went on"])
def test_the_first_thing_after_a_sleep_is_a_question_a10_8(counted: bool) -> None:
    """Whatever it is that wakes us: here no sleep of ours is longer than an hour."""
    rarely = wire(pollIntervalMs=7_200_000)
    assert slept({0: rarely, 3000: done()}, counted=counted).polls == [0, 7200]
    assert slept({0: rarely, 3000: done()}, (20, 600.0), counted=counted).polls == [0, 3600]


@pytest.mark.parametrize("counted", [False, True], ids=["now stood still", "now went on"])
def test_an_hour_asleep_does_not_use_up_the_patience_a10_8(counted: bool) -> None:
    course = slept({0: wire(), 1: GONE, 250: done()}, (130, HOUR), counted=counted)
    assert course.told[ID][-1].endswith("ended completed 0")


@pytest.mark.parametrize("counted", [False, True], ids=["now stood still", "now went on"])
def test_patience_goes_on_where_it_was_a10_8(counted: bool) -> None:
    course = slept({0: wire(), 1: GONE}, (130, HOUR), counted=counted)
    assert course.told[ID][-1].endswith("ended unreachable 7")
    assert 290 <= course.ended_at <= 320, "five minutes awake, by the loop's own time"
    assert "no contact for 5" in course.outcome().error.message


def test_a_busy_machine_was_not_asleep_a10_8() -> None:
    course = slept({0: wire(pollIntervalMs=20_000), 41: done()}, (5, 9.0), counted=False)
    assert course.polls == [0, 20, 40, 60]


def test_a_sleep_ends_no_deadline_early_where_the_clock_stood_still_a10_8() -> None:
    course = slept({0: wire()}, (20, HOUR), counted=False, deadline=50.0)
    assert course.ended_at == 50
    assert course.told[ID][-1].endswith("ended timeout 124")


def test_a_clock_that_is_set_back_changes_nothing_a10_8() -> None:
    course = slept({0: wire(pollIntervalMs=20_000), 41: done()}, (5, -HOUR), counted=False)
    assert course.polls == [0, 20, 40, 60]


def test_news_that_come_after_a_sleep_are_followed_by_a_question_a10_8() -> None:
    clocks = Clocks()
    two = wire(statusMessage="2 of 3")
    course = watched(
        gets={0: wire(), 12: two, 13: done()},
        streams=[[ack(), at(12), tells(two), SILENCE]],
        clocks=clocks,
        beside=[clocks.nap(5, HOUR)],
    )
    assert course.polls[:3] == [0, 0.1, 12]


def test_a_wait_that_news_cut_short_uses_up_no_patience_a10_8() -> None:
    """Nor does it give any back."""
    clocks = Clocks()
    hints = [step for moment in (100, 140, 180) for step in (at(moment), tells({"taskId": ID}))]
    course = watched(
        gets={0: wire(), 1: GONE},
        streams=[[ack(), *hints, SILENCE]],
        clocks=clocks,
        beside=[clocks.nap(moment, HOUR) for moment in (99, 139, 179)],
    )
    failing_since = course.polls[2]
    assert course.told[ID][-1].endswith("ended unreachable 7")
    assert 300 <= course.ended_at - failing_since <= 305
