from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from render_samples import APPROVE, HOSTILE, MORNING, SUBJECT, asking, task

from mcptask.protocol.outcome import Problem, outcome_of_task
from mcptask.protocol.questions import Answer, Ledger, fingerprint
from mcptask.render.human import (
    created_lines,
    details,
    error_lines,
    open_requests,
    opening_lines,
    question_lines,
)
from mcptask.render.report import Report, ServerInfo, Subject

SERVER = ServerInfo("studio", "https://studio.example/mcp", "2026-07-28")


def test_an_error_is_one_line_and_its_hint_another() -> None:
    problem = Problem(kind="usage", message='studio has no tool "x"', hint="did you mean y?")
    assert error_lines(problem) == ['error: studio has no tool "x"', "hint: did you mean y?"]


def test_an_error_of_the_server_shows_its_code() -> None:
    problem = Problem(kind="jsonrpc", message="quota\nfor today", code=-32050)
    assert error_lines(problem) == ["error: quota (-32050)", "     | for today"]


def test_further_lines_of_an_error_cannot_pass_for_ours() -> None:
    problem = Problem(
        kind="jsonrpc", message=f"a\nhint: rm -rf\n::error::x\n{HOSTILE}", hint=HOSTILE
    )
    first, *rest = error_lines(problem)
    assert first == "error: a"
    assert [line for line in rest if not line.lstrip().startswith("|")] == [
        next(line for line in rest if line.startswith("hint: "))
    ]
    assert all(line.isprintable() for line in rest)


def test_colour_marks_the_label_only() -> None:
    problem = Problem(kind="usage", message="m")
    assert error_lines(problem, colour=True) == ["\x1b[31merror:\x1b[0m m"]


def test_a_call_left_running_says_how_to_come_back() -> None:
    assert created_lines(SUBJECT, task(message="Reflowing 142 bookings.")) == [
        "Task 7 is working on studio: Reflowing 142 bookings.",
        "Kept for 24 h. Follow it, here or in any later terminal:  mcptask watch 7",
    ]
    unkept = created_lines(replace(SUBJECT, ref=None, task_id="a b"), task(ttl_ms=None))
    assert unkept == [
        "Task 'a b' is working on studio.",
        "Follow it, here or in any later terminal:  mcptask watch 'a b'",
    ]


def test_a_task_that_is_not_stored_is_found_by_its_server() -> None:
    where = "-s https://studio.example/mcp"
    (_, follow) = created_lines(replace(SUBJECT, ref=None, task_id="t1", where=where), task())
    assert follow.endswith("  mcptask watch t1 -s https://studio.example/mcp")


def test_details_tell_state_times_and_the_time_that_is_left() -> None:
    raw = {"lastUpdatedAt": "2026-09-12T09:00:30Z"}
    report = Report(outcome_of_task(task(message="m", raw=raw)), SERVER, 7, "reflow_month")
    lines = details(report, MORNING + timedelta(seconds=90))
    local = MORNING.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert lines[:6] == [
        "task      7 · tsk_8f21c0ffee",
        "tool      reflow_month",
        "server    studio",
        "state     ● working",
        "message   m",
        f"created   {local}, 1 m 30 s ago",
    ]
    assert lines[6].endswith(", 1 m ago")
    assert lines[7] == "kept for  23 h 58 m"


def test_details_show_each_question_with_the_line_that_answers_it() -> None:
    report = Report(outcome_of_task(asking(a=APPROVE, b=APPROVE)), SERVER, 7, "reflow_month")
    text = "\n".join(details(report, MORNING))
    assert "studio asks (a): 4 bookings fit nowhere. What should happen to them?" in text
    assert "answer:  mcptask update 7 --key a action=waitlist" in text
    assert "answer:  mcptask update 7 --key b action=waitlist" in text


def told(answered: Ledger) -> str:
    """Of a task that asks `a` and `b`, and of what is remembered of them."""
    outcome = outcome_of_task(asking(a=APPROVE, b=APPROVE), answered)
    report = Report(outcome, SERVER, 7, "reflow_month", answered=answered)
    return "\n".join(details(report, MORNING))


