"""Following one task over a scripted server: what is told, when it is asked, how it ends."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.env import Clock
from mcptask.errors import Garbled, HttpRefused, ProtocolError, Unauthorized, Unreachable
from mcptask.protocol.events import Ended, Retrying, StatusChanged
from mcptask.protocol.follow import follow
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.session import Session
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.memory import MemoryTransport
from mcptask.protocol.view import Rules
from tests.protocol.fakes import (
    ID,
    JSON_OBJECTS,
    QUESTION,
    RESULT,
    Whole,
    done,
    followed,
    refused,
    task,
    wire,
)
from tests.protocol.virtual import Clocks, now
from tests.protocol.virtual import run as run_in_virtual_time

BUSY = Unreachable("busy")
GONE = refused(-32602, "no such task")
ASKING = wire("input_required", inputRequests={"room": QUESTION})


# ── the course of a task ─────────────────────────────────────────────────────────────────────────


def test_a_fresh_task_is_asked_for_after_each_interval_until_it_ends_a10_3() -> None:
    course = followed(
        [wire(pollIntervalMs=2000), wire(pollIntervalMs=2000, statusMessage="1 of 2"), done()],
        seed=task(poll_interval_ms=2000),
    )
    assert course.polls == [2, 4, 6]
    assert course.told == [
        "0 status working, next 2",
        "2 still working, next 4",
        "4 status working, next 6",
        "6 status completed, next never",
        "6 ended completed 0",
    ]
    assert course.outcome.result == RESULT


def test_a_resumed_task_is_asked_for_at_once_a10_3() -> None:
    course = followed([wire(), done()])
    assert course.polls == [0, 1]
    assert course.told[0] == "0 status working, next 1"


@pytest.mark.parametrize("status", ["completed", "failed", "input_required"])
def test_a_task_made_in_a_state_that_needs_more_is_asked_for_at_once_a8_6(status: str) -> None:
    course = followed([done()], seed=task(status, poll_interval_ms=60_000))
    assert course.polls[0] == 0


def test_the_latest_interval_counts_and_not_the_one_before_a10_1() -> None:
    course = followed(
        [wire(pollIntervalMs=500), wire(pollIntervalMs=30_000), wire(), done()],
        seed=task(poll_interval_ms=500),
    )
    assert course.polls == [0.5, 1, 31, 32]


@pytest.mark.parametrize(
    ("given_ms", "seconds"),
    [(None, 1), (0, 1), (-5, 1), ("5000", 1), (True, 1), (math.nan, 1), (1.5, 0.1), (5000, 5)],
)
def test_an_absurd_interval_is_a_second_and_a_tiny_one_is_the_floor_a10_2(
    given_ms: Any, seconds: float
) -> None:
    course = followed([wire(pollIntervalMs=given_ms), done()])
    assert course.polls == [0, seconds]
    absent = followed([wire(), done()])
    assert absent.polls == [0, 1]


def test_an_endless_interval_overflows_nothing_and_ends_with_the_deadline_a10_4() -> None:
    course = followed([wire(pollIntervalMs=1e308)], deadline=86_400.0)
    assert course.polls == [0]
    assert course.told[-1] == "86400 ended timeout 124"


def test_a_user_may_only_slow_polling_down_a10_1() -> None:
    assert followed([wire(), done()], min_interval=0.5).polls == [0, 1]
    assert followed([wire(), done()], min_interval=9.0).polls == [0, 9]


def test_an_unknown_status_is_shown_verbatim_and_ends_in_ten_minutes_a9_2() -> None:
    course = followed([wire("queued", pollIntervalMs=60_000)])
    assert course.told[0] == "0 status queued, next 60"
    assert course.told[-1] == "600 ended protocol 9"
    assert course.outcome.task is not None
    assert course.outcome.task.status == "queued"


# ── how it ends ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("last", "ended"),
    [
        (done(), "ended completed 0"),
        (wire("completed", result={"isError": True}), "ended tool_error 1"),
        (wire("failed", error={"code": -32603, "message": "boom"}), "ended failed 4"),
        (wire("cancelled"), "ended cancelled 5"),
    ],
)
def test_each_end_has_its_exit_code_and_one_already_reached_has_the_same(
    last: dict[str, Any], ended: str
) -> None:
    assert followed([last]).told[-1] == f"0 {ended}"
    assert followed([wire(), last]).told[-1] == f"1 {ended}"


def test_a_completed_task_without_result_is_asked_for_once_more_and_then_reported_a9_7() -> None:
    course = followed([wire("completed")])
    assert course.polls == [0, 1]
    assert course.told[-1] == "1 ended completed 0"
    assert course.outcome.result is None
    late = followed([wire("completed"), done()])
    assert late.outcome.result == RESULT


def test_a_failed_task_without_error_is_reported_with_its_message_a9_7() -> None:
    course = followed([wire("failed", statusMessage="no disk")])
    assert course.polls == [0, 1]
    assert course.outcome.error is not None
    assert course.outcome.error.message == "no disk"


def test_a_task_that_ended_and_was_forgotten_is_reported_as_it_ended_a14_2() -> None:
    course = followed([GONE], seed=task("failed", status_message="no disk"))
    assert course.told[-1] == "1 ended failed 4"


def test_a_status_after_a_terminal_one_is_warned_of_and_changes_nothing_s4() -> None:
    course = followed([wire("completed"), wire("working")])
    assert course.told == [
        "0 status completed, next never",
        "1 warning the server says working after completed; completed is final",
        "1 still completed, next never",
        "1 ended completed 0",
    ]


def test_the_deadline_ends_the_waiting_and_not_the_task_a10_4() -> None:
    course = followed([wire(pollIntervalMs=2000)], deadline=3.0)
    assert course.polls == [0, 2]
    assert course.told[-1] == "3 ended timeout 124"
    assert course.outcome.error is not None
    assert "was working and may go on" in course.outcome.error.message


def test_a_deadline_does_not_claim_that_an_ended_task_goes_on() -> None:
    course = followed([wire("completed", pollIntervalMs=9000)], deadline=3.0)
    assert course.told[-1] == "3 ended timeout 124"
    assert course.outcome.error is not None
    assert "the task is completed, but" in course.outcome.error.message


def test_a_deadline_that_has_passed_asks_nothing() -> None:
    course = followed([done()], deadline=0.0)
    assert (course.polls, course.told) == ([], ["0 ended timeout 124"])


def test_a_task_of_another_id_is_a_breach_not_a_snapshot_s1() -> None:
    course = followed([wire(), wire("completed", taskId="tsk_other", result=RESULT)])
    assert course.told[-1] == "1 ended protocol 9"
    assert course.outcome.task is not None
    assert course.outcome.task.status == "working"


@pytest.mark.parametrize("code", [-32601, -32600, -32020, -32021])
def test_an_error_of_the_exchange_ends_following_but_not_as_a_failed_task_s10(code: int) -> None:
    course = followed([wire(), refused(code)])
    assert course.told[-1] == "1 ended protocol 9"


def test_being_locked_out_ends_following_and_keeps_the_task_a16_5() -> None:
    course = followed([wire(), Unauthorized("HTTP 401")])
    assert course.told[-1] == "1 ended unauthorized 8"
    assert course.outcome.task is not None
    assert course.outcome.task.status == "working"


def test_a_wrong_address_ends_following_as_a_breach_a4_3() -> None:
    assert followed([HttpRefused("HTTP 404", status=404)]).told == ["0 ended protocol 9"]
    assert followed([wire(), HttpRefused("HTTP 405", status=405)]).told[-1] == "1 ended protocol 9"


def test_an_address_that_is_not_found_any_more_is_out_of_reach_for_a_while_a4_3() -> None:
    """A proxy says so while the server behind it is replaced."""
    gone = HttpRefused("HTTP 404", status=404)
    assert followed([wire(), gone, gone, done()]).told[-1] == "4 ended completed 0"
    assert followed([wire(), gone]).told[-1] == "301 ended unreachable 7"


# ── losing contact ───────────────────────────────────────────────────────────────────────────────


def test_bad_polls_do_not_end_the_watch_a10_6_t17() -> None:
    course = followed([wire(), BUSY, refused(-32603, "oops"), refused(-32000, "eh"), done()])
    assert course.told == [
        "0 status working, next 1",
        "1 failure 1, next 2",
        "2 failure 2, next 4",
        "4 failure 3, next 8",
        "8 back after 7",
        "8 status completed, next never",
        "8 ended completed 0",
    ]


def test_the_reason_of_a_failure_and_the_end_of_patience_are_told_a10_6() -> None:
    course = followed([refused(-32603, "oops"), done()])
    assert course.events[0] == Retrying("oops (-32603)", 1, 1.0, 300.0)


def test_five_minutes_without_contact_end_following_as_unreachable_a10_6() -> None:
    course = followed([wire(), BUSY])
    assert course.polls[-1] == 301
    assert course.told[-1] == "301 ended unreachable 7"
    assert course.outcome.error is not None
    assert course.outcome.error.message == (
        "no contact for 5 min (busy); the task was working and may go on"
    )


def test_a_task_never_heard_of_is_unreachable_and_not_invented() -> None:
    course = followed([BUSY], give_up_after=0.0)
    assert course.told == ["0 ended unreachable 7"]
    assert course.outcome.task is None


@pytest.mark.parametrize(("asked", "seconds"), [(7.0, 7), (0.0, 1), (300.0, 300), (9999.0, 300)])
def test_retry_after_is_honoured_a4_4(asked: float, seconds: float) -> None:
    course = followed([Unreachable("429", retry_after=asked), done()])
    assert course.polls == [0, seconds]
    assert course.told[-1] == f"{seconds:g} ended completed 0"


def test_one_bad_poll_of_a_task_with_a_long_interval_is_survived_a10_6() -> None:
    course = followed([wire(pollIntervalMs=600_000), BUSY, done()])
    assert course.polls == [0, 600, 1200]
    assert course.told[-1] == "1200 ended completed 0"


def test_an_unknown_task_is_lost_a4_3() -> None:
    course = followed([GONE])
    assert course.told == ["0 ended lost 6"]


def test_a_young_unknown_task_is_asked_for_once_more_and_then_lost_a4_3() -> None:
    course = followed([GONE], seed=task())
    assert course.polls == [1, 2]
    assert course.told == ["0 status working, next 1", "2 ended lost 6"]


def test_a_young_task_that_turns_up_is_followed_on_a4_3_t23() -> None:
    course = followed([GONE, done()], seed=task())
    assert course.told[-1] == "2 ended completed 0"


def test_a_task_that_vanishes_later_is_lost_at_once_a4_3() -> None:
    course = followed([wire(), wire(), GONE], seed=task())
    assert course.polls == [1, 2, 3]
    assert course.told[-1] == "3 ended lost 6"


# ── questions ────────────────────────────────────────────────────────────────────────────────────


def test_a_question_ends_a_run_where_nobody_can_answer_with_what_is_open_a12_11() -> None:
    both = wire("input_required", inputRequests={"room": QUESTION, "fee": QUESTION})
    course = followed([wire(), both], stop_for_input=True, answered=["fee"])
    assert course.told == [
        "0 status working, next 1",
        "1 status input_required, next 2",
        "1 asks room",
        "1 left room",
        "1 ended input_required 3",
    ]
    assert course.outcome.error is not None
    assert course.outcome.error.data == {"inputRequests": {"room": QUESTION}}


def test_an_answered_question_that_is_still_listed_is_waited_out_a12_4() -> None:
    course = followed([ASKING, ASKING, done()], stop_for_input=True, answered=["room"])
    assert course.told == [
        "0 status input_required, next 1",
        "1 still input_required, next 2",
        "2 status completed, next never",
        "2 ended completed 0",
    ]


def test_the_keys_answered_before_count_for_a_fresh_task_too_a12_5() -> None:
    seed = task("input_required", input_requests={"room": QUESTION})
    course = followed([done()], seed=seed, stop_for_input=True, answered=["room"])
    assert course.told[-1] == "1 ended completed 0"


def test_a_question_is_polled_through_where_someone_may_answer_elsewhere_a12_7() -> None:
    course = followed([ASKING, ASKING, done()])
    assert course.told[1] == "0 asks room"
    assert [line for line in course.told if "asks" in line] == ["0 asks room"]
    assert course.told[-1] == "2 ended completed 0"


def test_the_warnings_of_the_seed_are_told_first_c2() -> None:
    course = followed([done()], seed=task(warnings=("odd ttl",)))
    assert course.told[:2] == ["0 warning odd ttl", "0 status working, next 1"]


# ── time ─────────────────────────────────────────────────────────────────────────────────────────


def test_the_deadline_cuts_a_question_that_gets_no_answer_a10_5() -> None:
    """The one test with a real clock: the deadline is 20 ms away, the answer never comes."""

    async def silence() -> list[Any]:
        transport = MemoryTransport(lambda request: asyncio.Event().wait())
        session = Session(transport, V20260728(), clock=Clock(), forced=True)
        rules = Rules(deadline=time.monotonic() + 0.02)
        events = [event async for event in follow(session, ID, rules=rules, clock=Clock())]
        assert transport.left == transport.requests != []
        return events

    (end,) = asyncio.run(silence())
    assert isinstance(end, Ended)
    assert end.outcome.exit_code == 124


def test_the_attempts_of_many_clients_are_spread_by_chance_a10_6() -> None:
    assert followed([BUSY, BUSY, BUSY, done()], chance=0.0).polls == [0, 1, 2, 4]
    assert followed([BUSY, BUSY, BUSY, done()], chance=1.0).polls == [0, 1, 3, 7]


def test_a_sleep_is_noticed_without_any_push_as_well_a10_8() -> None:
    clocks = Clocks()

    async def all_of_it() -> list[float]:
        asked: list[float] = []

        def script(request: Request) -> Any:
            asked.append(now())
            return {"result": wire(pollIntervalMs=7_200_000) if len(asked) < 2 else done()}

        napping = asyncio.ensure_future(clocks.nap(20, 600))
        session = Session(MemoryTransport(script), V20260728(), clock=clocks.clock, forced=True)
        async for _ in follow(session, ID, rules=Rules(), clock=clocks.clock):
            pass
        await napping
        return asked

    assert run_in_virtual_time(all_of_it()) == [0, 3600]


# ── anything ─────────────────────────────────────────────────────────────────────────────────────

faults = st.sampled_from(
    [BUSY, Unreachable("429", retry_after=7.0), GONE, Unauthorized("401"), ProtocolError("html")]
)
known_answers = st.sampled_from([wire(), wire("queued"), ASKING, wire("completed"), wire("failed")])
answers = st.lists(
    known_answers | JSON_OBJECTS | JSON_OBJECTS.map(Whole) | faults | st.just([]),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60)
@given(answers, st.booleans(), st.none() | st.just(task()))
def test_whatever_a_server_does_following_ends_with_one_end_and_no_exception(
    script: list[Any], stop_for_input: bool, seed: Any
) -> None:
    course = followed(script, seed=seed, stop_for_input=stop_for_input, deadline=90.0)
    assert [isinstance(event, Ended) for event in course.events].index(True) == (
        len(course.events) - 1
    )
    outcome = course.outcome
    told = {event.task.status for event in course.events if isinstance(event, StatusChanged)}
    assert outcome.name != "failed" or "failed" in told, "only the server says that a task failed"
    waits = [b - a for a, b in zip(course.polls, course.polls[1:], strict=False)]
    assert all(wait >= 0.1 - 1e-6 for wait in waits), "never faster than the floor"


def test_requests_of_one_watch_have_ids_of_their_own_a2_6() -> None:
    seen: list[Request] = []

    def script(request: Request) -> Any:
        seen.append(request)
        return {"result": wire() if len(seen) < 3 else done()}

    async def watch() -> None:
        session = Session(MemoryTransport(script), V20260728(), clock=Clock(sleep=at_once))
        now = iter(range(1000))
        clock = Clock(now=lambda: float(next(now)), sleep=at_once)
        async for _ in follow(session, ID, rules=Rules(), clock=clock):
            pass

    async def at_once(seconds: float) -> None:
        return None

    asyncio.run(watch())
    assert len({request.id for request in seen}) == len(seen) == 3


def test_an_answer_that_cannot_be_read_is_a_bad_poll_and_no_end_a4_3() -> None:
    course = followed([wire(), Garbled("HTML"), done()])
    assert (course.outcome.name, course.polls) == ("completed", [0, 1, 2])


def test_no_clock_of_ours_ends_a_task_whose_time_is_up_a14_4_s20() -> None:
    course = followed([wire(ttlMs=1, createdAt="2000-01-01T00:00:00Z")] * 50 + [done()])
    assert len(course.polls) == 51
    assert course.outcome.exit_code == 0
