"""Questions that are put and taken back, and answers that are sent once. On virtual time."""

from __future__ import annotations

import asyncio

import pytest

from mcptask.errors import McptaskError
from mcptask.protocol.answering import PATIENCE
from mcptask.protocol.questions import Answer, Question, Response
from mcptask.protocol.replies import (
    Acknowledged,
    LeftOpen,
)
from mcptask.protocol.task import Task
from tests.protocol.desks import (
    OTHER,
    ROOM,
    YES,
    Case,
    Desk,
    asks,
    at_once,
    never,
    played,
)
from tests.protocol.fakes import QUESTION, task

# ── put once, sent once ──────────────────────────────────────────────────────────────────────────


def test_a_question_is_put_once_and_its_answer_sent_once_over_all_polls_a12_2() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        assert await case.hears() == Acknowledged(frozenset({ROOM}))
        for _ in range(3):
            await case.after(1)
            case.sees(asks())

    case = played(course, Desk(at_once(YES)))
    assert [question.key for question in case.desk.put] == ["room"]
    assert case.updates == [(0.0, {"room": YES})]
    assert case.desk.known == {"room": Answer(ROOM[1])}, "its content is nobody's business any more"


def test_what_is_ready_at_one_moment_goes_out_together_and_the_rest_when_it_is_a12_6() -> None:
    async def says(question: Question) -> Response | None:
        await asyncio.sleep({"room": 5.0, "fee": 5.0}.get(question.key, 9.0))
        return YES

    async def course(case: Case) -> None:
        case.sees(asks(room=QUESTION, fee=OTHER, late=QUESTION))
        await case.after(10)

    case = played(course, Desk(says))
    assert case.updates == [(5.0, {"room": YES, "fee": YES}), (9.0, {"late": YES})]


def test_what_is_asked_together_is_put_at_one_moment_a12_11() -> None:
    async def course(case: Case) -> None:
        case.sees(asks(room=QUESTION, fee=QUESTION))
        await case.after(1)
        case.sees(asks(room=QUESTION, fee=QUESTION, late=QUESTION))
        await case.after(1)

    first, second, late = (question.since for question in played(course, Desk(never)).desk.put)
    assert first == second < late


def test_what_nobody_answers_is_left_and_not_put_again_a12_11() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        assert await case.hears() == LeftOpen(ROOM)
        case.sees(asks())
        await case.after(1)

    case = played(course, Desk(at_once(None)))
    assert (len(case.desk.put), case.updates) == (1, [])


def test_an_error_of_whoever_answers_ends_the_following() -> None:
    async def broken(question: Question) -> Response | None:
        raise McptaskError("a bug")

    async def course(case: Case) -> None:
        case.sees(asks())
        with pytest.raises(McptaskError, match="a bug"):
            await case.hears()

    played(course, Desk(broken))


# ── taken back ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("then", "why"),
    [
        (task("working"), "the server does not ask it any more"),
        (task("completed", result={}), "the task is completed"),
        (asks(room=OTHER), "the server asks something else in its place"),
        (asks(fee=OTHER), "the server does not ask it any more"),
    ],
)
def test_a_question_that_is_gone_is_taken_back_with_the_reason_a12_7(then: Task, why: str) -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        await case.after(1)
        case.sees(then)
        await case.after(1)

    case = played(course, Desk(never))
    assert (case.desk.back[0], case.updates) == (why, [])


def test_a_snapshot_that_asks_and_does_not_say_what_takes_nothing_back_a9_7_a12_7() -> None:
    async def course(case: Case) -> None:
        for snapshot in (asks(), task("input_required"), asks()):
            case.sees(snapshot)
            await case.after(1)
        assert case.desk.back == []

    assert len(played(course, Desk(never)).desk.put) == 1


def test_one_that_is_asked_again_after_all_is_put_again_a12_7() -> None:
    async def course(case: Case) -> None:
        for snapshot in (asks(), task("working"), asks()):
            case.sees(snapshot)
            await case.after(1)

    case = played(course, Desk(never))
    assert [question.changed for question in case.desk.put] == [False, False]


def test_one_that_another_terminal_answered_is_taken_back_a12_5() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        await case.after(1)
        case.desk.known = {"room": Answer(ROOM[1])}
        case.attends()
        await case.after(1)

    case = played(course, Desk(never))
    assert (case.desk.back, case.updates) == (["it was answered in another terminal"], [])


def test_the_end_of_the_following_closes_what_is_open_with_its_reason_a12_7() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        await case.after(1)
        await case.answering.end("the time given for waiting is over")

    assert played(course, Desk(never)).desk.back == ["the time given for waiting is over"]


# ── another question ─────────────────────────────────────────────────────────────────────────────


def test_another_question_under_an_old_key_is_put_as_such_and_answered_anew_a12_3_s6() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        await case.hears()
        case.sees(asks(room=OTHER))
        await case.hears()

    case = played(course, Desk(at_once(YES)))
    assert [(q.request, q.changed) for q in case.desk.put] == [(QUESTION, False), (OTHER, True)]
    assert len(case.updates) == 2


def test_a_question_that_comes_back_after_another_is_put_as_another_a12_3() -> None:
    async def course(case: Case) -> None:
        for snapshot in (asks(), asks(room=OTHER), asks()):
            case.sees(snapshot)
            await case.after(1)

    case = played(course, Desk(at_once(YES)))
    assert [(q.request, q.changed) for q in case.desk.put] == [
        (QUESTION, False),
        (OTHER, True),
        (QUESTION, True),
    ]


def test_a_stored_answer_is_no_answer_to_another_question_a12_3_s6() -> None:
    async def course(case: Case) -> None:
        case.sees(asks(room=OTHER))
        await case.after(2 * PATIENCE)
        case.sees(asks(room=OTHER))
        await case.after(1)

    case = played(course, Desk(never, {"room": Answer(ROOM[1], YES)}))
    assert case.updates == []
    assert [(q.request, q.changed) for q in case.desk.put] == [(OTHER, True)]
