"""Questions in the live view, in the table and in the lines: open, left, answered, another one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from render_samples import (
    APPROVE,
    ASKS,
    COMPLETED,
    LEFT,
    START,
    SUBJECT,
    WORKING,
    Log,
    answered,
    asking,
    drawn,
    task,
    viewed,
)

from mcptask.errors import TimedOut
from mcptask.protocol.events import (
    Created,
    Ended,
    InputRequired,
    Left,
    StatusChanged,
    TaskEvent,
)
from mcptask.protocol.outcome import outcome_of_error
from mcptask.protocol.questions import Answer, Ledger, fingerprint
from mcptask.render.report import Subject
from mcptask.render.view import TaskView

TWO = asking(approve=APPROVE, seats=APPROVE)
ASKS_TWO = InputRequired(TWO, {"approve": APPROVE, "seats": APPROVE})
AGAIN = InputRequired(asking(), {"approve": APPROVE}, ("approve",))
KNOWN = Answer(fingerprint(APPROVE))
STOPPED = Ended(outcome_of_error(TimedOut("the time given for waiting is over"), asking()))
HOW = "studio asks (approve): 4 bookings fit nowhere. What should happen to them?"


def one(
    *events: TaskEvent, answered: Ledger | None = None, width: int = 79, height: int = 24
) -> list[str]:
    subject = replace(SUBJECT, answered=answered or {})
    view = viewed(subject, *((5.0, event) for event in events))
    return drawn(view, at=12, width=width, height=height)


def above_form(*events: TaskEvent, width: int = 79) -> list[str]:
    view = viewed(SUBJECT, *((5.0, event) for event in events))
    return drawn(view, at=12, width=width, form=SUBJECT)


# ── one task ─────────────────────────────────────────────────────────────────────────────────────


def test_only_what_nobody_answers_here_names_the_command_for_another_terminal() -> None:
    assert "Left open" not in "".join(one(WORKING, ASKS_TWO))
    text = "\n".join(one(WORKING, ASKS_TWO, Left(("seats",)), width=60))
    assert text.count("Left open. Answer it in another terminal") == 1
    assert "\n    mcptask update 7 --key seats action=waitlist" in text
    both = "".join(one(WORKING, ASKS_TWO, Left(("seats",)), LEFT))
    assert both.count("Left open. Answer it in another terminal") == 2


def test_an_answer_is_sent_and_not_yet_applied_until_the_task_shows_it_a12_4() -> None:
    lines = one(WORKING, ASKS_TWO, Left(("seats",)), answered("approve"), width=60)
    assert lines[-2:] == [
        "approve: sent, not yet applied",
        "Ctrl-C leaves it running: mcptask watch 7",
    ]
    assert "studio asks (seats)" in "".join(lines)
    assert "studio asks (approve)" not in "".join(lines)
    assert "sent" not in "".join(one(ASKS_TWO, answered("approve"), WORKING))
    over = viewed(SUBJECT, (5, ASKS), (6, answered("approve")), (7, STOPPED))
    assert over.sent == []


def test_a_task_that_was_told_all_waits_for_its_server() -> None:
    lines = one(ASKS, answered("approve"))
    assert " waiting for studio  " in lines[2]
    assert not lines[2].startswith("◐")
    assert one(ASKS)[2] == "◐ waiting for an answer"
    assert one(ASKS_TWO, answered("approve"))[2] == "◐ waiting for an answer"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (KNOWN, "approve: sent, not yet applied"),
        (KNOWN._replace(response={"action": "accept"}), "approve: sent, not yet acknowledged"),
    ],
)
def test_what_was_answered_before_is_not_asked_again_a12_5(answer: Answer, told: str) -> None:
    lines = one(StatusChanged(asking(), None), answered={"approve": answer})
    assert lines[-2] == told
    assert "asks" not in "".join(lines)


def test_an_answer_that_the_server_refused_leaves_its_question_open() -> None:
    lost = KNOWN._replace(response={"action": "accept"})
    lines = one(StatusChanged(asking(), None), LEFT, answered={"approve": lost})
    assert "sent" not in "".join(lines)
    assert any("mcptask update 7 action=waitlist" in line for line in lines)


def test_another_question_under_an_old_key_is_shown_as_such_a12_3() -> None:
    another = HOW.replace(":", ", another question than before:", 1)
    for events in ([AGAIN], [ASKS, answered("approve"), AGAIN]):
        text = " ".join(one(*events, answered={"approve": Answer("0" * 16)}))
        assert another in text.replace("\n", " ")
        assert "sent" not in text
    assert HOW in " ".join(one(AGAIN, ASKS))


def test_a_question_that_is_asked_anew_is_left_no_more() -> None:
    assert "Left open" not in "".join(one(ASKS, LEFT, AGAIN))


@pytest.mark.parametrize("width", [79, 59])
def test_above_a_form_stands_what_does_not_grow_old(width: int) -> None:
    say = StatusChanged(replace(TWO, status_message="Two more things"), None)
    lines = above_form(WORKING, say, ASKS_TWO, LEFT, width=width)
    assert lines[0].startswith("reflow_month on studio ")
    assert lines[1:] == [
        "✓ working ─── ◐ input required ─── ○ completed",
        "2 questions: approve, seats",
    ]
    half = above_form(WORKING, say, answered("approve"), width=width)
    assert half[2:] == ["Two more things", "approve: sent, not yet applied"]


def test_fields_give_way_to_the_command_where_there_is_no_room() -> None:
    fields = {f"field{number:02}": {"type": "string"} for number in range(12)}
    params = {"message": "How?", "requestedSchema": {"properties": fields, "required": ["field00"]}}
    form = {"method": "elicitation/create", "params": params}
    task_asks = asking(a=form, b=form)
    events = (WORKING, InputRequired(task_asks, task_asks.input_requests), Left(("a", "b")))
    whole = one(*events, height=35)
    assert len(whole) == 35
    assert "more lines" not in "".join(whole)
    low = one(*events, height=20)
    assert len(low) == 20
    left = "  Left open. Answer it in another terminal, or here after Ctrl-C:"
    assert low[4:] == [
        "studio asks (a): How?",
        "  field00 *  text",
        *(f"  field{number:02}    text" for number in range(1, 7)),
        "  … 5 more lines of fields",
        left,
        "    mcptask update 7 --key a field00=TEXT",
        "studio asks (b): How?",
        "  … 12 more lines of fields",
        left,
        "    mcptask update 7 --key b field00=TEXT",
        "Ctrl-C leaves it running: mcptask watch 7",
    ]


# ── several tasks ────────────────────────────────────────────────────────────────────────────────


def several(*events: tuple[TaskEvent, ...]) -> list[TaskView]:
    return [
        viewed(Subject("deploy", "infra", 20 + n, f"t{n}", START), *((5.0, each) for each in all_))
        for n, all_ in enumerate(events)
    ]


def test_a_row_names_the_command_only_of_what_nobody_answers_here() -> None:
    rows = drawn(*several((ASKS,), (ASKS, LEFT)), at=42)
    assert rows[1].endswith("  0:42")
    assert rows[2].endswith("  mcptask update 21")
    done = drawn(*several((ASKS_TWO, LEFT, answered("approve")), (ASKS,)), at=42)
    assert "mcptask update" not in "".join(done)


def test_a_row_says_what_became_of_the_answers_and_of_the_key_a12_3_a12_4() -> None:
    rows = drawn(*several((ASKS, answered("approve")), (AGAIN,)), at=42, width=100)
    assert "◐ asks, another question than before: 4 bookings" in rows[1]
    assert "◐ approve: sent, not yet applied" in rows[2]


@pytest.mark.parametrize("width", [79, 59])
def test_above_the_form_of_one_task_are_those_that_ask_and_which_it_is(width: int) -> None:
    views = several((WORKING,), (ASKS, LEFT), (ASKS,), (COMPLETED,))
    lines = drawn(*views, at=42, width=width, form=views[2].subject)
    assert lines[0].startswith("1 working · 2 asks · 1 completed ")
    assert [line.split()[0] for line in lines[1:]] == ["21", "22"]
    assert lines[1].endswith("  mcptask update 21")
    assert lines[2].endswith("  answered below")


def test_above_a_form_many_that_ask_leave_room_for_it() -> None:
    views = several(*[(ASKS,)] * 30)
    lines = drawn(*views, at=42, form=views[0].subject)
    assert len(lines) == 9
    assert lines[-1] == "  and 23 asks more (mcptask list)"


# ── lines ────────────────────────────────────────────────────────────────────────────────────────


def test_a_question_comes_with_its_fields_and_where_nobody_answers_with_its_command() -> None:
    log = Log()
    log.at(0).show(SUBJECT, Created(task()))
    log.new()
    log.at(9).show(SUBJECT, ASKS)
    assert log.new().splitlines() == [
        f"mcptask: 0:09 {HOW}",
        'mcptask:   action *  waitlist · refund · keep  (what guests see: "on hold")',
        "mcptask:   note      text of at most 200 characters",
    ]
    log.at(9).show(SUBJECT, LEFT)
    answer = "mcptask update 7 action=waitlist"
    assert log.new() == f"mcptask:   answer: {answer}\n"
    log.at(9).show(SUBJECT, Left(("another",)))  # and it is gone
    assert log.new() == ""


def test_of_several_questions_only_the_new_one_is_told_and_each_command_names_its_own() -> None:
    log = Log()
    log.at(0).show(SUBJECT, ASKS)
    log.new()
    log.at(5).show(SUBJECT, InputRequired(TWO, {"seats": APPROVE}))
    text = log.new()
    assert "asks (seats)" in text
    assert "asks (approve)" not in text
    log.at(5).show(SUBJECT, Left(("approve", "seats")))
    assert [line.split("action")[0] for line in log.new().splitlines()] == [
        "mcptask:   answer: mcptask update 7 --key approve ",
        "mcptask:   answer: mcptask update 7 --key seats ",
    ]


@pytest.mark.parametrize(
    ("elsewhere", "how"),
    [(False, "sent, not yet applied"), (True, "answered in another terminal")],
)
def test_a_line_tells_who_answered_and_what_is_still_open_a12_4_a12_6(
    elsewhere: bool, how: str
) -> None:
    log = Log()
    log.at(0).show(SUBJECT, ASKS_TWO)
    log.new()
    log.at(12).show(SUBJECT, answered("approve", elsewhere=elsewhere))
    assert log.new() == f"mcptask: 0:12 approve: {how}; still open: seats\n"
    log.at(13).show(SUBJECT, answered("seats", elsewhere=elsewhere))
    assert log.new() == f"mcptask: 0:13 seats: {how}\n"


def test_the_heartbeat_says_that_an_answer_is_on_its_way_a12_4() -> None:
    log = Log()
    log.at(0).show(SUBJECT, ASKS)
    log.at(1).show(SUBJECT, answered("approve"))
    log.new()
    log.at(31).tick()
    assert log.new() == "mcptask: 0:31 still input required · approve: sent, not yet applied\n"


def test_a_line_tells_of_another_question_under_an_old_key_a12_3() -> None:
    log = Log()
    log.at(0).show(SUBJECT, AGAIN)
    assert "0:00 studio asks (approve), another question than before: 4 bookings" in log.new()
