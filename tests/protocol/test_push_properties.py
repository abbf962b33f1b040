"""No wake-up is lost: whatever a server tells, forgets, repeats or tells late, whatever becomes of its
streams and its answers, a task's end is reported as it was, and each of its questions is announced once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.errors import Unreachable
from mcptask.protocol.events import InputRequired
from tests.protocol.fakes import ID, QUESTION, RESULT, refused, wire
from tests.protocol.pushing import CUT, END, SILENCE, Course, ack, acked, at, tells, watched
from tests.protocol.virtual import now

pytestmark = pytest.mark.no_cover

# s: the longest that a change may stay unseen: a safety poll, the faults below, the pause after them, and a
# late answer.
UNSEEN = 100.0


@dataclass(frozen=True)
class Change:
    """`pause` after the last one the task becomes `status`; its notification has a fate, and is late."""

    pause: float
    status: str
    fate: str
    late: float


@dataclass(frozen=True)
class Connection:
    """One stream: how it begins, when it is acknowledged, how long it lasts and how it ends."""

    begins: str
    ack_after: float
    lasts: float | None
    ends: str


@dataclass(frozen=True)
class World:
    """Everything that happens, in seconds from 0. `faults` are times without an answer, `clocked` says
    whether the server names the time of each state.
    """

    changes: Sequence[Change]
    connections: Sequence[Connection]
    faults: Sequence[tuple[float, float, Any]]
    answers_take: float
    interval: float
    clocked: bool

    @property
    def moments(self) -> list[float]:
        return list(accumulate(change.pause for change in self.changes))

    @property
    def end(self) -> float:
        return self.moments[-1]

    def state(self, count: int) -> dict[str, Any]:
        """The task after so many changes, as a whole snapshot."""
        status = self.changes[count - 1].status if count else "working"
        fields: dict[str, Any] = {"pollIntervalMs": self.interval * 1000}
        if self.clocked:
            minutes, seconds = divmod(self.moments[count - 1] if count else 0.0, 60)
            fields["lastUpdatedAt"] = (
                f"2026-09-12T{int(minutes // 60):02}:{int(minutes % 60):02}:{seconds:09.6f}Z"
            )
        payload = {
            "input_required": {"inputRequests": {f"q{count}": QUESTION}},
            "completed": {"result": RESULT},
            "failed": {"error": {"code": 1, "message": "boom"}},
        }
        return wire(status, statusMessage=f"after {count}", **payload.get(status, {}), **fields)

    def got(self) -> Any:
        for begins, lasts, fault in self.faults:
            if begins <= now() < begins + lasts:
                return fault
        return self.state(sum(moment <= now() + 1e-9 for moment in self.moments))

    def stream(self, connection: Connection) -> list[Any]:
        if connection.begins != "acknowledged":
            return BEGINNINGS[connection.begins]
        begun = now() + connection.ack_after
        ended = begun + (connection.lasts if connection.lasts is not None else 1e9)
        told = [each for each in self.notifications(begun) if each[0] < ended]
        steps = [step for moment, message in told for step in (at(moment), message)]
        return [
            at(begun),
            ack(),
            *steps,
            *([at(ended)] if ended < 1e9 else []),
            ENDINGS[connection.ends],
        ]

    def notifications(self, begun: float) -> list[tuple[float, dict[str, Any]]]:
        """What is told on a stream that begins then, and when: in whatever order it arrives."""
        found = []
        for count, (moment, change) in enumerate(zip(self.moments, self.changes, strict=True), 1):
            if moment > begun:
                whole = self.state(count)
                found += [(moment + change.late, tells(each)) for each in FATES[change.fate](whole)]
        return sorted(found, key=lambda each: each[0])


def without_payload(whole: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in whole.items() if k not in ("result", "error", "inputRequests")}


FATES = {
    "told": lambda whole: [whole],
    "dropped": lambda whole: [],
    "twice": lambda whole: [whole, whole],
    "bare": lambda whole: [without_payload(whole)],
    "id": lambda whole: [{"taskId": ID}],
}
BEGINNINGS: dict[str, list[Any]] = {
    "refused": [refused(-32601)],
    "cut": [CUT],
    "ended": [END],
    "silent": [SILENCE],
    "none": [acked({"taskIds": []}), SILENCE],
    "busy": [Unreachable("429", sent=False, busy=True, retry_after=3.0)],
}
ENDINGS: dict[str, Any] = {
    "cut": CUT,
    "result": END,
    "cancelled": {"method": "notifications/cancelled", "params": {}},
    "error": refused(-32603),
    "silent": SILENCE,
}

lateness = st.sampled_from([0.0, 0.02, 0.3, 6.0])
changes = st.builds(
    Change,
    st.sampled_from([0.01, 0.1, 0.7, 5.0, 40.0, 2 * UNSEEN]),
    st.sampled_from(["working", "input_required"]),
    st.sampled_from(sorted(FATES)),
    lateness,
)
ends = st.builds(
    Change,
    st.sampled_from([0.01, 0.3, 4.0, 40.0, 2 * UNSEEN]),
    st.sampled_from(["completed", "failed", "cancelled"]),
    st.sampled_from(sorted(FATES)),
    lateness,
)
connections = st.builds(
    Connection,
    st.sampled_from(["acknowledged"] * 6 + sorted(BEGINNINGS)),
    st.sampled_from([0.0, 0.05, 2.0]),
    st.none() | st.sampled_from([0.0, 0.5, 7.0, 45.0, 150.0]),
    st.sampled_from(sorted(ENDINGS)),
)
faults = st.tuples(
    st.floats(0, 300),
    st.floats(0.1, 10),
    st.sampled_from(
        [Unreachable("reset"), refused(-32603), Unreachable("429", sent=False, busy=True)]
    ),
)
worlds = st.builds(
    World,
    st.tuples(st.lists(changes, max_size=8), ends).map(lambda both: [*both[0], both[1]]),
    st.lists(connections, min_size=1, max_size=5),
    st.lists(faults, max_size=2),
    st.sampled_from([0.0, 0.04, 1.5]),
    st.sampled_from([0.2, 1.0, 4.0]),
    st.booleans(),
)


def follow(world: World) -> Course:
    streams = [lambda each=each: world.stream(each) for each in world.connections]
    return watched(gets=world.got, streams=streams, late=world.answers_take)


@settings(max_examples=50)
@given(worlds)
def test_no_wake_up_is_lost_a11_5_a11_6_a11_7(world: World) -> None:
    course = follow(world)
    last = world.changes[-1].status
    assert course.outcome().name == last
    assert course.ended_at <= world.end + UNSEEN
    assert course.outcome().result == (RESULT if last == "completed" else None)

    asked = [
        key
        for event in course.events[ID]
        if isinstance(event, InputRequired)
        for key in event.requests
    ]
    assert len(asked) == len(set(asked)), "no question is announced twice"
    gone = [*world.moments[1:], world.end]
    for count, (change, since, till) in enumerate(
        zip(world.changes, world.moments, gone, strict=True), 1
    ):
        if change.status == "input_required" and till - since > UNSEEN:
            assert f"q{count}" in asked, "nor missed"


@settings(max_examples=50)
@given(worlds)
def test_no_question_is_put_without_a_reason_or_beside_another_a10_1_a10_2_a10_5(
    world: World,
) -> None:
    course = follow(world)
    assert course.at_once <= 1
    pairs = list(zip(course.answered, course.polls[1:], strict=False))
    assert all(poll - answer >= 0.1 - 1e-3 for answer, poll in pairs), "whatever is told"
    met = next(float(line.split()[0]) for line in course.told[ID] if " status " in line)
    gaps = [
        poll - answer for answer, poll in pairs if answer >= met
    ]  # before, no interval is known
    early = sum(gap < world.interval - 1e-3 for gap in gaps)
    acks = sum(line.split()[1] == "pushed:" for line in course.told[ID])
    told = 2 * len(world.changes) * len(course.listens)
    assert early <= acks + told
    if all(each.begins != "acknowledged" for each in world.connections):
        assert early == 0, "a server that tells nothing is asked at its interval"
