"""What to do next about a task: single decisions, each with the rule that asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.protocol.lifecycle import (
    UNKNOWN_PATIENCE,
    Finish,
    Get,
    Stop,
    Wait,
    gave_up,
    give_up_at,
    next_action,
)
from mcptask.protocol.observations import KIND_SECONDS, denied, missed, observe
from mcptask.protocol.view import FLOOR, GIVE_UP_AFTER, Rules, View, begin, begin_with, interval
from tests.protocol.fakes import task

NOW = 1000.0


def seen(status: str = "working", *, rules: Rules | None = None, **fields: Any) -> View:
    """A task that was resumed and heard of at NOW."""
    return observe(begin(rules or Rules(), NOW), task(status, **fields), NOW)


def test_a_resumed_task_is_asked_for_at_once_a10_3() -> None:
    assert next_action(begin(Rules(), NOW), NOW) == Get()


def test_a_fresh_task_is_first_asked_for_after_one_interval_a10_3() -> None:
    view = begin_with(task(poll_interval_ms=5000), Rules(), NOW)
    assert next_action(view, NOW) == Wait(NOW + 5)
    assert next_action(view, NOW + 5) == Get()


@pytest.mark.parametrize("status", ["completed", "failed", "input_required"])
def test_a_task_made_in_a_state_that_needs_more_is_asked_for_at_once_a8_6(status: str) -> None:
    assert next_action(begin_with(task(status), Rules(), NOW), NOW) == Get()


def test_a_task_made_already_cancelled_needs_no_question_a8_6() -> None:
    assert next_action(begin_with(task("cancelled"), Rules(), NOW), NOW) == Finish()


def test_a_task_made_already_over_is_not_asked_for_twice_in_a_row_whatever_it_says_a10_1() -> None:
    view = observe(begin_with(task("completed"), Rules(), NOW), task("working"), NOW)
    assert next_action(view, NOW) == Wait(NOW + 1)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (None, 1.0),
        (1, FLOOR),
        (99, FLOOR),
        (100, 0.1),
        (500, 0.5),
        (30_000, 30.0),
        (10**12, 1e9),
    ],
)
def test_the_interval_is_the_servers_with_a_floor_and_a_default_a10_2(
    given: int | None, seconds: float
) -> None:
    assert interval(task(poll_interval_ms=given), Rules()) == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(("minimum", "seconds"), [(0.5, 1.0), (1.0, 1.0), (20.0, 20.0)])
def test_a_user_may_slow_polling_down_but_never_speed_it_up_a10_1(
    minimum: float, seconds: float
) -> None:
    assert interval(task(poll_interval_ms=1000), Rules(min_interval=minimum)) == seconds


def test_the_latest_snapshot_alone_gives_the_interval_a10_1() -> None:
    view = observe(seen(poll_interval_ms=30_000), task(), NOW + 30)
    assert next_action(view, NOW + 30) == Wait(NOW + 31)


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
def test_a_terminal_status_with_its_payload_is_the_end_a10_1(status: str) -> None:
    view = seen(status, result={}, error={})
    assert next_action(view, NOW) == Finish()


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_missing_payload_is_asked_for_once_more_and_then_done_without_a9_7_t7(
    status: str,
) -> None:
    view = seen(status)
    assert next_action(view, NOW) == Wait(NOW + 1)
    view = observe(view, task(status), NOW + 1)
    assert next_action(view, NOW + 1) == Finish()
    assert view.warnings == (f"the server says {status} without sending what belongs to it",)


def test_each_status_may_lack_its_payload_once_a9_7() -> None:
    view = observe(seen("input_required"), task("completed"), NOW + 1)
    assert next_action(view, NOW + 1) == Wait(NOW + 2)


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_task_that_ended_is_over_even_if_the_server_has_forgotten_it_since_a14_2(
    status: str,
) -> None:
    assert next_action(denied(seen(status), NOW + 1), NOW + 1) == Finish()


def test_terminal_is_final_and_what_follows_is_only_warned_of_a14_1() -> None:
    view = observe(seen("completed"), task("working"), NOW + 1)
    assert view.task == task("completed")
    assert view.warnings == ("the server says working after completed; completed is final",)


def test_a_warning_is_given_once_c2() -> None:
    view = seen(warnings=("odd ttl", "odd ttl"))
    view = observe(view, task(warnings=("odd ttl", "odd date")), NOW + 1)
    assert view.warnings == ("odd ttl", "odd date")


# ── failures ─────────────────────────────────────────────────────────────────────────────────────


def test_failures_wait_longer_each_time_up_to_half_a_minute_a10_6() -> None:
    view, now, waits = seen(rules=Rules(give_up_after=1e6)), NOW, []
    for _ in range(8):
        view = missed(view, "busy", now)
        waits.append(view.resume_at - now)
        now = view.resume_at
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]


def test_chance_spreads_the_attempts_over_the_upper_half_of_the_wait_a10_6() -> None:
    view = missed(seen(), "busy", NOW)
    assert missed(view, "busy", NOW, spread=0.0).resume_at == NOW + 1
    assert missed(view, "busy", NOW, spread=1.0).resume_at == NOW + 2


def test_a_failure_never_shortens_the_interval_a10_6() -> None:
    assert missed(seen(poll_interval_ms=20_000), "busy", NOW).resume_at == NOW + 20


@pytest.mark.parametrize(
    ("asked", "wait"), [(None, 1), (0.0, 1), (7.0, 7), (300.0, 300), (86_400.0, 300)]
)
def test_retry_after_is_waited_for_up_to_five_minutes_a4_3(
    asked: float | None, wait: float
) -> None:
    assert missed(seen(), "busy", NOW, retry_after=asked).resume_at == NOW + wait


def test_a_long_retry_after_is_followed_by_a_question_not_by_giving_up_a4_3() -> None:
    view = missed(seen(), "busy", NOW, retry_after=GIVE_UP_AFTER)
    assert next_action(view, NOW) == Wait(NOW + GIVE_UP_AFTER)
    assert next_action(view, NOW + GIVE_UP_AFTER) == Get()


def test_one_bad_poll_of_a_slow_task_does_not_end_the_watch_a10_6() -> None:
    view = missed(seen(poll_interval_ms=600_000), "reset", NOW)
    assert give_up_at(view) == NOW + 600
    assert next_action(view, NOW + 600) == Get()


def test_the_attempt_at_the_end_of_the_budget_is_the_last_a10_6() -> None:
    view, now = begin(Rules(), NOW), NOW
    while next_action(view, now) == Get():
        view = missed(view, "refused", now)
        now = now if gave_up(view) else view.resume_at
    assert now == NOW + GIVE_UP_AFTER
    assert next_action(view, now) == Stop("unreachable")


def test_no_patience_at_all_gives_up_at_the_first_failure_a10_6() -> None:
    view = missed(begin(Rules(give_up_after=0), NOW), "refused", NOW)
    assert next_action(view, NOW) == Stop("unreachable")


def test_a_good_answer_ends_a_run_of_failures_a10_6() -> None:
    view = observe(missed(seen(), "busy", NOW), task(), NOW + 290)
    view = missed(view, "busy", NOW + 300)
    assert next_action(view, NOW + 301) == Get()
    assert view.failures == 1


# ── lost ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_resumed_task_that_the_server_does_not_know_is_lost_at_once_a4_3() -> None:
    assert next_action(denied(begin(Rules(), NOW), NOW), NOW) == Stop("lost")


def test_a_young_task_is_asked_for_once_more_before_it_counts_as_lost_a4_3() -> None:
    view = begin_with(task(poll_interval_ms=100), Rules(), NOW)
    view = denied(view, NOW + 0.1)
    assert next_action(view, NOW + 0.1) == Wait(NOW + 0.6)
    assert next_action(denied(view, NOW + 0.6), NOW + 0.6) == Stop("lost")


def test_a_task_that_is_no_longer_young_is_lost_at_once_a4_3() -> None:
    view = denied(begin_with(task(), Rules(), NOW), NOW + KIND_SECONDS)
    assert next_action(view, NOW + KIND_SECONDS) == Stop("lost")


def test_a_young_task_that_turns_up_after_all_has_lost_nothing_a4_3() -> None:
    view = denied(begin_with(task(), Rules(), NOW), NOW + 1)
    view = observe(view, task(), NOW + 2)
    assert view.denials == 0
    assert next_action(view, NOW + 2) == Wait(NOW + 3)


# ── limits ───────────────────────────────────────────────────────────────────────────────────────


def test_no_wait_goes_beyond_the_deadline_a10_4() -> None:
    view = seen(poll_interval_ms=30_000, rules=Rules(deadline=NOW + 3))
    assert next_action(view, NOW) == Wait(NOW + 3)
    assert next_action(view, NOW + 3) == Stop("timeout")


def test_a_task_that_has_ended_is_finished_not_timed_out_a14_2() -> None:
    view = seen("completed", result={}, rules=Rules(deadline=NOW))
    assert next_action(view, NOW + 1) == Finish()


def test_an_unknown_status_is_followed_with_patience_that_ends_a9_2_t6() -> None:
    view = observe(seen("queued"), task("queued"), NOW + 599)
    assert next_action(view, NOW + 599) == Wait(NOW + 600)
    assert next_action(view, NOW + UNKNOWN_PATIENCE) == Stop("protocol")


def test_a_known_status_ends_the_impatience_with_an_unknown_one_a9_2() -> None:
    view = observe(seen("queued"), task("working"), NOW + 599)
    assert next_action(view, NOW + 601) == Get()
