"""What a view makes of a task's questions and of the answers to them; and when following stops for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mcptask.protocol.changes import changes
from mcptask.protocol.events import Answered, InputRequired, Left, TaskEvent, Warned
from mcptask.protocol.lifecycle import Get, Stop, Wait, next_action
from mcptask.protocol.observations import asking, observe
from mcptask.protocol.questions import (
    Answer,
    being_applied,
    fingerprint,
    is_another,
    named,
    open_questions,
)
from mcptask.protocol.replies import (
    STUCK_AFTER,
    Acknowledged,
    LeftOpen,
    Refused,
    Superseded,
    Undelivered,
    remembering,
    replied,
)
from mcptask.protocol.task import Task
from mcptask.protocol.view import Rules, View, begin, begin_with
from tests.protocol.fakes import QUESTION, task

NOW = 100.0
OTHER = {"method": "elicitation/create", "params": {"message": "Pay 500?"}}
ROOM = ("room", fingerprint(QUESTION))
FEE = ("fee", fingerprint(OTHER))
ANSWERED = {"room": Answer(ROOM[1])}
ON_THE_WAY = {"room": Answer(ROOM[1], {"action": "decline"})}
STOPPING = Rules(stop_for_input=True)
ANSWERING = Rules(stop_when_answered=True)


def asks(**requests: Mapping[str, Any]) -> Task:
    return task("input_required", input_requests=requests or {"room": QUESTION})


def seen(snapshot: Task, rules: Rules = STOPPING, **more: Any) -> View:
    return observe(begin(rules, NOW, **more), snapshot, NOW)


def told(before: View, after: View) -> list[TaskEvent]:
    return list(changes(before, after, NOW))


def left(view: View, *names: tuple[str, str]) -> View:
    for name in names or (ROOM,):
        view = replied(view, LeftOpen(name), NOW)
    return view


# ── what is open ─────────────────────────────────────────────────────────────────────────────────


def test_a_question_is_what_it_says_whatever_the_order_of_its_members_a12_2() -> None:
    other_order = {"params": {"message": "Which room?"}, "method": "elicitation/create"}
    assert fingerprint(QUESTION) == fingerprint(other_order) != fingerprint(OTHER)
    assert len(fingerprint({"text": "\ud800"})) == 16


def test_what_was_answered_is_open_no_more_a12_4() -> None:
    both = asks(room=QUESTION, fee=OTHER)
    assert open_questions(both, {}) == {"room": QUESTION, "fee": OTHER}
    assert open_questions(both, ANSWERED) == {"fee": OTHER}
    assert being_applied(both, ANSWERED) == {"room": QUESTION}


def test_only_an_input_required_task_has_open_questions_a12_1() -> None:
    assert open_questions(None, {}) == {}
    assert open_questions(task("working", input_requests={"a": QUESTION}), {}) == {}
    assert open_questions(task("input_required"), {}) == {}


def test_another_question_under_an_old_key_is_open_a12_3_s6() -> None:
    changed = asks(room=OTHER)
    assert open_questions(changed, ANSWERED) == {"room": OTHER}
    assert is_another("room", OTHER, ANSWERED)


def test_an_answer_of_an_older_state_file_is_to_whatever_is_asked_a12_5() -> None:
    assert open_questions(asks(), {"room": Answer()}) == {}
    assert not is_another("room", OTHER, {"room": Answer()})


# ── when following stops for a question ──────────────────────────────────────────────────────────


def test_a_question_that_nobody_here_answers_stops_a_run_a12_11() -> None:
    view = seen(asks())
    assert next_action(view, NOW) == Wait(NOW + 1)
    assert next_action(left(view), NOW) == Stop("input_required")


def test_one_that_somebody_may_answer_does_not_stop_it_a12_7() -> None:
    both = left(seen(asks(room=QUESTION, fee=OTHER)))
    assert next_action(both, NOW) == Wait(NOW + 1)
    assert next_action(left(both, FEE), NOW) == Stop("input_required")
    assert next_action(left(seen(asks(), Rules())), NOW) == Wait(NOW + 1)


def test_another_question_under_a_key_that_was_left_is_not_left_a12_3() -> None:
    view = observe(left(seen(asks())), asks(room=OTHER), NOW)
    assert next_action(view, NOW) == Wait(NOW + 1)


def test_an_answered_question_that_is_still_listed_stops_nothing_a12_4() -> None:
    assert next_action(seen(asks(), answered=ANSWERED), NOW) == Wait(NOW + 1)
    assert next_action(remembering(seen(asks()), ANSWERED), NOW) == Wait(NOW + 1)


def test_an_answer_on_its_way_keeps_the_run_for_what_else_is_left_a12_6() -> None:
    both = left(seen(asks(room=QUESTION, fee=OTHER)), FEE)
    waiting = remembering(both, ON_THE_WAY)
    assert next_action(waiting, NOW) == Wait(NOW + 1)
    taken = remembering(replied(waiting, Acknowledged(frozenset({ROOM})), NOW + 0.5), ANSWERED)
    # What the server made of it may be the end of the other question, too.
    assert next_action(taken, NOW + 0.5) == Get()
    assert next_action(observe(taken, asks(fee=OTHER), NOW + 0.6), NOW + 0.6) == Stop(
        "input_required"
    )


def test_a_question_that_is_never_sent_stops_a_run_after_the_second_try_a9_7() -> None:
    view = seen(task("input_required"))
    assert next_action(view, NOW) == Wait(NOW + 1)
    view = observe(view, task("input_required"), NOW + 1)
    assert next_action(view, NOW + 1) == Stop("input_required")


def test_a_task_made_asking_with_its_question_stops_a_run_at_once_a12_11() -> None:
    assert next_action(left(begin_with(asks(), STOPPING, NOW)), NOW) == Stop("input_required")
    known = begin_with(asks(), STOPPING, NOW, answered=ANSWERED)
    assert next_action(known, NOW) == Wait(NOW + 1)


# ── when following stops since all is answered ───────────────────────────────────────────────────


def test_whoever_only_answers_goes_once_the_answers_show_a12_4() -> None:
    view = seen(asks(), ANSWERING)
    assert next_action(view, NOW) == Wait(NOW + 1)
    assert next_action(remembering(view, ON_THE_WAY), NOW) == Wait(NOW + 1)
    taken = remembering(replied(view, Acknowledged(frozenset({ROOM})), NOW + 0.5), ANSWERED)
    assert next_action(taken, NOW + 0.5) == Get()
    for after in (asks(), task("working")):
        assert next_action(observe(taken, after, NOW + 0.6), NOW + 0.6) == Stop("answered")


def test_or_once_all_is_left_or_nothing_is_asked_a12_11() -> None:
    assert next_action(left(seen(asks(), ANSWERING)), NOW) == Stop("answered")
    assert next_action(seen(task("working"), ANSWERING), NOW) == Stop("answered")
    assert next_action(begin(ANSWERING, NOW), NOW) == Get()


# ── what is told ─────────────────────────────────────────────────────────────────────────────────


def test_each_question_is_announced_once_a12_2() -> None:
    view = seen(asks())
    assert InputRequired(asks(), {"room": QUESTION}) in told(begin(STOPPING, NOW), view)
    again = observe(view, asks(room=QUESTION, fee=OTHER), NOW + 1)
    assert [e.requests for e in told(view, again) if isinstance(e, InputRequired)] == [
        {"fee": OTHER}
    ]


@pytest.mark.parametrize("known", [{}, ANSWERED])
def test_another_question_under_an_old_key_is_announced_as_such_and_warned_of_a12_3(
    known: Mapping[str, Answer],
) -> None:
    view = seen(asks(), answered=known)
    changed = observe(view, asks(room=OTHER), NOW + 1)
    events = told(view, changed)
    assert InputRequired(asks(room=OTHER), {"room": OTHER}, changed=("room",)) in events
    assert Warned("the server asks room again, and it is another question than before") in events


def test_an_answer_is_told_once_it_is_acknowledged_and_whose_it_was_a12_4() -> None:
    view = seen(asks())
    assert told(view, remembering(view, ON_THE_WAY)) == []
    own = remembering(view, ANSWERED, {ROOM})
    assert told(view, own) == [Answered(("room",))]
    assert told(view, remembering(view, ANSWERED)) == [Answered(("room",), elsewhere=True)]


def test_what_is_left_is_told_after_it_was_announced_a12_11() -> None:
    start = begin(STOPPING, NOW)
    events = told(start, left(observe(start, asks(), NOW)))
    assert [type(event) for event in events[1:]] == [InputRequired, Left]
    assert events[-1] == Left(("room",))


def test_a_refused_answer_is_warned_of_and_asked_about_at_once_a12_8() -> None:
    view = replied(seen(asks()), Refused("room", "no such room"), NOW + 0.5)
    assert view.warnings == ("the answer to room was refused: no such room",)
    assert next_action(view, NOW + 0.5) == Get()


def test_an_update_without_an_answer_is_told_once_a12_8() -> None:
    view = seen(asks())
    for _ in range(3):
        view = replied(view, Undelivered({"room"}, "reset"), NOW)
    assert view.warnings == ("the answer to room is not acknowledged yet (reset)",)
    assert replied(view, Superseded({"room"}), NOW) == view


@pytest.mark.parametrize(("later", "said"), [(STUCK_AFTER - 1, False), (STUCK_AFTER, True)])
def test_an_answer_that_is_not_applied_for_long_is_worth_a_word_a12_15(
    later: float, said: bool
) -> None:
    view = replied(seen(asks()), Acknowledged(frozenset({ROOM})), NOW)
    view = remembering(view, ANSWERED, {ROOM})
    view = observe(asking(view, NOW + later), asks(), NOW + later)
    assert bool(view.warnings) == said
    assert not said or "room was answered and acknowledged" in view.warnings[0]


def test_a_name_tells_the_question_and_not_only_its_key_a12_3() -> None:
    assert named({"room": QUESTION}) != named({"room": OTHER})
