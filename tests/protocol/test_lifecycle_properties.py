"""Properties of the lifecycle, over anything that a server, a network and a clock may do.

A made-up world answers the questions that the lifecycle puts; a few lines of bookkeeping, written
independently of it, watch when it puts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.protocol.changes import changes
from mcptask.protocol.events import InputRequired
from mcptask.protocol.lifecycle import Finish, Get, Stop, Wait, next_action
from mcptask.protocol.observations import denied, missed, observe
from mcptask.protocol.task import TERMINAL, Status, Task
from mcptask.protocol.view import Rules, View, begin, begin_with
from tests.protocol.fakes import QUESTION, task

pytestmark = pytest.mark.no_cover

BEGAN = 1000.0
Happening = Callable[[View, float], View]

statuses = st.sampled_from([*(s.value for s in Status), "queued", "paused", "x" * 40])
intervals = st.none() | st.integers(1, 5000) | st.sampled_from([1, 100, 30_000, 10**12])
payloads = st.none() | st.just({}) | st.just({"room": QUESTION})

snapshots = st.builds(
    task,
    statuses,
    poll_interval_ms=intervals,
    ttl_ms=st.none() | st.integers(0, 10_000),
    result=payloads,
    error=payloads,
    input_requests=payloads | st.just({"waitlist": QUESTION}),
    warnings=st.sampled_from([(), ("odd ttlMs",)]),
)
live_snapshots = snapshots.filter(lambda snapshot: not snapshot.terminal)


def hears(snapshot: Task) -> Happening:
    return lambda view, now: observe(view, snapshot, now)


def fails(retry_after: float | None, spread: float) -> Happening:
    return lambda view, now: missed(view, "busy", now, retry_after=retry_after, spread=spread)


failing = st.builds(fails, st.none() | st.floats(0, 1e6) | st.just(float("inf")), st.floats(0, 1))
refusing = st.just(denied)
anything = st.lists(st.builds(hears, snapshots) | failing | refusing, max_size=30)
delays = st.lists(st.sampled_from([0.0, 0.001, 0.3, 7.0, 400.0]), min_size=1, max_size=5)

rules = st.builds(
    Rules,
    deadline=st.none() | st.floats(BEGAN, BEGAN + 5000),
    give_up_after=st.just(300.0) | st.floats(0, 1000),
    min_interval=st.just(0.0) | st.floats(0, 100),
    stop_for_input=st.booleans(),
)
beginnings = st.tuples(rules, st.none() | snapshots)


@dataclass
class Course:
    """What was done, and the view after it."""

    view: View
    now: float = BEGAN
    gets: int = 0
    contacts: list[tuple[float, Task | None]] = field(default_factory=list)
    end: Finish | Stop | None = None


def begun(beginning: tuple[Rules, Task | None]) -> Course:
    allowed, seed = beginning
    if seed is None:
        return Course(begin(allowed, BEGAN))
    return Course(begin_with(seed, allowed, BEGAN), contacts=[(BEGAN, seed)])


def drive(course: Course, happenings: Iterable[Happening], late: list[float]) -> Course:
    """Do as told until the end or until nothing more happens; hold every action to the rules."""
    happenings = iter(happenings)
    while True:
        action = next_action(course.view, course.now)
        assert isinstance(action, Get | Wait | Finish | Stop)
        assert action == next_action(course.view, course.now)
        if isinstance(action, Finish | Stop):
            course.end = action
            return course
        if isinstance(action, Wait):
            check_wait(course, action)
            # The world may wake us late, never early.
            course.now = action.until + late[course.gets % len(late)]
            continue
        check_get(course)
        if (happening := next(happenings, None)) is None:
            return course
        course.gets += 1
        before = course.view
        course.view = happening(before, course.now)
        course.contacts.append((course.now, course.view.task))
        check_step(before, course.view, course.now)


def check_wait(course: Course, wait: Wait) -> None:
    assert wait.until > course.now, "a wait is never in the past"
    deadline = course.view.rules.deadline
    assert deadline is None or wait.until <= deadline, "nor beyond the deadline"


def check_get(course: Course) -> None:
    """Never sooner than the latest snapshot's interval after the last contact (A10.1)."""
    deadline = course.view.rules.deadline
    assert deadline is None or course.now < deadline
    if not course.contacts:
        return  # a resumed task: at once (A10.3)
    at, latest = course.contacts[-1]
    if len(course.contacts) == 1 and course.view.seed and latest and not latest.has_payload:
        return  # made in a state that needs more: at once (A8.6)
    asked = 1000 if latest is None or latest.poll_interval_ms is None else latest.poll_interval_ms
    assert course.now - at >= max(asked / 1000, 0.1, course.view.rules.min_interval) - 1e-6


