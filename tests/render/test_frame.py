from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render_samples import (
    ASKS,
    COMPLETED,
    FAILED,
    HOSTILE,
    LEFT,
    LONG,
    LONG_ID,
    MORNING,
    REFUSED,
    START,
    SUBJECT,
    WORKING,
    drawn,
    task,
    viewed,
)

from mcptask.errors import TaskLost
from mcptask.protocol.events import (
    Created,
    Ended,
    Heard,
    InputRequired,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.outcome import outcome_of_error, outcome_of_result, outcome_of_task
from mcptask.render.frame import frame
from mcptask.render.ink import columns, plain
from mcptask.render.report import Subject
from mcptask.render.view import Screen, time_of_day

LOST = Ended(outcome_of_error(TaskLost("studio no longer knows task 7"), task()))
WIDTHS = [60, 80, 200]


def one(*events: TaskEvent, subject: Subject = SUBJECT, at: float = 5.4, **how: Any) -> list[str]:
    return drawn(viewed(subject, *((5.0, event) for event in events)), at=at, **how)


def test_one_task_at_80_columns_looks_as_designed() -> None:
    lines = one(WORKING)
    lines[2] = lines[2][1:]  # the spinner
    assert lines == [
        "reflow_month on studio                                       7 · tsk_8f21c0ffee",
        "● working ─── ○ input required ─── ○ completed",
        " Reflowing 96 of 142 bookings    ━━━━━━━━━━━━━━━━━━╸─────────   68%",
        "0:05 elapsed · polling every 5 s, next in 5 s · result kept for 23 h 59 m",
        "Ctrl-C leaves it running: mcptask watch 7",
    ]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_full_id_is_there_at_every_width(width: int) -> None:
    assert any(line.endswith(f"7 · {LONG_ID}") for line in one(WORKING, subject=LONG, width=width))
    longer = replace(LONG, task_id=LONG_ID * 3)
    assert LONG_ID * 3 in "".join(one(WORKING, subject=longer, width=width))


def test_a_task_that_is_not_stored_shows_its_id_alone() -> None:
    assert one(WORKING, subject=replace(SUBJECT, ref=None, tool=None))[0].startswith(
        "task on studio"
    )


@pytest.mark.parametrize(
    ("events", "states"),
    [
        ([Created(task())], "● working ─── ○ input required ─── ○ completed"),
        ([WORKING, ASKS], "✓ working ─── ◐ input required ─── ○ completed"),
        ([ASKS], "✓ working ─── ◐ input required ─── ○ completed"),
        ([ASKS, WORKING], "● working ─── ✓ input required ─── ○ completed"),
        ([WORKING, COMPLETED], "✓ working ─── ○ input required ─── ✓ completed"),
        ([WORKING, ASKS, FAILED], "✓ working ─── ✓ input required ─── ✗ failed"),
        ([WORKING, LOST], "✓ working ─── ○ input required ─── ? lost"),
        (
            [StatusChanged(task("queued_up"), None)],
            "◌ queued up ─── ○ input required ─── ○ completed",
        ),
        (
            [StatusChanged(task("completed"), None)],
            "✓ working ─── ○ input required ─── ✓ completed",
        ),
    ],
)
def test_the_line_of_states_moves(events: list[TaskEvent], states: str) -> None:
    assert one(*events)[1] == states


def test_narrow_screens_keep_the_state_that_matters() -> None:
    assert one(WORKING, width=44)[1] == "● working ─ ○ input required ─ ○ completed"
    assert one(WORKING, width=30)[2 if "7 ·" in one(WORKING, width=30)[1] else 1] == "● working"


def test_a_message_that_does_not_count_gets_a_pulse_that_moves() -> None:
    still = StatusChanged(task(message="Looking"), START + 20)
    bars = {one(still, at=at)[2].split("    ")[1] for at in (6.0, 6.2, 6.4)}
    assert len(bars) == 3
    assert {bar.count("━") for bar in bars} == {6}


def test_a_long_message_wraps_and_ends_in_an_ellipsis() -> None:
    lines = one(StatusChanged(task(message="word " * 100), None), width=60)
    assert lines[4].endswith("…")
    assert len([line for line in lines if "word" in line]) == 3


def test_a_hundred_percent_is_all_of_it() -> None:
    assert one(StatusChanged(task(message="999 of 1000"), None))[2].endswith(" 99%")
    assert one(StatusChanged(task(message="7/7"), None))[2].endswith("100%")


def test_lost_contact_blames_nobody_and_says_until_when() -> None:
    lines = drawn(viewed(SUBJECT, (5, WORKING), (40, REFUSED)), at=41)
    assert lines[1] == ("● working ─── ○ input required ─── ○ completed     (last heard 0:36 ago)")
    until = time_of_day(MORNING, 720)
    assert lines[4] == (
        f"studio does not answer (connection refused); trying again in 7 s, until {until}"
    )
    back = viewed(SUBJECT, (5, WORKING), (40, REFUSED), (50, Reconnected(9.0)))
    assert not any("does not answer" in line for line in drawn(back, at=51))


def test_giving_up_never_has_no_time_of_day() -> None:
    endless = Retrying("refused", 1, START + 6, float("inf"))
    assert one(WORKING, endless)[4] == "studio does not answer (refused); trying again in 1 s"
    assert one(WORKING, endless, at=60)[4].endswith("trying again now")


def test_a_question_shows_its_fields_and_the_line_to_type() -> None:
    assert one(WORKING, ASKS, LEFT, at=12)[4:] == [
        "studio asks (approve): 4 bookings fit nowhere. What should happen to them?",
        '  action *  waitlist · refund · keep  (what guests see: "on hold")',
        "  note      text of at most 200 characters",
        "  Left open. Answer it in another terminal, or here after Ctrl-C:",
        "    mcptask update 7 action=waitlist",
        "Ctrl-C leaves it running: mcptask watch 7",
    ]


def test_the_command_that_answers_is_never_cut() -> None:
    text = "\n".join(one(ASKS, LEFT, subject=replace(LONG, ref=None), width=60))
    assert f"mcptask update {LONG_ID}" in text.replace("\n", " ")


def test_polling_and_time_to_live_are_bounded_words() -> None:
    odd = task(poll_interval_ms=10**15, ttl_ms=10**18)
    facts = one(StatusChanged(odd, None))[3]
    assert "polling every over 10 years" in facts
    assert "result kept for over 10 years" in facts
    assert "time to live is over" in one(StatusChanged(task(ttl_ms=1000), None), at=60)[3]
    assert "next in" not in one(StatusChanged(task(), START + 5), at=6)[3]
    assert "polling ·" in one(StatusChanged(task(poll_interval_ms=-5), None))[3]


def test_of_a_task_that_is_not_stored_the_commands_name_its_server() -> None:
    where = "-s https://studio.example/mcp --bearer-env STUDIO_TOKEN"
    subject = replace(SUBJECT, ref=None, where=where)
    view = viewed(subject, (5.0, WORKING), (5.0, ASKS), (5.0, LEFT))
    text = " ".join(drawn(view, at=12))
    assert f"mcptask update tsk_8f21c0ffee action=waitlist {where} Ctrl-C" in text
    assert f"Ctrl-C leaves it running: mcptask watch tsk_8f21c0ffee {where}" in text


PUSH = Listening(push=True, why="it acknowledged a subscription", next_poll=START + 10)
POLL = Listening(push=False, why="it does not offer subscriptions/listen", next_poll=START + 10)


@pytest.mark.parametrize(
    ("at", "heard"),
    [
        (5.0, "just now"),
        (5.9, "just now"),
        (6.0, "1 s ago"),
        (8.99, "3 s ago"),
        (77, "1 m 12 s ago"),
    ],
)
def test_with_push_it_says_when_it_last_heard_in_whole_seconds(at: float, heard: str) -> None:
    elapsed = f"{int(at) // 60}:{int(at) % 60:02}"
    facts = one(WORKING, PUSH, at=at)[3]
    assert facts.startswith(f"{elapsed} elapsed · push, last heard {heard} · result kept")


def test_with_push_and_nothing_heard_yet_it_says_push_alone() -> None:
    assert "elapsed · push" in one(PUSH)[3]
    assert "heard" not in one(PUSH)[3]


def test_polling_again_after_push_shows_the_interval_again() -> None:
    assert "polling every 5 s, next in 5 s" in one(WORKING, PUSH, POLL)[3]


def test_the_countdown_is_that_of_the_way_that_changes_are_learned_now() -> None:
    slow = StatusChanged(task(), START + 35)  # while it was pushed
    assert "polling every 5 s, next in 5 s" in one(slow, PUSH, POLL)[3]


def test_why_it_polls_is_told_where_there_is_room_and_does_not_flicker() -> None:
    assert "subscriptions" not in "".join(one(WORKING, POLL))
    (facts,) = one(WORKING, POLL, width=119)[3:4]
    reason = "polling every 5 s (it does not offer subscriptions/listen), next in 5 s"
    assert facts == f"0:05 elapsed · {reason} · result kept for 23 h 59 m"
    for width in range(80, 120):  # with the countdown, and when there is none
        shown = [one(WORKING, POLL, at=at, width=width) for at in (5.4, 9)]
        assert {len(lines) for lines in shown} == {5}
        assert len({"subscriptions" in lines[3] for lines in shown}) == 1


def test_during_an_outage_nothing_is_said_of_push_or_polling() -> None:
    lines = one(WORKING, PUSH, REFUSED)
    assert not any("push" in line or "polling" in line for line in lines)


def test_warnings_stay_in_view_and_the_rest_is_counted() -> None:
    lines = one(WORKING, *(Warned(f"careful {number}") for number in range(5)))
    assert lines[4:8] == ["! 2 earlier warnings", "! careful 2", "! careful 3", "! careful 4"]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (COMPLETED, "✓ reflow_month on studio completed after 0:08"),
        (FAILED, "✗ reflow_month on studio failed after 0:08"),
        (
            Ended(outcome_of_task(task("cancelled"))),
            "⊘ reflow_month on studio cancelled after 0:08",
        ),
        (LOST, "? reflow_month on studio: lost after 0:08"),
        (
            Ended(outcome_of_result({"isError": True}, task("completed"))),
            "✗ reflow_month on studio: tool error after 0:08",
        ),
    ],
)
def test_the_last_frame_is_one_line(event: TaskEvent, expected: str) -> None:
    view = viewed(SUBJECT, (5, WORKING), (8, event))
    (line,) = drawn(view, at=30, over=True)
    assert line == f"{expected}{'7 · tsk_8f21c0ffee':>{79 - len(expected)}}"


