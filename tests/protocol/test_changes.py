"""Which events a step of the view makes."""

from __future__ import annotations

from mcptask.protocol.changes import changes
from mcptask.protocol.events import (
    Heard,
    InputRequired,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    Warned,
)
from mcptask.protocol.lifecycle import due_at
from mcptask.protocol.observations import denied, listening, missed, observe
from mcptask.protocol.questions import Answer
from mcptask.protocol.view import Rules, begin, begin_with
from tests.protocol.fakes import QUESTION, task

START = begin(Rules(), 0.0)
WORKING = observe(START, task(), 0.0)


def test_the_first_word_of_a_task_is_a_change_of_status() -> None:
    assert list(changes(START, WORKING, 0.0)) == [StatusChanged(task(), 1.0)]


def test_no_news_is_told_as_such_with_the_time_of_the_next_question_a10_9() -> None:
    after = observe(WORKING, task(), 1.0)
    assert list(changes(WORKING, after, 1.0)) == [Heard(task(), 2.0)]


def test_the_end_has_no_next_question() -> None:
    after = observe(WORKING, task("cancelled"), 1.0)
    assert list(changes(WORKING, after, 1.0)) == [StatusChanged(task("cancelled"), None)]


def test_warnings_come_first_and_once_c2() -> None:
    odd = task(warnings=("odd ttl",))
    first = observe(WORKING, odd, 1.0)
    assert list(changes(WORKING, first, 1.0)) == [Warned("odd ttl"), Heard(odd, 2.0)]
    second = observe(first, odd, 2.0)
    assert list(changes(first, second, 2.0)) == [Heard(odd, 3.0)]


def test_a_failure_tells_when_it_is_tried_again_and_given_up_and_nothing_of_the_task_s10() -> None:
    after = missed(WORKING, "busy", 1.0)
    assert list(changes(WORKING, after, 1.0)) == [Retrying("busy", 1, 2.0, 301.0)]


def test_the_failure_that_gives_up_promises_no_further_attempt_a10_6() -> None:
    after = missed(missed(WORKING, "busy", 1.0), "busy", 301.0)
    assert list(changes(WORKING, after, 301.0)) == []


def test_an_answer_after_failures_tells_how_long_the_server_was_away() -> None:
    before = missed(WORKING, "busy", 1.0)
    after = observe(before, task(), 9.0)
    assert list(changes(before, after, 9.0)) == [Reconnected(8.0), Heard(task(), 10.0)]


def test_a_denial_tells_nothing_of_the_task_a4_3() -> None:
    young = begin_with(task(), Rules(), 0.0)
    assert list(changes(young, denied(young, 1.0), 1.0)) == []
    before = missed(young, "busy", 1.0)
    assert list(changes(before, denied(before, 3.0), 3.0)) == [Reconnected(2.0)]


def test_each_question_is_announced_once_even_if_the_task_works_in_between_a12_2() -> None:
    asking = task("input_required", input_requests={"room": QUESTION})
    first = observe(WORKING, asking, 1.0)
    assert list(changes(WORKING, first, 1.0))[1:] == [InputRequired(asking, {"room": QUESTION})]
    working = observe(first, task(), 2.0)
    more = task("input_required", input_requests={"room": QUESTION, "fee": QUESTION})
    again = observe(working, more, 3.0)
    assert list(changes(working, again, 3.0))[1:] == [InputRequired(more, {"fee": QUESTION})]


def test_a_question_that_was_answered_before_is_not_announced_a12_5() -> None:
    asking = task("input_required", input_requests={"room": QUESTION})
    before = begin(Rules(), 0.0, answered={"room": Answer()})
    after = observe(before, asking, 0.0)
    assert list(changes(before, after, 0.0)) == [StatusChanged(asking, 1.0)]


def test_how_changes_are_learned_is_told_when_it_or_the_reason_changes_a11_1() -> None:
    polled = listening(WORKING, False, "it was lost", 1.0)
    assert list(changes(WORKING, polled, 1.0)) == [Listening(False, "it was lost", due_at(polled))]
    again = listening(polled, False, "it was lost", 2.0)
    assert list(changes(polled, again, 2.0)) == []
    refused = listening(again, False, "it ends each subscription at once", 3.0)
    assert list(changes(again, refused, 3.0)) == [
        Listening(False, "it ends each subscription at once", due_at(refused))
    ]
    pushed = listening(refused, True, "it acknowledged a subscription", 4.0)
    assert list(changes(refused, pushed, 4.0)) == [Listening(True, pushed.why, due_at(pushed))]