def check_step(before: View, after: View, now: float) -> None:
    if before.task is not None and before.task.terminal:
        assert after.task is not None
        assert after.task.status == before.task.status, "terminal is final"
    asked = [e for e in changes(before, after, now) if isinstance(e, InputRequired)]
    for event in asked:
        assert not before.asked & event.requests.keys(), "no question is announced twice"


@given(beginnings, anything, delays)
def test_every_action_keeps_the_rules_whatever_happens_a10(
    beginning: tuple[Rules, Task | None], happenings: list[Happening], late: list[float]
) -> None:
    drive(begun(beginning), happenings, late)


@given(beginnings, anything, delays)
def test_only_a_terminal_status_finishes_and_nothing_else_does_s4(
    beginning: tuple[Rules, Task | None], happenings: list[Happening], late: list[float]
) -> None:
    course = drive(begun(beginning), happenings, late)
    status = course.view.task.status if course.view.task else None
    if isinstance(course.end, Finish):
        assert status in TERMINAL
    if isinstance(course.end, Stop):
        assert course.end.why in {"lost", "timeout", "unreachable", "protocol", "input_required"}
        assert course.end.why != "lost" or status not in TERMINAL


@given(
    st.tuples(rules, st.none() | live_snapshots),
    st.lists(st.builds(hears, live_snapshots) | failing | refusing, max_size=30),
    delays,
)
def test_losing_contact_never_becomes_an_end_of_the_task_s10(
    beginning: tuple[Rules, Task | None], happenings: list[Happening], late: list[float]
) -> None:
    course = drive(begun(beginning), happenings, late)
    assert not isinstance(course.end, Finish)


def forever(happening: Happening) -> Iterable[Happening]:
    for _ in range(3000):
        yield happening


@pytest.mark.parametrize(
    ("ending", "ends"),
    [
        (fails(None, 0.5), {"unreachable"}),
        (fails(7.0, 0.0), {"unreachable"}),
        (denied, {"lost"}),
        (hears(task("paused", poll_interval_ms=10_000)), {"protocol"}),
        (hears(task("completed")), {"finish"}),
        (hears(task("failed", error={})), {"finish"}),
        (hears(task("cancelled")), {"finish"}),
    ],
    ids=["down", "busy", "forgotten", "unknown", "no result", "failed", "cancelled"],
)
@settings(max_examples=25)
@given(beginning=beginnings, happenings=anything, late=delays)
def test_following_ends_once_the_world_has_settled_a10_6(
    ending: Happening,
    ends: set[str],
    beginning: tuple[Rules, Task | None],
    happenings: list[Happening],
    late: list[float],
) -> None:
    course = drive(begun(beginning), happenings, late)
    if course.end is not None:
        return
    settled = drive(course, forever(ending), late)
    assert settled.end is not None
    why = settled.end.why if isinstance(settled.end, Stop) else "finish"
    # What the task was before may end it first: a deadline, a question, a status unknown for long.
    assert why in ends | {"timeout", "protocol", "input_required", "finish"}
    assert isinstance(settled.end, Stop) or settled.view.task is not None


@given(
    st.floats(BEGAN, BEGAN + 5000),
    st.none() | snapshots,
    st.builds(hears, snapshots) | failing,
    delays,
)
def test_a_deadline_ends_everything_a10_4(
    deadline: float, seed: Task | None, happening: Happening, late: list[float]
) -> None:
    course = begun((Rules(deadline=deadline, min_interval=60.0, give_up_after=1e9), seed))
    assert drive(course, forever(happening), late).end is not None
