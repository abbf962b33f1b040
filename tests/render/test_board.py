from __future__ import annotations

from dataclasses import replace

import pytest
from render_samples import (
    ASKS,
    COMPLETED,
    FAILED,
    LEFT,
    REFUSED,
    START,
    WORKING,
    drawn,
    task,
    viewed,
)

from mcptask.protocol.events import (
    Created,
    Listening,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.render.report import Subject
from mcptask.render.view import TaskView

TOOLS = ("reflow_month", "export_ledger", "deploy")
SERVERS = ("studio", "books", "infra")
KINDS: tuple[tuple[TaskEvent, ...], ...] = (
    (WORKING,),
    (StatusChanged(task("queued"), None),),
    (ASKS, LEFT),
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


def by_hand(views: list[TaskView]) -> list[TaskView]:
    """The same tasks, not stored here."""
    where = "-s https://s.example/mcp --bearer-env T"
    return [replace(view, subject=replace(view.subject, ref=None, where=where)) for view in views]


def test_of_tasks_that_are_not_stored_the_commands_name_them_and_their_server() -> None:
    lines = drawn(*by_hand(many(3)), at=42, width=119)
    back = "mcptask watch t2 t0 t1 -s https://s.example/mcp --bearer-env T"
    assert lines[-1] == f"Ctrl-C leaves them running: {back}"
    assert lines[1].endswith("  mcptask update t2 -s https://s.example/mcp --bearer-env T")


def test_a_command_that_has_no_room_is_left_out_and_never_cut() -> None:
    lines = drawn(*by_hand(many(3)), at=42, width=60)
    assert lines[-1] == "Ctrl-C leaves them running"
    assert "asks: 4 bookings" in lines[1]
    assert not any("mcptask" in line for line in lines)


@pytest.mark.parametrize("width", [20, 25, 39, 40, 45])
def test_where_there_is_hardly_any_room_the_message_has_it(width: int) -> None:
    lines = drawn(*many(6), at=42, width=width)
    assert any("◐ asks: " in line for line in lines)
    assert any("● Reflowing" in line for line in lines)


def test_a_server_that_turns_requests_away_is_not_said_to_be_silent_a10_6() -> None:
    def away(reason: str) -> list[str]:
        event = Retrying(reason, 1, START + 60, START + 300)
        return drawn(*(viewed(v.subject, (1, WORKING), (2, event)) for v in many(2)), at=42)

    busy, down = away("HTTP 429 Too Many Requests"), away("HTTP 502 Bad Gateway")
    assert "● asks for fewer requests; again" in busy[1]
    assert busy[-1] == "books, studio asks for fewer requests. Ctrl-C leaves them running"
    assert "● HTTP 502 Bad Gateway; again in" in down[1]


def counted(lines: list[str]) -> int:
    """The rows, and the tasks in the counts of those that have none."""
    starts = tuple(tool[:6] for tool in TOOLS)
    rows = [line for line in lines if line.split()[1:] and line.split()[1].startswith(starts)]
    folds = [line for line in lines if line.endswith(("list)", "completed)"))]
    numbers = [int(word) for line in folds for word in line.split() if word.isdecimal()]
    return len(rows) + sum(numbers)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("count", [2, 3, 30, 300, 1000])
@pytest.mark.parametrize("kinds", [(0, 1, 2, 3, 4, 5), (0,), (3,), (4,), (0, 4), (3, 4), (0, 3)])
def test_every_task_is_a_row_or_is_counted(width: int, count: int, kinds: tuple[int, ...]) -> None:
    views = many(count, kinds)
    for height in (4, 5, 6, 9, 23, 49):
        lines = drawn(*views, at=42, width=width, height=height)
        assert len(lines) <= height
        assert counted(lines) == count


def test_where_active_tasks_fill_the_screen_the_latest_bad_ends_keep_a_quarter_of_it() -> None:
    views = many(300, (0, 0, 4))
    views[200] = viewed(views[200].subject, (5, WORKING), (30, FAILED))
    lines = drawn(*views, at=42, height=24)
    rows = [line.split() for line in lines[1:-1]]
    failed = [int(row[0]) for row in rows if "✗" in row]
    assert failed == sorted(failed)
    assert 220 in failed
    assert len(failed) == 5
    assert lines[16] == "  and 185 working more (mcptask list)"
    assert lines[-2] == "  and 95 failed more (mcptask list)"


def test_a_row_stays_where_it_is_whatever_news_comes() -> None:
    views = many(100, (0,))
    before = drawn(*views, at=42, height=24)
    news = (StatusChanged(task(message="4/7"), None),)
    views[90] = viewed(views[90].subject, (5, WORKING), *((41, event) for event in news))
    assert drawn(*reversed(views), at=42, height=24) == before


def test_a_summary_that_is_too_long_for_one_line_takes_two() -> None:
    lines = drawn(*many(600), at=42, width=50)
    assert lines[:2] == [
        "200 working · 100 asks · 100 completed        0:42",
        "100 failed · 100 queued",
    ]


def test_what_fills_the_screen_leaves_the_questions_on_top() -> None:
    lines = drawn(*many(300, (0, 0, 0, 0, 0, 2)), at=42, height=10, width=60)
    assert lines[1].endswith("mcptask update 25")


PUSHED = Listening(push=True, why="it does", next_poll=110.0)
POLLED = Listening(push=False, why="it does not", next_poll=110.0)


@pytest.mark.parametrize(
    ("modes", "told"),
    [
        ([], "0:42"),
        ([PUSHED] * 4, "push · 0:42"),
        ([POLLED] * 4, "polling · 0:42"),
        ([PUSHED, PUSHED, PUSHED, POLLED], "3 push, 1 poll · 0:42"),
    ],
)
def test_the_summary_says_how_changes_are_learned(modes: list[TaskEvent], told: str) -> None:
    views = [
        viewed(view.subject, (1, WORKING), *((2, mode) for mode in modes[number : number + 1]))
        for number, view in enumerate(many(4, (0,)))
    ]
    assert drawn(*views, at=42)[0].endswith(f"4 working{' ' * (79 - 9 - len(told))}{told}")
    assert drawn(*views, at=42, width=20)[0] == "4 working       0:42"
    assert drawn(*views, at=42, over=True)[0].endswith("   0:42")


def test_the_mode_of_what_has_ended_counts_no_more() -> None:
    views = [viewed(view.subject, (1, WORKING), (2, PUSHED)) for view in many(3)]
    ended = viewed(views[0].subject, (1, WORKING), (2, POLLED), (3, FAILED))
    assert " push · 0:42" in drawn(ended, *views[1:], at=42)[0]


def test_completed_tasks_fold_before_those_that_need_a_look() -> None:
    lines = drawn(*many(20, (3, 3, 3, 4)), at=42, height=10)
    assert "  15 completed (mcptask list --status completed)" in lines
    assert sum("✗ failed" in line for line in lines) == 5


def test_as_many_bad_ends_as_have_room_keep_their_rows() -> None:
    lines = drawn(*many(30, (0, 4)), at=42, height=24)
    assert sum("✗ failed" in line for line in lines) == 6
    assert "  and 9 failed more (mcptask list)" in lines


def test_the_last_table_keeps_every_row_that_is_not_a_success() -> None:
    lines = drawn(*many(40, (3, 4)), at=42, height=10, over=True)
    assert sum("✗ failed" in line for line in lines) == 20
    assert "  20 completed (mcptask list --status completed)" in lines


def test_the_last_table_of_bad_ends_alone_counts_nothing() -> None:
    assert len(drawn(*many(40, (4,)), at=42, height=10, over=True)) == 41


def test_warnings_of_several_tasks_name_the_task() -> None:
    views = [viewed(view.subject, (1, Created(task())), (2, Warned("careful"))) for view in many(4)]
    lines = drawn(*views, at=42)
    assert lines[-4:-1] == ["  ! 2 more warnings", "  ! 20: careful", "  ! 21: careful"]


def test_a_narrow_table_leaves_out_a_server_that_is_the_same_for_all() -> None:
    views = [replace(view, subject=replace(view.subject, server="studio")) for view in many(3)]
    assert not any("studio" in line for line in drawn(*views, at=42, width=59))
    assert any("studio" in line for line in drawn(*views, at=42, width=79))
