"""Snapshots of a task: the statuses, which may follow which, what counts as news."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from mcptask.protocol.questions import Answer, open_questions
from mcptask.protocol.task import (
    MOVES,
    TERMINAL,
    Status,
    may_follow,
    moment,
    same_state,
)
from tests.protocol.fakes import QUESTION, task

LIVE = ("working", "input_required")
OVER = ("completed", "failed", "cancelled")
UNKNOWN = ("queued", "")


def test_the_table_of_moves_names_every_status_and_the_terminal_ones_go_nowhere() -> None:
    assert set(MOVES) == set(Status)
    assert {status for status, moves in MOVES.items() if moves == {status}} == TERMINAL


@pytest.mark.parametrize("before", [*LIVE, *UNKNOWN])
@pytest.mark.parametrize("after", [*LIVE, *OVER, *UNKNOWN])
def test_a_live_or_unknown_status_may_be_followed_by_any_other_a9_2(
    before: str, after: str
) -> None:
    assert may_follow(before, after)


@pytest.mark.parametrize("before", OVER)
@pytest.mark.parametrize("after", [*LIVE, *OVER, *UNKNOWN])
def test_a_terminal_status_may_only_be_followed_by_itself_a14_1(before: str, after: str) -> None:
    assert may_follow(before, after) is (before == after)


@pytest.mark.parametrize("status", [*LIVE, *OVER, *UNKNOWN])
def test_only_the_three_terminal_statuses_are_terminal_a9_2(status: str) -> None:
    assert task(status).terminal is (status in OVER)


@pytest.mark.parametrize(
    ("status", "payload"),
    [("completed", "result"), ("failed", "error")],
)
def test_a_status_that_promises_a_payload_is_whole_only_with_it_a9_7(
    status: str, payload: str
) -> None:
    assert not task(status).has_payload
    assert task(status, **{payload: {}}).has_payload


def test_a_task_that_asks_nothing_is_not_whole_a9_7() -> None:
    assert not task("input_required").has_payload
    assert not task("input_required", input_requests={}).has_payload
    assert task("input_required", input_requests={"room": QUESTION}).has_payload


@pytest.mark.parametrize("status", ["working", "cancelled", "queued"])
def test_a_status_that_promises_nothing_is_always_whole_a9_7(status: str) -> None:
    assert task(status).has_payload


@pytest.mark.parametrize(
    "change",
    [
        {"status_message": "Reflowing 96 of 142 bookings"},
        {"ttl_ms": 1},
        {"poll_interval_ms": 500},
        {"input_requests": {"room": QUESTION}},
        {"result": {}},
        {"error": {}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_change_that_a_person_would_see_is_news_a10_9(change: dict[str, Any]) -> None:
    assert not same_state(task(), task(**change))


def test_another_status_is_news_a10_9() -> None:
    assert not same_state(task("working"), task("queued"))


def test_last_updated_at_and_meta_are_no_news_a10_9() -> None:
    before = task(raw={"lastUpdatedAt": "2026-09-12T09:00:00Z"})
    after = task(raw={"lastUpdatedAt": "2026-09-12T09:00:05Z", "_meta": {"n": 1}})
    assert same_state(before, after)


def test_the_order_of_the_questions_is_no_news_a10_9() -> None:
    one = task("input_required", input_requests={"a": QUESTION, "b": QUESTION})
    other = task("input_required", input_requests={"b": QUESTION, "a": QUESTION})
    assert same_state(one, other)


def test_a_question_is_open_until_it_was_answered_even_if_still_listed_a12_4() -> None:
    asking = task("input_required", input_requests={"a": QUESTION, "b": QUESTION})
    assert set(open_questions(asking, {})) == {"a", "b"}
    assert set(open_questions(asking, {"a": Answer()})) == {"b"}
    assert open_questions(asking, {"a": Answer(), "b": Answer()}) == {}


def test_only_an_input_required_task_has_open_questions_a12_1() -> None:
    assert open_questions(None, {}) == {}
    assert open_questions(task("working", input_requests={"a": QUESTION}), {}) == {}
    assert open_questions(task("input_required"), {}) == {}


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-09-12T09:00:00Z", datetime(2026, 9, 12, 9, tzinfo=UTC)),
        ("2026-09-12T09:00:00+02:00", datetime(2026, 9, 12, 7, tzinfo=UTC)),
        ("2026-09-12T09:00:00", datetime(2026, 9, 12, 9, tzinfo=UTC)),
        ("2026-09-12T09:00:00.5Z", datetime(2026, 9, 12, 9, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-09-12T09:00:00.1234567Z", datetime(2026, 9, 12, 9, 0, 0, 123_456, tzinfo=UTC)),
        ("2026-09-12t09:00:00z", datetime(2026, 9, 12, 9, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("", None),
        (None, None),
        (12, None),
    ],
)
def test_a_servers_timestamp_is_read_as_utc_or_not_at_all_a9_6_a14_6_t4(
    text: object, when: datetime | None
) -> None:
    found = moment(text)
    assert found == when
    assert found is None or found.tzinfo is UTC