def test_a_question_that_was_answered_is_not_shown_as_open() -> None:
    text = told({"a": Answer(fingerprint(APPROVE))})
    assert "asks (a)" not in text
    assert "answer:  mcptask update 7 action=waitlist" in text, "one needs no key"


def test_an_answer_that_the_task_does_not_show_yet_is_sent_and_not_applied_a12_4() -> None:
    known = Answer(fingerprint(APPROVE))
    lines = told({"a": known}).splitlines()
    assert lines[-1] == "a: sent, not yet applied"
    assert told({"a": known, "b": known}).splitlines()[-3:] == [
        "",
        "a: sent, not yet applied",
        "b: sent, not yet applied",
    ]


def test_of_an_answer_that_may_be_lost_it_says_who_sends_it_again_a12_8() -> None:
    lost = Answer(fingerprint(APPROVE), {"action": "decline"})
    text = "b: sent, not yet acknowledged; mcptask watch 7 sends it again"
    assert told({"b": lost}).splitlines()[-1] == text


def test_another_question_under_an_old_key_is_open_and_shown_as_such_a12_3() -> None:
    text = told({"a": Answer("0123456789abcdef")})
    assert "studio asks (a), another question than before: 4 bookings fit" in text
    assert "answer:  mcptask update 7 --key a" in text
    assert "studio asks (b): 4 bookings" in text
    assert "sent" not in text


def test_only_an_outcome_that_asks_has_questions() -> None:
    foreign = {"inputRequests": {"a": APPROVE}}
    assert open_requests(None) == {}
    assert open_requests(Problem(kind="jsonrpc", message="m", data=foreign)) == {}
    assert open_requests(Problem(kind="input", message="m")) == {}
    assert open_requests(Problem(kind="input", message="m", data=foreign)) == {"a": APPROVE}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"created_at": "no date"}, "kept for  24 h"),
        ({"created_at": "2026-09-12T09:00:00"}, "kept for  24 h"),
        ({"created_at": "0001-01-01T00:00:00+14:00"}, "kept for  24 h"),
        ({"created_at": "2026-09-11T08:00:00Z"}, "expired   1 h ago"),
        ({"ttl_ms": None}, "created"),
    ],
)
def test_times_of_a_server_are_read_leniently_a9_6_a14_3(
    changes: dict[str, object], expected: str
) -> None:
    lines = details(Report(outcome_of_task(task(**changes))), MORNING)
    assert lines[-1].startswith(expected)


def test_details_without_a_task_are_empty() -> None:
    outcome = replace(outcome_of_task(task()), task=None)
    assert details(Report(outcome), MORNING) == []


def test_no_hostile_word_gets_through() -> None:
    subject = Subject(HOSTILE, HOSTILE, None, HOSTILE, 0.0)
    hostile = asking(**{HOSTILE: {"method": HOSTILE, "params": {"message": HOSTILE}}})
    hostile = replace(hostile, status_message=HOSTILE, task_id=HOSTILE)
    lines = [
        *created_lines(subject, hostile),
        *created_lines(replace(subject, where=HOSTILE), hostile),
        *question_lines(subject, hostile.input_requests or {}),
        *details(
            Report(outcome_of_task(hostile), ServerInfo(None, HOSTILE), None, HOSTILE), MORNING
        ),
    ]
    assert all(line.isprintable() for line in lines)


def test_before_there_is_a_task_the_option_that_serves_is_named_too_a8_4_a12_14() -> None:
    asked = {"a": APPROVE, "s": {"method": "sampling/createMessage"}, "r": {"method": "roots/list"}}
    lines = opening_lines("studio", asked)
    assert [line for line in lines if line.startswith("  in the file") or "  or:" in line] == [
        '  in the file:  a = { action = "waitlist|refund|keep" }',
        "  in the file:  s = { … }",
        "  or:  mcptask call … --answer-with COMMAND",
        "  in the file:  r = { … }",
        "  or:  mcptask call … --root PATH",
    ]
