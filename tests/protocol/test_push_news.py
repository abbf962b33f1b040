"""What a server tells by itself: what counts, what is asked for, and what is older news (A11.6, A11.7)."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.protocol.lifecycle import SAFETY_SECONDS
from tests.protocol.fakes import ID, QUESTION, RESULT, done, refused, wire
from tests.protocol.pushing import SILENCE, ack, at, tells, watched

OTHER = "tsk_77aa"
ASKS = wire("input_required", inputRequests={"room": QUESTION})


def noted(second: int, status: str = "working", **fields: Any) -> dict[str, Any]:
    """A state with the server's own time."""
    return wire(status, lastUpdatedAt=f"2026-09-12T00:00:{second:02}Z", **fields)


# ── what counts ──────────────────────────────────────────────────────────────────────────────────


def test_each_status_that_is_told_is_a_snapshot_like_any_other_a11_6() -> None:
    course = watched(
        gets={0: wire()},
        streams=[
            [
                ack(),
                at(2),
                tells(wire(statusMessage="1 of 2")),
                at(3),
                tells(ASKS),
                at(9),
                tells(done()),
            ]
        ],
    )
    assert course.told[ID][3:] == [
        "2 status working, next 32",
        "3 status input_required, next 33",
        "3 asks room",
        "3 left room",
        "9 status completed, next never",
        "9 ended completed 0",
    ]
    assert course.polls == [0, 0.1]


def test_a_question_that_is_told_ends_a_run_where_nobody_can_answer_a12_11() -> None:
    course = watched(
        gets={0: wire()}, streams=[[ack(), at(3), tells(ASKS), SILENCE]], stop_for_input=True
    )
    assert course.told[ID][-1] == "3 ended input_required 3"


def test_what_is_told_twice_is_no_news_and_no_second_question_a11_6() -> None:
    course = watched(
        gets={0: wire()},
        streams=[[ack(), at(3), tells(ASKS), tells(ASKS), tells(ASKS), at(9), tells(done())]],
    )
    assert [line for line in course.told[ID] if "asks" in line] == ["3 asks room"]
    assert course.told[ID].count("3 still input_required, next 33") == 2


@pytest.mark.parametrize("method", ["notifications/tasks", "notifications/tasks/status"])
def test_the_name_of_2025_11_25_is_read_as_well_a11_6(method: str) -> None:
    course = watched(gets={0: wire()}, streams=[[ack(), at(3), tells(done(), method), SILENCE]])
    assert course.told[ID][-1] == "3 ended completed 0"


def test_what_is_told_of_others_or_is_no_task_counts_for_nothing_a11_6() -> None:
    noise = [
        tells(done(taskId=OTHER)),
        {"method": "notifications/progress", "params": {"progressToken": ID, "progress": 1}},
        {"method": "notifications/message", "params": {"level": "info", "data": ID}},
        {"method": "notifications/tasks"},
        {"method": "notifications/tasks", "params": {"taskId": 7, "status": "completed"}},
        {"method": "notifications/tasks", "params": {"status": "completed"}},
    ]
    course = watched(gets={0: wire()}, streams=[[ack(), at(3), *noise, at(9), tells(done())]])
    assert course.polls == [0, 0.1]
    assert course.told[ID][3:] == ["9 status completed, next never", "9 ended completed 0"]


def test_a_broken_field_of_what_is_told_is_warned_of_as_in_an_answer_a11_6_a9_1() -> None:
    odd = wire(statusMessage=7)
    course = watched(gets={0: wire()}, streams=[[ack(), at(3), tells(odd), at(9), tells(done())]])
    assert any(line.startswith("3 warning") for line in course.told[ID])


# ── what is asked for ────────────────────────────────────────────────────────────────────────────

BARE = [
    wire("completed"),
    wire("failed"),
    wire("input_required"),
    wire("input_required", inputRequests={}),
    {"taskId": ID},
    {"taskId": ID, "status": 7},
]


@pytest.mark.parametrize("bare", BARE)
def test_what_is_told_without_its_payload_is_asked_for_at_once_a11_6(bare: dict[str, Any]) -> None:
    course = watched(
        gets={0: wire(pollIntervalMs=30_000), 3: done()},
        streams=[[ack(), at(3), tells(bare), SILENCE]],
    )
    other = (
        bare.get("status") == "failed"
    )  # what is told first stands (S4), and the rest may still come
    assert course.polls == ([0, 0.1, 3, 4] if other else [0, 0.1, 3])
    assert other or course.told[ID][-1] == "3 ended completed 0"
    assert other or course.outcome().result == RESULT


def test_a_terminal_status_that_is_told_stands_whatever_the_answer_says_a11_6_s4() -> None:
    failed = wire("failed", error={"code": -32603, "message": "boom"})
    course = watched(
        gets={0: wire(), 3: failed}, streams=[[ack(), at(3), tells(wire("failed")), SILENCE]]
    )
    assert course.told[ID][-1] == "3 ended failed 4"
    assert course.outcome().error is not None
    assert "boom" in course.outcome().error.message


def test_a_task_that_stays_without_its_payload_is_asked_for_at_the_interval_a9_7() -> None:
    """And not half a minute later, as one that is told of."""
    course = watched(
        gets={0: wire(), 3: wire("completed")},
        streams=[[ack(), at(3), tells({"taskId": ID}), SILENCE]],
    )
    assert course.polls == [0, 0.1, 3, 4]
    assert course.told[ID][-1] == "4 ended completed 0"


