"""What each observation makes of a view; what it does with one is `test_lifecycle.py`'s."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.protocol.lifecycle import Finish, Get, Wait, due_at, next_action
from mcptask.protocol.observations import (
    asking,
    denied,
    hinted,
    listening,
    missed,
    observe,
    outdone,
    told,
    woken,
)
from mcptask.protocol.view import Rules, View, begin, begin_with
from tests.protocol.fakes import QUESTION, task

WORKING = observe(begin(Rules(), 0.0), task(), 0.0)
PUSHED = observe(asking(listening(WORKING, True, "", 1.0), 1.0), task(), 1.0)


def asked(view: View, answer: Any, now: float) -> View:
    """A question, and its answer at once."""
    return observe(asking(view, now), answer, now)


def test_a_task_can_be_put_off_so_that_many_are_not_asked_for_at_one_moment_a10_10() -> None:
    view = begin(Rules(), 5.0, phase=0.7)
    assert next_action(view, 5.0) == Wait(5.7)
    assert next_action(listening(view, True, "", 5.1), 5.1) == Wait(5.7), "nor by the server's ack"
    assert next_action(view, 5.7) == Get()


def test_a_server_that_tells_of_changes_is_asked_once_and_then_seldom_a11_5() -> None:
    view = listening(WORKING, True, "", 0.5)
    assert next_action(view, 0.5) == Get()
    assert due_at(asked(view, task(), 0.5)) == 30.5
    slow = listening(asked(WORKING, task(poll_interval_ms=20_000), 0.5), True, "", 0.7)
    assert due_at(asked(slow, task(poll_interval_ms=20_000), 0.7)) == 100.7


def test_no_question_goes_out_sooner_than_the_floor_after_an_answer_a10_2() -> None:
    """Whenever it was asked for: while another one was under way, too."""
    for reason in (lambda v, now: listening(v, True, "", now), hinted):
        view = observe(reason(asking(WORKING, 0.4), 0.5), task(), 3.0)
        assert due_at(view) == 3.1


def test_of_hints_one_an_interval_is_followed_and_every_gap_is_closed_a10_1_a11_5() -> None:
    rules = Rules(min_interval=60.0)
    slow = observe(asking(listening(begin(rules, 0.0), True, "", 0.0), 0.0), task(), 0.0)
    first = hinted(slow, 5.0)
    assert due_at(first) == 5.0
    again = hinted(observe(asking(first, 5.0), task(), 5.0), 6.0)
    assert due_at(again) == 65.0
    assert due_at(listening(again, True, "", 7.0)) == 7.0


def test_regular_polling_counts_from_the_latest_contact_a10_1() -> None:
    """An answer that came long after what was told is no reason to ask again at once."""
    view = listening(told(asking(WORKING, 30.0), task(status_message="1"), 1.0), False, "", 1.5)
    assert due_at(outdone(view, task(status_message="1"), 9.0)) == 10.0


def test_a_stream_that_ended_brings_back_the_interval_a11_8() -> None:
    assert due_at(listening(PUSHED, False, "", 20.0)) == 2.0
    assert due_at(PUSHED) == 31.0


# ── changes that were not told ───────────────────────────────────────────────────────────────────

NEWS = [
    task(status_message="1 of 2"),
    task("input_required", input_requests={"room": QUESTION}),
    task("queued"),
]


@pytest.mark.parametrize("news", NEWS)
def test_a_change_that_a_regular_question_finds_was_not_told_a11_5(news: Any) -> None:
    view = asked(PUSHED, news, 31.0)
    assert view.untold == 1
    assert due_at(view) == 32.0
    assert asked(view, task(), 32.0).untold == 2
    assert asked(view, news, 32.0).untold == 1, "nor is it told twice"
    for heard in (told(view, news, 32.0), hinted(view, 32.0), listening(view, True, "", 32.0)):
        assert heard.untold == 0


@pytest.mark.parametrize(
    "reason",
    [
        lambda view: hinted(view, 30.0),
        lambda view: listening(view, True, "", 30.0),
        lambda view: woken(view, 0.0, 30.0),
        lambda view: told(view, task("input_required"), 30.0),
    ],
    ids=["hinted", "acknowledged", "woken", "told in part"],
)
@pytest.mark.parametrize("news", NEWS)
def test_a_change_that_there_was_reason_to_look_for_is_no_fault_of_the_server_a11_5(
    reason: Any, news: Any
) -> None:
    assert asked(reason(PUSHED), news, 31.0).untold == 0
    under_way = reason(asking(PUSHED, 30.0))
    assert observe(under_way, news, 31.0).untold == 0, "nor where the reason came a moment later"
    failed = missed(asking(reason(PUSHED), 30.0), "busy", 30.5)
    assert asked(failed, news, 31.0).untold == 0, "nor if the question had to be put again"
    young = denied(asking(reason(PUSHED), 30.0), 30.5)
    assert asked(young, news, 31.0).untold == 0


def test_other_durations_are_no_change_that_has_to_be_told_a11_5() -> None:
    assert asked(PUSHED, task(poll_interval_ms=500, ttl_ms=7), 31.0).untold == 0


def test_while_polling_nothing_has_to_be_told_a11_5() -> None:
    assert asked(WORKING, NEWS[0], 1.0).untold == 0
    assert asked(listening(PUSHED, False, "", 2.0), NEWS[0], 3.0).untold == 0


# ── what is told ─────────────────────────────────────────────────────────────────────────────────


def test_what_is_told_is_contact_a11_6() -> None:
    lost = missed(missed(asking(PUSHED, 30.0), "busy", 31.0), "busy", 32.0)
    heard = told(lost, task(status_message="1"), 33.0)
    assert (heard.failures, heard.denials, heard.task) == (0, 0, task(status_message="1"))
    assert outdone(lost, task(), 33.0).failures == 0


def test_what_is_told_first_is_a_snapshot_a11_6() -> None:
    assert told(begin(Rules(), 0.0), task(), 0.0).task == task()
    seeded = told(begin_with(task(), Rules(), 0.0), task("completed", result={}), 0.5)
    assert not seeded.seed


@pytest.mark.parametrize("when", ["2026-09-12T10:00:00Z", None, "soon", "2026-09-12T10:00:02Z"])
def test_what_is_told_counts_as_it_comes_whatever_its_time_a11_6_a14_5(when: str | None) -> None:
    """The clocks of two nodes differ, and some write the time of the answer into it (A10.9)."""
    at = lambda when, **more: task(raw={"lastUpdatedAt": when}, **more)  # noqa: E731
    known = observe(begin(Rules(), 0.0), at("2026-09-12T10:00:01Z"), 0.0)
    new = at(when, status_message="new")
    assert told(known, new, 1.0).task == new


def test_what_is_told_after_the_end_was_under_way_for_longer_and_blames_nobody_a11_6_a14_1() -> (
    None
):
    over = observe(PUSHED, task("completed", result={}), 31.0)
    late = told(over, task(status_message="3 of 4"), 32.0)
    assert (late.task, late.warnings) == (over.task, ())


def test_a_result_that_nobody_will_tell_any_more_is_warned_of_a9_7() -> None:
    bare = told(PUSHED, task("completed"), 31.0)
    gone = denied(asking(bare, 31.0), 31.0)
    assert next_action(gone, 31.0) == Finish()
    assert gone.warnings == (
        "the task is completed, and the server no longer knows what came of it",
    )


def test_an_answer_that_was_outdone_brings_contact_and_at_most_a_question_a11_7() -> None:
    heard = told(asking(PUSHED, 30.0), task(status_message="2"), 31.0)
    same = outdone(heard, task(status_message="2"), 32.0)
    assert (same.task, due_at(same)) == (heard.task, 62.0)
    other = outdone(heard, task(status_message="1"), 32.0)
    assert (other.task, due_at(other)) == (heard.task, 32.1)


# ── asleep ───────────────────────────────────────────────────────────────────────────────────────


def test_what_is_told_just_after_a_failure_hurries_nobody_a10_6_a11_6() -> None:
    lost = missed(asking(PUSHED, 31.0), "reset", 31.0)
    assert due_at(told(lost, task("completed"), 31.01)) == pytest.approx(31.1)


def test_a_machine_that_wakes_asks_at_once_a10_8() -> None:
    assert next_action(woken(PUSHED, 0.0, 9.0), 9.0) == Get()
    waiting = missed(WORKING, "busy", 1.0, retry_after=200.0)
    assert next_action(woken(waiting, 0.0, 9.0), 9.0) == Get()


def test_the_time_asleep_is_no_time_without_contact_a10_8() -> None:
    failing = missed(WORKING, "busy", 1.0)
    again = missed(woken(failing, 3600.0, 3602.0), "busy", 3602.0)
    assert again.failed_at - again.failing_since == 1.0
