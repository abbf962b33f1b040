from __future__ import annotations

from dataclasses import replace

import pytest
from render_samples import HOSTILE, MORNING, START, SUBJECT, Log, asking, task

from mcptask.protocol.events import (
    Answered,
    Created,
    Ended,
    Heard,
    InputRequired,
    Left,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    Warned,
)
from mcptask.protocol.outcome import outcome_of_result, outcome_of_task
from mcptask.render.report import Report
from mcptask.render.view import time_of_day

BEGUN = "mcptask: reflow_month on studio is task 7 (tsk_8f21c0ffee)\n"


def test_a_task_is_introduced_then_each_change_is_a_line() -> None:
    log = Log()
    log.at(0).show(SUBJECT, Created(task()))
    assert log.new() == BEGUN + "mcptask: 0:00 working\n"
    log.at(5).show(SUBJECT, StatusChanged(task(message="Reflowing 96 of 142 bookings"), 110.0))
    assert log.new() == "mcptask: 0:05 working · Reflowing 96 of 142 bookings\n"
    log.at(48).show(SUBJECT, Ended(outcome_of_result({}, task("completed"))))
    assert log.new() == "mcptask: 0:48 completed\n"


def test_a_change_that_nobody_can_see_is_no_line() -> None:
    log = Log()
    log.at(0).show(SUBJECT, Created(task(message="a")))
    log.new()
    log.at(5).show(SUBJECT, StatusChanged(task(message="a", poll_interval_ms=9), 110.0))
    assert log.new() == ""


def test_after_half_a_minute_of_silence_it_says_that_it_still_follows() -> None:
    log = Log()
    log.at(0).show(SUBJECT, Created(task()))
    log.new()
    log.at(29).show(SUBJECT, Heard(task(message="Reflowing 131 of 142 bookings"), 130.0))
    assert log.new() == ""
    log.at(35).show(SUBJECT, Heard(task(message="Reflowing 131 of 142 bookings"), 140.0))
    assert log.new() == "mcptask: 0:35 still working · Reflowing 131 of 142 bookings\n"
    log.at(64).tick()
    assert log.new() == ""
    log.at(65).tick()
    assert log.new() == "mcptask: 1:05 still working · Reflowing 131 of 142 bookings\n"
    log.at(66).show(SUBJECT, Ended(outcome_of_task(task("cancelled"))))
    log.new()
    log.at(600).tick()
    assert log.new() == ""


def test_each_line_of_several_tasks_names_its_own_and_the_heartbeat_counts_them() -> None:
    log = Log(several=True)
    other = replace(SUBJECT, ref=None, task_id="x" * 40)
    log.at(0).show(SUBJECT, Created(task()))
    log.at(1).show(other, Created(task()))
    lines = log.new().splitlines()
    assert lines[1] == "mcptask: 7 · 0:00 working"
    assert lines[3] == "mcptask: xxxxxxxxxx…xxxxx · 0:01 working"
    log.at(40).tick()
    assert log.new() == "mcptask: still following: 2 working\n"


@pytest.mark.parametrize("quiet", [False, True])
def test_a_remark_is_a_line_of_its_own_and_counts_as_a_sign_of_life(quiet: bool) -> None:
    log = Log(quiet=quiet)
    log.at(0).show(SUBJECT, Created(task()))
    log.new()
    log.at(29).note(f"warning: {HOSTILE}")
    text = log.new()
    assert text.startswith("warning: ")
    assert text[:-1].isprintable()
    log.at(35).tick()
    assert log.new() == ""


def test_what_is_still_to_be_read_at_the_end_is_what_was_written_and_not_drawn() -> None:
    assert Log().reporter.stays
    assert not Log(quiet=True).reporter.stays
    Log().reporter.end(Report(outcome_of_task(task("completed"))))


def test_lost_contact_is_told_without_a_word_about_the_task() -> None:
    log = Log()
    log.at(0).show(SUBJECT, Created(task()))
    log.new()
    log.at(10).show(SUBJECT, Retrying("connection refused", 1, START + 18, START + 310))
    until = time_of_day(MORNING, 310.0)
    assert log.new() == (
        "mcptask: 0:10 studio does not answer (connection refused); "
        f"trying again in 8 s, until {until}\n"
    )
    log.at(45).tick()
    assert "still" not in log.new()
    log.at(50).show(SUBJECT, Reconnected(40.0))
    assert log.new() == "mcptask: 0:50 studio answers again after 40 s\n"


