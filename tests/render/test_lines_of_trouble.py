from __future__ import annotations

from dataclasses import replace

import pytest
from render_samples import APPROVE, START, SUBJECT, Log, asking, task

from mcptask.errors import ProtocolError, TaskLost, TimedOut, Unauthorized, Unreachable
from mcptask.protocol.events import Created, Ended, InputRequired, Left, Retrying
from mcptask.protocol.outcome import outcome_of_error, outcome_of_task


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "HTTP 429 Too Many Requests from u",
            "asks for fewer requests (HTTP 429 Too Many Requests",
        ),
        ("HTTP 502 Bad Gateway from u", "answers HTTP 502 Bad Gateway from u; trying again in 8 s"),
        ("name not found", "does not answer (name not found); trying again in 8 s"),
    ],
)
def test_a_server_that_answers_is_not_said_to_be_silent_a10_6(reason: str, told: str) -> None:
    log = Log()
    log.at(10).show(SUBJECT, Retrying(reason, 1, START + 18, START + 310))
    assert f"mcptask: 0:10 studio {told}" in log.new()


ENDS = {
    "timeout": TimedOut("m"),
    "unreachable": Unreachable("m"),
    "unauthorized": Unauthorized("m"),
    "lost": TaskLost("m"),
    "protocol": ProtocolError("m"),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_the_command_says_at_its_end_is_not_said_twice(name: str) -> None:
    log, without = Log(errors_follow=True), Log()
    for one in (log, without):
        one.at(0).show(SUBJECT, Created(task()))
        one.new()
        one.at(9).show(SUBJECT, Ended(outcome_of_error(ENDS[name], task())))
    assert log.new() == ""
    assert without.new().startswith("mcptask: 0:09 ")


@pytest.mark.parametrize("name", ENDS)
def test_of_several_the_end_of_one_is_news_unless_it_is_that_of_all(name: str) -> None:
    log = Log(errors_follow=True, several=True)
    log.at(9).show(SUBJECT, Ended(outcome_of_error(ENDS[name], task())))
    assert (log.new() == "") == (name == "timeout")


def test_how_a_task_ended_is_told_whatever_follows() -> None:
    log = Log(errors_follow=True)
    log.at(9).show(SUBJECT, Ended(outcome_of_task(task("failed", error={"message": "m"}))))
    assert log.new().endswith("mcptask: 0:09 failed · m\n")


def test_of_a_task_that_is_not_stored_the_answer_names_the_server() -> None:
    log = Log()
    subject = replace(SUBJECT, tool=None, ref=None, where="-s https://s.example/mcp")
    log.at(9).show(subject, InputRequired(asking(), {"approve": APPROVE}))
    log.at(9).show(subject, Left(("approve",)))
    first, *_, last = log.new().splitlines()
    assert first == "mcptask: following task tsk_8f21c0ffee on studio"
    command = "mcptask update tsk_8f21c0ffee action=waitlist -s https://s.example/mcp"
    assert last == f"mcptask:   answer: {command}"