def test_a_server_that_only_hints_is_asked_once_for_each_hint_a11_6_a11_5() -> None:
    """A change that a hint led to was told: it does not bring back regular polling."""
    hints = [step for second in range(5, 60, 5) for step in (at(second), tells({"taskId": ID}))]
    changing = {float(second): wire(statusMessage=f"{second}") for second in range(0, 60, 5)}
    course = watched(
        gets=changing | {60.0: done()}, streams=[[ack(), *hints, at(60), tells(done())]]
    )
    assert course.polls == [0, 0.1, *range(5, 60, 5)]
    assert course.listens == [0]


@pytest.mark.parametrize("told", [{"taskId": ID}, wire("input_required", pollIntervalMs=2000)])
def test_whoever_tells_without_end_is_asked_once_an_interval_a11_6_a10_1(told: Any) -> None:
    flood = [step for n in range(400) for step in (at(5 + n / 100), tells(told))]
    course = watched(
        gets={0: wire(pollIntervalMs=2000)}, streams=[[ack(), *flood, at(9.5), tells(done())]]
    )
    assert course.polls[:4] == [0, 0.1, 5, 7]
    assert len(course.polls) <= 5


def test_a_server_that_is_slower_to_answer_than_to_tell_is_not_asked_in_a_circle_a11_7() -> None:
    slow = {"pollIntervalMs": 30_000}
    news = [
        step
        for n in range(80)
        for step in (at(3 + n / 20), tells(wire(statusMessage=f"{n}", **slow)))
    ]
    course = watched(
        gets={0: wire(**slow), 0.1: [at(4), wire(**slow)]},
        streams=[[ack(), *news, at(9), tells(done())]],
        late=1.0,
    )
    assert len(course.polls) <= 4


def test_a_user_who_wants_fewer_questions_gets_one_an_interval_for_hints_a10_1() -> None:
    hints = [step for n in range(20) for step in (at(5 + n), tells({"taskId": ID}))]
    course = watched(
        gets={0: wire()}, streams=[[ack(), *hints, at(60), tells(done())]], min_interval=9.0
    )
    assert course.polls == [0, 0.1, 5, 14, 23, 32]


def test_a_question_that_a_hint_led_to_is_put_again_if_it_fails_a11_6() -> None:
    course = watched(
        gets={0: wire(), 5: refused(-32603), 5.5: wire(statusMessage="1 of 2"), 39: done()},
        streams=[[ack(), at(5), tells({"taskId": ID}), SILENCE]],
    )
    assert course.polls[:4] == [0, 0.1, 5, 6]
    assert course.polls[4] == 6 + SAFETY_SECONDS, "the server had told of it, so all is well"


def test_a_hint_is_not_forgotten_when_the_stream_ends_a11_6() -> None:
    course = watched(
        gets={0: wire(pollIntervalMs=60_000), 5: done()},
        streams=[[ack(), at(0.12), tells({"taskId": ID}), {"result": {}}], [SILENCE]],
    )
    assert course.polls[:3] == [0, 0.1, 0.2]


# ── older news ───────────────────────────────────────────────────────────────────────────────────


def test_what_is_told_counts_whatever_its_time_a11_6_a14_5() -> None:
    """Two nodes of one server may have clocks that differ."""
    late = [
        tells(noted(3, statusMessage="1 of 2")),
        tells(noted(4, "input_required", inputRequests={"room": QUESTION})),
        at(20),
        tells(noted(20, "completed", result=RESULT)),
    ]
    course = watched(gets={0: noted(0), 0.1: noted(9)}, streams=[[ack(), at(6), *late]])
    assert course.polls == [0, 0.1]
    assert "6 asks room" in course.told[ID]
    assert sum(line.startswith("6 status") for line in course.told[ID]) == 2


def test_an_end_counts_whatever_its_time_a11_6() -> None:
    old = noted(1, "completed", result=RESULT)
    course = watched(gets={0: noted(9)}, streams=[[ack(), at(3), tells(old), SILENCE]])
    assert course.told[ID][-1] == "3 ended completed 0"


def test_what_is_told_after_the_end_changes_nothing_a14_1() -> None:
    course = watched(
        gets={0: wire(), 3.05: [at(9), done()]},
        streams=[
            [
                ack(),
                at(3),
                tells(wire("completed")),
                tells(wire()),
                tells(ASKS),
                at(9),
                tells(wire()),
            ]
        ],
    )
    assert course.told[ID][-1].endswith("ended completed 0")
    assert not any("warning" in line for line in course.told[ID]), (
        "it was only under way for longer"
    )


# ── many of them ─────────────────────────────────────────────────────────────────────────────────


def test_more_news_than_fit_wait_for_their_reader_and_none_is_lost_a11_6() -> None:
    told = [tells(wire(statusMessage=f"{n}")) for n in range(2500)]
    course = watched(gets={0: wire()}, streams=[[ack(), at(3), *told, tells(done()), SILENCE]])
    assert len([line for line in course.told[ID] if line.startswith("3 status working")]) == 2500
    assert course.told[ID][-1] == "3 ended completed 0"


def test_news_of_a_task_that_ended_do_not_keep_the_others_waiting_a11_2() -> None:
    told = [tells(wire(statusMessage=f"{n}")) for n in range(2500)]
    course = watched(
        ids=[ID, OTHER],
        gets={ID: {0: wire(), 3: done()}, OTHER: {0: wire(taskId=OTHER)}},
        streams=[[ack(ID, OTHER), at(3), *told, tells(done()), *told, tells(done(taskId=OTHER))]],
    )
    assert course.told[OTHER][-1] == "3 ended completed 0"
