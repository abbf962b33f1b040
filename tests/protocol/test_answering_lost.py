"""Answers that got lost, were refused, or came late: each is sent until it is taken, and no other is."""

from __future__ import annotations

import pytest

from mcptask.errors import HttpRefused, McptaskError, RpcError, Unauthorized, Unreachable
from mcptask.protocol.answering import PATIENCE
from mcptask.protocol.questions import Answer, Question, Response
from mcptask.protocol.replies import (
    Acknowledged,
    Refused,
    Superseded,
    Undelivered,
)
from mcptask.protocol.view import GIVE_UP_AFTER
from tests.protocol.desks import (
    BAD,
    FEE,
    NO,
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
from tests.protocol.virtual import now

# ── without an acknowledgement ───────────────────────────────────────────────────────────────────


def test_an_update_that_is_lost_goes_out_again_as_it_was_and_nobody_is_asked_a12_8() -> None:
    gone = HttpRefused("not found", status=404)
    fates = (Unreachable("reset"), gone, RpcError(-32603, "busy"), None)

    async def course(case: Case) -> None:
        case.sees(asks())
        said = [await case.hears() for _ in range(2)]
        assert said == [Undelivered({"room"}, "reset"), Acknowledged(frozenset({ROOM}))]

    case = played(course, Desk(at_once(YES)), *fates)
    assert [at for at, _ in case.updates] == [0, 1, 3, 7]
    assert {str(body) for _, body in case.updates} == {str({"room": YES})}
    assert len(case.desk.put) == 1


@pytest.mark.parametrize(
    "error", [Unreachable("reset"), RpcError(-32603, "busy"), HttpRefused("no", status=404)]
)
def test_one_that_never_gets_a_word_ends_the_following_in_time_a10_6_a12_8(
    error: McptaskError,
) -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        assert await case.hears() == Undelivered({"room"}, error.message)
        with pytest.raises(type(error)):
            await case.hears()
        assert GIVE_UP_AFTER - 40 <= now() <= GIVE_UP_AFTER

    case = played(course, Desk(at_once(YES)), *[error] * 99)
    assert case.desk.known == {"room": Answer(ROOM[1], YES)}, "the next run sends it again"


def test_any_error_but_a_fault_inside_says_that_it_was_not_taken_a12_8() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        assert await case.hears() == Refused("room", "no handler")

    case = played(course, Desk(at_once(YES)), RpcError(-32000, "no handler"))
    assert case.desk.known == {}


def test_a_server_that_names_a_wait_gets_it_a10_6() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        await case.after(100)

    busy = Unreachable("HTTP 429", retry_after=20.0)
    assert [at for at, _ in played(course, Desk(at_once(YES)), busy).updates] == [0, 20]


@pytest.mark.parametrize("error", [Unauthorized("401"), HttpRefused("gone", status=410)])
def test_what_does_not_pass_ends_the_following_with_the_answer_kept_a12_8(
    error: McptaskError,
) -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        with pytest.raises(type(error)):
            await case.hears()

    case = played(course, Desk(at_once(YES)), error)
    assert case.desk.known == {"room": Answer(ROOM[1], YES)}


def test_an_answer_of_a_run_that_died_goes_out_again_as_it_was_at_once_a12_8() -> None:
    async def course(case: Case) -> None:
        await case.after(0.5)
        case.sees(asks())
        assert await case.hears() == Acknowledged(frozenset({ROOM}))

    case = played(course, Desk(at_once(NO), {"room": Answer(ROOM[1], YES)}))
    assert (case.desk.put, case.updates) == ([], [(0.5, {"room": YES})])


def test_one_that_is_not_listed_waits_until_it_is_a12_8() -> None:
    """It was applied, or a node that lags behind hides it."""

    async def course(case: Case) -> None:
        case.sees(task("working"))
        await case.after(5)
        assert case.updates == []
        case.sees(asks())
        await case.after(1)

    case = played(course, Desk(never, {"room": Answer(ROOM[1], YES)}))
    assert case.updates == [(5.0, {"room": YES})]


def test_an_answer_does_not_go_out_again_to_another_question_a12_3_s6() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        await case.after(0.5)
        case.sees(asks(room=OTHER))
        await case.after(100)

    case = played(course, Desk(at_once(YES)), Unreachable("reset"))
    assert [at for at, _ in case.updates] == [0.0, 1.0]
    assert [question.changed for question in case.desk.put] == [False, True]
    assert case.desk.known == {"room": Answer(FEE[1])}


def test_an_answer_that_another_process_was_first_with_is_left_to_it_a12_5() -> None:
    async def says(question: Question) -> Response | None:
        desk.known = {"room": Answer(ROOM[1], NO)}
        return YES

    async def course(case: Case) -> None:
        case.sees(asks())
        assert await case.hears() == Superseded({"room"})

    desk = Desk(says)
    assert played(course, desk).updates == []


def test_one_of_a_run_that_is_at_work_goes_out_again_only_after_a_while_a12_8() -> None:
    async def course(case: Case) -> None:
        case.sees(asks())
        await case.after(1)
        case.desk.known = {"room": Answer(ROOM[1], NO)}
        for _ in range(int(PATIENCE) + 2):
            case.sees(asks())
            await case.after(1)

    case = played(course, Desk(never))
    assert case.updates == [(1 + PATIENCE, {"room": NO})]


# ── refused, and outrun ──────────────────────────────────────────────────────────────────────────


def test_a_refused_answer_opens_the_question_again_once_it_was_seen_again_a12_8() -> None:
    async def course(case: Case) -> None:
        await case.after(1)
        case.sees(asks())
        assert await case.hears() == Refused("room", "no such room")
        case.attends()
        await case.after(1)
        assert len(case.desk.put) == 1, "whether it is still asked is not known yet"
        case.sees(asks())
        assert await case.hears() == Acknowledged(frozenset({ROOM}))

    case = played(course, Desk(at_once(YES)), BAD)
    assert [question.refused for question in case.desk.put] == [None, "no such room"]


def test_of_several_answers_in_a_refused_update_each_goes_by_itself_a12_6_a12_8() -> None:
    async def course(case: Case) -> None:
        case.sees(asks(room=QUESTION, fee=OTHER))
        heard = {await case.hears(), await case.hears()}
        assert heard == {Refused("room", "no such room"), Acknowledged(frozenset({FEE}))}

    case = played(course, Desk(at_once(YES)), BAD, BAD, None)
    assert [set(body) for _, body in case.updates] == [{"room", "fee"}, {"room"}, {"fee"}]
    assert case.desk.known == {"fee": Answer(FEE[1])}


def test_an_answer_that_another_terminal_outran_is_not_sent_a12_5() -> None:
    async def says(question: Question) -> Response | None:
        case_desk.known = {"room": Answer(ROOM[1])}
        return YES

    async def course(case: Case) -> None:
        case.sees(asks())
        assert await case.hears() == Superseded({"room"})

    case_desk = Desk(says)
    assert played(course, case_desk).updates == []


def test_a_task_that_asks_nothing_costs_no_look_at_the_file_a10_10() -> None:
    async def course(case: Case) -> None:
        case.desk.known = {"room": Answer(ROOM[1])}
        assert case.sees(task("working")).answered == {}

    played(course, Desk(never))
