"""The title and the progress around the live view: what they say, and that they are put back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from render_samples import APPROVE, HOSTILE, START, SUBJECT, Terminal, Ticking, asking, env, task

from mcptask.protocol.events import Created, Ended, InputRequired, StatusChanged, TaskEvent
from mcptask.protocol.outcome import Outcome, outcome_of_result, outcome_of_task
from mcptask.protocol.task import Task
from mcptask.render.live import LiveReporter
from mcptask.render.report import Subject
from mcptask.render.surroundings import Surroundings, headline, standing
from mcptask.render.view import TaskView, begin, observe

KITTY, WINDOWS = {"TERM": "xterm-kitty"}, {"WT_SESSION": "1"}
BOTH = {"TERM_PROGRAM": "iTerm.app", "TERM_FEATURES": "P"}
ASKS = InputRequired(asking(), {"approve": APPROVE})
COMPLETED = outcome_of_result({}, task("completed"))
FAILED = outcome_of_task(task("failed", error={"code": -32603, "message": "quota"}))


def viewed(*events: TaskEvent, subject: Subject = SUBJECT) -> TaskView:
    view, ticking = begin(subject), Ticking()
    for event in events:
        view = observe(view, event, START, ticking.wall())
    return view


def says(message: str | None) -> TaskView:
    return viewed(StatusChanged(task(message=message), START + 5))


def ended(outcome: Outcome) -> TaskView:
    return viewed(Created(task()), Ended(outcome))


@pytest.mark.parametrize(
    ("views", "words", "state"),
    [
        ([begin(SUBJECT)], "reflow_month", (3, 0)),
        ([says("Reflowing")], "reflow_month", (3, 0)),
        ([says("Reflowing 96 of 142")], "reflow_month 68%", (1, 68)),
        ([viewed(ASKS)], "◐ reflow_month asks", (4, 100)),
        ([ended(COMPLETED)], "✓ reflow_month", (1, 100)),
        ([ended(FAILED)], "✗ reflow_month", (2, 100)),
        ([says("1 of 2")] * 2, "2 working", (3, 0)),
        ([says("1 of 2"), ended(COMPLETED)], "1 working · 1 completed", (1, 50)),
        ([says("1 of 2"), ended(FAILED)], "1 working · 1 failed", (2, 50)),
        ([viewed(ASKS), ended(FAILED)], "1 asks · 1 failed", (4, 50)),
        ([viewed(ASKS), says(None)], "1 working · 1 asks", (4, 100)),
    ],
)
def test_title_and_progress_say_how_it_stands(
    views: list[TaskView], words: str, state: tuple[int, int]
) -> None:
    assert (headline(views), standing(views)) == (words, state)


def test_an_unnamed_task_is_titled_by_its_id() -> None:
    assert headline([begin(replace(SUBJECT, tool=None))]) == "task tsk_8f21c0ffee"


@pytest.mark.parametrize(
    ("environ", "first", "second", "last"),
    [
        ({"TERM": "xterm-256color"}, "", "", ""),
        (
            KITTY,
            "\x1b[22;0t\x1b]2;reflow_month — mcptask\x1b\\",
            "\x1b]2;reflow_month 50% — mcptask\x1b\\",
            "\x1b[23;0t",
        ),
        (WINDOWS, "\x1b]9;4;3;0\x1b\\", "\x1b]9;4;1;50\x1b\\", "\x1b]9;4;0;0\x1b\\"),
        (
            BOTH,
            "\x1b[22;0t\x1b]2;reflow_month — mcptask\x1b\\\x1b]9;4;3;0\x1b\\",
            "\x1b]2;reflow_month 50% — mcptask\x1b\\\x1b]9;4;1;50\x1b\\",
            "\x1b]9;4;0;0\x1b\\\x1b[23;0t",
        ),
    ],
    ids=str,
)
def test_only_what_changed_is_written_and_all_is_put_back_once(
    environ: dict[str, str], first: str, second: str, last: str
) -> None:
    around = Surroundings(environ)
    assert around.leave() == ""
    assert around.follow([says(None)]) == first
    assert around.follow([says("still the same")]) == ""
    assert around.follow([says("1 of 2")]) == second
    assert around.leave() == last
    assert around.leave() == ""


def drawn(*events: tuple[float, TaskEvent], **environ: str) -> str:
    """What a live view writes from its begin to its end."""
    ticking, stream = Ticking(), Terminal()
    live = LiveReporter(env(ticking, stream, **environ), animate=False, size=lambda: (80, 24))
    for at, event in events:
        ticking.now = START + at
        live.show(SUBJECT, event)
    live.close()
    live.close()
    return stream.getvalue()


EVENTS: tuple[tuple[float, TaskEvent], ...] = (
    (0.0, Created(task())),
    (1.0, StatusChanged(task(message="1 of 2"), START + 5)),
    (2.0, StatusChanged(task(message="still 1 of 2"), START + 5)),
    (3.0, Ended(COMPLETED)),
)


def test_the_live_view_titles_the_terminal_and_gives_the_old_title_back() -> None:
    written = drawn(*EVENTS, **BOTH)
    assert written.count("\x1b[22;0t") == written.count("\x1b[23;0t") == 1
    assert written.count("\x1b]2;reflow_month 50% — mcptask\x1b\\") == 1
    assert written.count("\x1b]9;4;1;50\x1b\\") == 1
    assert written.rindex("\x1b[23;0t") > written.rindex("\x1b]2;")
    assert written.rindex("\x1b]9;4;0;0\x1b\\") > written.rindex("\x1b]9;4;1;50")


def test_an_unknown_terminal_gets_neither() -> None:
    written = drawn(*EVENTS, TERM="xterm-256color")
    assert "\x1b]" not in written
    assert "0t" not in written


def hostile() -> Task:
    return task(message=f"{HOSTILE} 1 of 2")


@pytest.mark.parametrize("name", ["reflow_month", HOSTILE])
def test_nothing_of_a_server_drives_the_terminal_by_its_title(name: str) -> None:
    subject: Any = replace(SUBJECT, tool=name)
    around = Surroundings(KITTY)
    said = around.follow([viewed(StatusChanged(hostile(), None), subject=subject)])
    assert said.count("\x1b") == 3
    assert said.removeprefix("\x1b[22;0t\x1b]2;").removesuffix("\x1b\\").isprintable()