def test_the_last_frame_of_a_watch_that_stops_says_that_the_task_goes_on() -> None:
    (line,) = one(WORKING, over=True)
    assert line.startswith("● reflow_month on studio: still working after 0:05")


def test_a_frame_that_is_higher_than_the_screen_says_what_is_missing() -> None:
    lines = one(WORKING, ASKS, LEFT, height=4)
    assert len(lines) == 4
    assert lines[3] == "… 6 more lines"
    assert one(Heard(task(), None), height=1) == ["… 5 more lines"]


# ── whatever comes ───────────────────────────────────────────────────────────────────────────────

TEXTS = st.text(st.characters(exclude_categories=()), max_size=60) | st.just(HOSTILE)


@given(TEXTS, TEXTS, TEXTS, st.integers(1, 130), st.integers(1, 30), st.booleans())
def test_no_text_breaks_a_frame_or_gets_out_of_it(
    name: str, message: str, status: str, width: int, height: int, over: bool
) -> None:
    subject = Subject(name, message, None, status, START)
    question: dict[str, Any] = {"method": name, "params": {"message": message}}
    snapshot = task(status, message, input_requests={name: question})
    events: list[TaskEvent] = [
        StatusChanged(snapshot, START + 9),
        InputRequired(replace(snapshot, status="input_required"), {name: question}),
        Warned(message),
        Retrying(message, 1, START + 9, START + 99),
    ]
    views = [viewed(subject, *((1.0, event) for event in events[:count])) for count in (1, 2, 4)]
    for shown in ([views[0]], [views[1]], [views[2]], views):
        lines = frame(Screen(tuple(shown), START, over), START + 5, width, height)
        assert all(columns(line) <= width for line in lines)
        assert over or len(lines) <= height
        assert not any(set(plain(line)) & set("\x1b\x9b\x07\r\u202e\u200b\x7f") for line in lines)
