"""An answer that is under way while the server tells of something: which of the two is older news (A11.7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocol.fakes import ID, QUESTION, done, wire
from tests.protocol.pushing import SILENCE, ack, at, tells, watched

ASKS = wire("input_required", inputRequests={"room": QUESTION})
BARE = [
    wire("completed"),
    wire("failed"),
    wire("input_required"),
    wire("input_required", inputRequests={}),
    {"taskId": ID},
    {"taskId": ID, "status": 7},
]


def test_an_end_that_is_told_while_a_question_hangs_ends_at_once_a11_7() -> None:
    course = watched(
        gets={0: wire(), 0.1: [SILENCE]}, streams=[[ack(), at(3), tells(done()), SILENCE]]
    )
    assert course.told[ID][-1] == "3 ended completed 0"
    assert sorted(course.left) == ["subscriptions/listen", "tasks/get"]


def test_an_answer_from_before_the_acknowledgement_is_followed_by_another_a11_5() -> None:
    course = watched(
        gets={0: wire(pollIntervalMs=9000), 9: [at(11), wire(pollIntervalMs=9000)], 10.5: done()},
        streams=[[at(10), ack(), SILENCE]],
        ack_wait=60,
    )
    assert course.polls == [0, 9, 11.1]
    assert course.told[ID][-1] == "11.1 ended completed 0"


def test_an_answer_that_is_older_than_what_was_told_takes_nothing_back_a11_7() -> None:
    course = watched(
        gets={0: wire(), 0.1: [at(5), wire(statusMessage="old")], 5: ASKS},
        streams=[[ack(), at(3), tells(ASKS), at(20), tells(done())]],
    )
    assert "3 asks room" in course.told[ID]
    assert not any("working" in line for line in course.told[ID] if not line.startswith("0"))
    assert course.polls == [0, 0.1, 5.1], "which of the two was newer, the next answer says"


def test_an_answer_that_agrees_with_what_was_told_needs_no_other_a11_7() -> None:
    course = watched(
        gets={0: wire(), 0.1: [at(5), ASKS]},
        streams=[[ack(), at(3), tells(ASKS), at(20), tells(done())]],
    )
    assert course.polls == [0, 0.1]


def test_an_answer_that_ends_the_task_counts_whatever_was_told_a11_7() -> None:
    course = watched(
        gets={0: wire(), 0.1: [at(5), done()]}, streams=[[ack(), at(3), tells(ASKS), SILENCE]]
    )
    assert course.told[ID][-1] == "5 ended completed 0"


@pytest.mark.parametrize("bare", BARE)
def test_what_was_told_without_its_payload_is_asked_for_after_an_answer_that_was_under_way_a11_7(
    bare: dict[str, Any],
) -> None:
    """The answer may be of the time before: taken for the one that was wanted, it would hide the change."""
    course = watched(
        gets={0: wire(), 0.1: [at(5), wire()], 3: done()},
        streams=[[ack(), at(3), tells(bare), SILENCE]],
    )
    assert course.polls[:3] == [0, 0.1, 5.1]
    assert course.told[ID][-1] in ("5.1 ended completed 0", "6.1 ended failed 4")


def test_news_and_an_answer_of_the_same_moment_are_told_apart_by_one_more_question_a11_7() -> None:
    """Which of them is newer cannot be known: neither may hide a question, or blame the server."""
    asked = watched(
        gets={0: wire(), 0.1: [at(5), ASKS], 5.05: ASKS},
        streams=[[ack(), at(5), tells(wire()), at(20), tells(done())]],
    )
    assert any("asks room" in line for line in asked.told[ID] if float(line.split()[0]) < 6)
    ended = watched(
        gets={0: wire(), 0.1: [at(5), done()]}, streams=[[ack(), at(5), tells(wire()), SILENCE]]
    )
    assert ended.told[ID][-1] == "5 ended completed 0"
    assert not any("warning" in line for line in ended.told[ID])


def test_there_is_never_more_than_one_question_about_a_task_a10_5() -> None:
    hints = [step for n in range(40) for step in (at(1 + n / 10), tells({"taskId": ID}))]
    course = watched(
        gets={0: wire(), 9: done()}, streams=[[ack(), *hints, at(9), tells(done())]], late=0.35
    )
    assert course.at_once == 1
    assert len(course.polls) > 5
