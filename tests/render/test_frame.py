from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render_samples import (
    APPROVE,
    HOSTILE,
    LONG,
    LONG_ID,
    MORNING,
    START,
    SUBJECT,
    asking,
    task,
    viewed,
)
from rich.text import Text

from mcptask.errors import TaskLost
from mcptask.protocol.events import (
    Answered,
    Created,
    Ended,
    Heard,
    InputRequired,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.outcome import outcome_of_error, outcome_of_result, outcome_of_task
from mcptask.render.frame import frame
from mcptask.render.report import Subject
from mcptask.render.view import Screen, TaskView, time_of_day

WORKING = StatusChanged(task(message="Reflowing 96 of 142 bookings"), START + 9.6)
ASKS = InputRequired(asking(), {"approve": APPROVE})
REFUSED = Retrying("connection refused", 2, START + 48, START + 720)
COMPLETED = Ended(outcome_of_result({}, task("completed")))
FAILED = Ended(outcome_of_task(task("failed", error={"code": -32050, "message": "quota"})))
LOST = Ended(outcome_of_error(TaskLost("studio no longer knows task 7"), task()))
WIDTHS = [60, 80, 200]


def drawn(
    *views: TaskView, at: float, width: int = 79, height: int = 24, over: bool = False
) -> list[str]:
    """The lines of a frame; each must fit."""
    picture = frame(Screen(views, START, over), START + at, width, height)
    lines = picture.split("\n", allow_blank=True)
    assert all(line.cell_len <= width for line in lines)
    return [line.plain for line in lines]


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
    assert one(WORKING, ASKS, at=12)[4:] == [
        "studio asks (approve): 4 bookings fit nowhere. What should happen to them?",
        '  action *  waitlist · refund · keep  (what guests see: "on hold")',
        "  note      string, up to 200 characters",
        "  Answer in another terminal:  mcptask update 7 action='waitlist|refund|keep'",
        "Ctrl-C leaves it running: mcptask watch 7",
    ]
    answered = one(WORKING, ASKS, Answered(("approve",)))
    assert not any("asks" in line for line in answered)
    before = replace(SUBJECT, answered=frozenset({"approve"}))
    assert not any("asks" in line for line in one(WORKING, ASKS, subject=before))


def test_the_command_that_answers_is_never_cut() -> None:
    text = "\n".join(one(ASKS, subject=replace(LONG, ref=None), width=60))
    assert f"mcptask update {LONG_ID}" in text.replace("\n", " ")


def test_polling_and_time_to_live_are_bounded_words() -> None:
    odd = task(poll_interval_ms=10**15, ttl_ms=10**18)
    facts = one(StatusChanged(odd, None))[3]
    assert "polling every over 10 years" in facts
    assert "result kept for over 10 years" in facts
    assert "time to live is over" in one(StatusChanged(task(ttl_ms=1000), None), at=60)[3]
    assert "next in" not in one(StatusChanged(task(), START + 5), at=6)[3]
    assert "polling ·" in one(StatusChanged(task(poll_interval_ms=-5), None))[3]


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
    lines = one(WORKING, ASKS, height=4)
    assert len(lines) == 4
    assert lines[3] == "… 6 more lines"
    assert one(Heard(task(), None), height=1) == ["… 5 more lines"]


# ── several tasks ────────────────────────────────────────────────────────────────────────────────

TOOLS = ("reflow_month", "export_ledger", "deploy")
SERVERS = ("studio", "books", "infra")
KINDS: tuple[tuple[TaskEvent, ...], ...] = (
    (WORKING,),
    (StatusChanged(task("queued"), None),),
    (ASKS,),
    (COMPLETED,),
    (FAILED,),
    (StatusChanged(task(message="step 3/7: 移行中"), None), REFUSED),
)


def many(count: int, kinds: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> list[TaskView]:
    views = []
    for number in range(count):
        kind = KINDS[kinds[number % len(kinds)]]
        subject = Subject(TOOLS[number % 3], SERVERS[number % 3], 20 + number, f"t{number}", START)
        views.append(viewed(subject, *((5.0, event) for event in kind)))
    return views


def test_several_tasks_are_a_table_with_the_open_questions_first() -> None:
    assert drawn(*many(6), at=42) == [
        "2 working · 1 asks · 1 completed · 1 failed · 1 queued                     0:42",
        "  22  deploy         infra   ◐ asks: 4 bookings fit nowhere…  mcptask update 22",
        "  20  reflow_month   studio  ● Reflowing 96 of 142 bookings       68%      0:42",
        "  21  export_ledger  books   ◌ queued                               –      0:42",
        "  25  deploy         infra   ● no answer (connection refused);…   43%      0:42",
        "  24  export_ledger  books   ✗ failed: quota (-32050)                      0:05",
        "  23  reflow_month   studio  ✓ completed                                   0:05",
        "No answer from infra; trying again. Ctrl-C leaves them running",
    ]


def test_tasks_that_all_answer_leave_the_foot_to_ctrl_c() -> None:
    assert drawn(*many(3), at=42)[-1] == "Ctrl-C leaves them running: mcptask watch --all"
    ended = drawn(*many(4, (3, 4)), at=42)
    assert not any("Ctrl-C" in line for line in ended)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [4, 8, 16, 30, 60])
@pytest.mark.parametrize("count", [2, 40, 300])
def test_every_task_is_a_row_or_is_counted(width: int, height: int, count: int) -> None:
    lines = drawn(*many(count), at=42, width=width, height=height)
    assert len(lines) <= height
    if height == 4:
        return
    rows = [line for line in lines if line.startswith("  ") and line.split()[0].isdecimal()]
    rows = [line for line in rows if line.split()[1] in TOOLS or "export_led" in line]
    folded = [
        line
        for line in lines
        if line.rstrip().endswith(("more (mcptask list)", "completed)", "(mcptask list)"))
    ]
    numbers = [int(word) for line in folded for word in line.split() if word.isdecimal()]
    assert len(rows) + sum(numbers) == count


def test_completed_tasks_fold_before_those_that_need_a_look() -> None:
    lines = drawn(*many(20, (3, 3, 3, 4)), at=42, height=10)
    assert "  15 completed (mcptask list --status completed)" in lines
    assert sum("✗ failed" in line for line in lines) == 5


def test_as_many_bad_ends_as_have_room_keep_their_rows() -> None:
    lines = drawn(*many(30, (0, 4)), at=42, height=24)
    assert sum("✗ failed" in line for line in lines) == 6
    assert "  9 failed more (mcptask list)" in lines


def test_the_last_table_keeps_every_row_that_is_not_a_success() -> None:
    lines = drawn(*many(40, (3, 4)), at=42, height=10, over=True)
    assert sum("✗ failed" in line for line in lines) == 20
    assert "  20 completed (mcptask list --status completed)" in lines


def test_warnings_of_several_tasks_name_the_task() -> None:
    views = [viewed(view.subject, (1, Created(task())), (2, Warned("careful"))) for view in many(4)]
    lines = drawn(*views, at=42)
    assert lines[-4:-1] == ["  ! 2 more warnings", "  ! 20: careful", "  ! 21: careful"]


def test_a_narrow_table_leaves_out_a_server_that_is_the_same_for_all() -> None:
    views = [replace(view, subject=replace(view.subject, server="studio")) for view in many(3)]
    assert not any("studio" in line for line in drawn(*views, at=42, width=59))
    assert any("studio" in line for line in drawn(*views, at=42, width=79))


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
        picture = frame(Screen(tuple(shown), START, over), START + 5, width, height)
        assert isinstance(picture, Text)
        lines = picture.split("\n", allow_blank=True)
        assert all(line.cell_len <= width for line in lines)
        assert over or len(lines) <= height
        assert not any(set(line.plain) & set("\x1b\x9b\x07\r\u202e\u200b\x7f") for line in lines)