def test_how_changes_are_learned_is_no_line_and_claims_nothing() -> None:
    log = Log()
    log.at(0).show(SUBJECT, Listening(push=True, why="it does", next_poll=START + 10))
    assert log.new() == ""
    log.at(0).show(SUBJECT, StatusChanged(task(), 110.0))
    assert log.new() == BEGUN + "mcptask: 0:00 working\n"
    log.at(9).show(SUBJECT, Listening(push=False, why="it stopped", next_poll=START + 10))
    assert log.new() == ""


def test_a_task_that_was_out_of_reach_at_first_still_gets_its_state_told() -> None:
    log = Log()
    log.at(0).show(SUBJECT, Retrying("connection refused", 1, START + 1, START + 300))
    assert log.new().startswith(BEGUN + "mcptask: 0:00 studio does not answer")
    log.at(2).show(SUBJECT, Reconnected(2.0))
    log.at(2).show(SUBJECT, StatusChanged(task(), 110.0))
    assert log.new().splitlines()[-1] == "mcptask: 0:02 working"


def test_a_server_that_is_away_is_one_line_however_many_tasks_it_has() -> None:
    log = Log(several=True)
    tasks = [replace(SUBJECT, ref=ref, task_id=f"t{ref}") for ref in (1, 2, 3)]
    elsewhere = replace(SUBJECT, ref=4, server="books")
    for subject in (*tasks, elsewhere):
        log.at(0).show(subject, StatusChanged(task(), 110.0))
    log.new()
    for attempt in (1, 2):
        for subject in (*tasks, elsewhere):
            log.at(attempt).show(subject, Retrying("refused", attempt, START + 9, START + 300))
    told = log.new().splitlines()
    assert [line[:45] for line in told] == [
        "mcptask: 0:01 studio does not answer (refused",
        "mcptask: 4 · 0:01 books does not answer (refu",
    ]
    log.at(40).tick()
    assert log.new() == "mcptask: still following: 4 working; no answer about 4 of them\n"
    log.at(41).show(tasks[0], Reconnected(40.0))
    log.at(41).show(tasks[1], Ended(outcome_of_task(task("cancelled"))))
    assert "answers again" not in log.new()
    log.at(42).show(tasks[2], Reconnected(41.0))
    assert log.new() == "mcptask: 0:42 studio answers again after 41 s\n"


def test_quiet_writes_nothing() -> None:
    log = Log(quiet=True)
    log.at(0).show(SUBJECT, Created(task()))
    log.at(99).tick()
    log.reporter.close()
    assert log.new() == ""


def test_colour_is_only_there_when_asked_for() -> None:
    log = Log(colour=True)
    log.at(0).show(SUBJECT, Created(task()))
    assert "\x1b[36mworking\x1b[0m" in log.new()


@pytest.mark.parametrize("several", [False, True])
def test_no_text_of_a_server_begins_a_line_or_acts(several: bool) -> None:
    log = Log(several=several)
    hostile = replace(SUBJECT, tool=HOSTILE, server=HOSTILE, task_id=HOSTILE)
    question = {HOSTILE: {"method": HOSTILE, "params": {"message": f"::error::{HOSTILE}"}}}
    log.at(0).show(hostile, StatusChanged(task(HOSTILE, f"\n::error::x ##[error]{HOSTILE}"), 1.0))
    log.at(1).show(hostile, InputRequired(asking(**question), question))
    log.at(1).show(hostile, Retrying(HOSTILE, 1, 200.0, 300.0))
    log.at(2).show(hostile, Warned(HOSTILE))
    log.at(2).show(hostile, Left((HOSTILE,)))
    log.at(2).show(hostile, Answered((HOSTILE,)))
    text = log.new()
    assert all(line.startswith("mcptask: ") for line in text.splitlines())
    assert text.replace("\n", "").isprintable()
    assert "##[" not in text


def test_a_log_that_cannot_be_written_does_not_end_the_watch() -> None:
    log = Log()
    log.stream.close()
    log.at(0).show(SUBJECT, Created(task()))


def test_the_heartbeat_is_due_half_a_minute_after_the_last_line_or_the_last_look() -> None:
    log = Log()
    assert log.reporter.due == START + 30
    log.at(10).show(SUBJECT, Created(task()))
    assert log.reporter.due == START + 40
    log.at(20).show(SUBJECT, Ended(outcome_of_task(task("cancelled"))))
    log.at(25).note("warning: the disk is full")
    assert log.reporter.due == START + 55
    log.new()
    log.at(55).tick()  # nothing goes on, so nothing is said
    assert (log.new(), log.reporter.due) == ("", START + 85)
    assert Log(quiet=True).reporter.due is None
