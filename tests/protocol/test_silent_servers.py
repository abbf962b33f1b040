"""Many tasks on a server that answers for none of them, or not for all (A10.5, A10.6, A10.10)."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.errors import ConfigError, Unreachable
from mcptask.protocol.events import Ended
from mcptask.protocol.generations.v2026_07_28 import GET_WAIT, V20260728
from tests.protocol.fakes import ID, done, followed, refused, wire
from tests.protocol.pushing import Course, at, watched
from tests.protocol.virtual import now

WITHOUT_PUSH = [[refused(-32601)]]


def late(seconds: float) -> Any:
    """No answer for so long, and then the transport's error."""

    def answer() -> list[Any]:
        return [at(now() + seconds), Unreachable(f"no answer within {seconds:g} s")]

    return answer


def ends(course: Course) -> list[float]:
    return [float(lines[-1].split()[0]) for lines in course.told.values()]


def test_a_question_about_a_task_is_waited_for_half_a_minute_a10_5() -> None:
    assert next(V20260728().get_task(ID)).wait == GET_WAIT == 30.0
    assert next(V20260728(get_wait=200.0).get_task(ID)).wait == 200.0


@pytest.mark.parametrize("many", [1, 8, 40, 200])
def test_contact_is_given_up_as_soon_for_many_tasks_as_for_one_a10_6(many: int) -> None:
    """Those that wait for their turn meet the same silence."""
    course = watched(gets=late(30), streams=WITHOUT_PUSH, ids=[f"tsk_{n}" for n in range(many)])
    assert all("ended unreachable 7" in lines[-1] for lines in course.told.values())
    assert min(ends(course)) >= 300
    assert max(ends(course)) <= 300 + 3 * 30 + 30


def test_tasks_that_get_no_answer_leave_turns_to_the_others_a10_10() -> None:
    sick, sound = [f"sick_{n}" for n in range(8)], [f"sound_{n}" for n in range(80)]
    gone = Unreachable("no answer")
    hanging = {0: [at(30), gone], 30.5: [at(61), gone], 61.5: [at(92), gone]}
    course = watched(
        gets={each: {**hanging, 92.5: done(taskId=each)} for each in sick}
        | {each: {0: done(taskId=each)} for each in sound},
        streams=WITHOUT_PUSH,
        ids=[*sick, *sound],
    )
    assert max(ends(course)[len(sick) :]) == 31, "after the first silence, which all of them met"
    assert min(ends(course)[: len(sick)]) > 92


def test_a_server_that_answers_for_some_is_not_silent_a10_10() -> None:
    """Only what was asked for before the silence began shares it."""
    course = watched(
        gets={
            "sick": {0: [at(30), Unreachable("no answer")], 30.0: done(taskId="sick")},
            "sound": {0: wire(taskId="sound"), 20: done(taskId="sound")},
        },
        streams=WITHOUT_PUSH,
        ids=["sick", "sound"],
    )
    assert not any("failure" in line for line in course.told["sound"])


def test_what_cannot_even_be_asked_ends_this_task_and_says_why_a13_3() -> None:
    """A program that is gone, a variable that is not set: other servers have theirs."""
    course = followed([ConfigError("the server's command does not exist")])
    assert isinstance(course.events[-1], Ended)
    assert course.told[-1] == "0 ended usage 2"
