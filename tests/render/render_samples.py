"""Tasks, questions and a clock that every test of this room draws with."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyte

from mcptask.env import Clock, Env
from mcptask.protocol.events import (
    Answered,
    Ended,
    InputRequired,
    Left,
    Retrying,
    StatusChanged,
    TaskEvent,
)
from mcptask.protocol.outcome import outcome_of_result, outcome_of_task
from mcptask.protocol.questions import Answer
from mcptask.protocol.task import Task
from mcptask.render.frame import frame
from mcptask.render.ink import columns, plain
from mcptask.render.lines import LineReporter
from mcptask.render.live import LiveReporter
from mcptask.render.report import Subject
from mcptask.render.view import Screen, TaskView, begin, observe

START = 100.0
MORNING = datetime(2026, 9, 12, 9, 0, tzinfo=UTC)
SUBJECT = Subject("reflow_month", "studio", 7, "tsk_8f21c0ffee", START)
LONG_ID = "tsk_0123456789abcdefghijklmnopqrstuvwxyz012"
LONG = replace(SUBJECT, task_id=LONG_ID)
APPROVE: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {
        "message": "4 bookings fit nowhere.\nWhat should happen to them?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "action": {
                    "type": "string",
                    "enum": ["waitlist", "refund", "keep"],
                    "description": 'what guests see: "on hold"',
                },
                "note": {"type": "string", "maxLength": 200},
            },
            "required": ["action"],
        },
    },
}
# Clears the screen, sets the title, writes the clipboard, forges a line, turns the text around.
HOSTILE = "\x1b[2J\x1b]0;x\x07\x1b]52;c;eA==\x07\x9b31m\r\nerror: forged\u202e\u200b\ud800\x7f"


class Ticking:
    """A clock that moves when it is told to; `wall` moves along."""

    def __init__(self) -> None:
        self.now = START

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: self.now, wall=self.wall)

    def wall(self) -> datetime:
        return MORNING + timedelta(seconds=self.now - START)


class Log:
    """What a `LineReporter` writes."""

    def __init__(self, **options: bool) -> None:
        self.stream, self.ticking = io.StringIO(), Ticking()
        self.reporter = LineReporter(self.stream, self.ticking.clock, **options)

    def at(self, seconds: float) -> LineReporter:
        self.ticking.now = START + seconds
        return self.reporter

    def new(self) -> str:
        text = self.stream.getvalue()
        self.stream.seek(0)
        self.stream.truncate()
        return text


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


class Seen:
    """A live view on a screen that a person would see. Nothing moves but by `show` and `tick`."""

    def __init__(self, columns: int = 80, rows: int = 24, **environ: str) -> None:
        self.stream, self.ticking = Terminal(), Ticking()
        self.columns, self.rows = columns, rows
        self.screen = pyte.Screen(columns, rows)
        self.feed = pyte.Stream(self.screen)
        self.feed.feed("$ mcptask watch 7\r\n")
        self.env = env(self.ticking, self.stream, **environ)
        self.live = LiveReporter(self.env, animate=False, size=lambda: (self.columns, self.rows))

    def show(self, at: float, event: TaskEvent) -> None:
        self.ticking.now = START + at
        self.live.show(SUBJECT, event)
        self.look()

    def look(self) -> list[str]:
        self.feed.feed(self.stream.getvalue())
        self.stream.seek(0)
        self.stream.truncate()
        return [line.rstrip() for line in self.screen.display if line.strip()]


def task(status: str = "working", message: str | None = None, **values: Any) -> Task:
    known: dict[str, Any] = {
        "task_id": SUBJECT.task_id,
        "poll_interval_ms": 5000,
        "ttl_ms": 86_400_000,
        "created_at": "2026-09-12T09:00:00Z",
        "raw": {"taskId": SUBJECT.task_id, "status": status, "x-more": [1, {"a": None}]},
    }
    return Task(status=status, status_message=message, **{**known, **values})


def asking(**requests: dict[str, Any]) -> Task:
    return task("input_required", input_requests=requests or {"approve": APPROVE})


def answered(*keys: str, elsewhere: bool = False) -> Answered:
    """The server acknowledged answers to these, whatever they ask."""
    return Answered(keys, elsewhere, dict.fromkeys(keys, Answer()))


def viewed(subject: Subject, *events: tuple[float, TaskEvent]) -> TaskView:
    """The view after events at so many seconds after the start."""
    view = begin(subject)
    for at, event in events:
        view = observe(view, event, START + at, MORNING + timedelta(seconds=at))
    return view


def env(ticking: Ticking, stderr: io.StringIO, **environ: str) -> Env:
    return Env(
        stdin=io.StringIO(),
        stdout=io.StringIO(),
        stderr=stderr,
        environ={"TERM": "xterm-256color", **environ},
        cwd=Path("/"),
        clock=ticking.clock,
    )


WORKING = StatusChanged(task(message="Reflowing 96 of 142 bookings"), START + 9.6)
ASKS = InputRequired(asking(), {"approve": APPROVE})
LEFT = Left(("approve",))
REFUSED = Retrying("connection refused", 2, START + 48, START + 720)
COMPLETED = Ended(outcome_of_result({}, task("completed")))
FAILED = Ended(outcome_of_task(task("failed", error={"code": -32050, "message": "quota"})))


def drawn(
    *views: TaskView,
    at: float,
    width: int = 79,
    height: int = 24,
    over: bool = False,
    form: Subject | None = None,
) -> list[str]:
    """The lines of a frame; each must fit."""
    lines = frame(Screen(views, START, over, form), START + at, width, height)
    assert all(columns(line) <= width for line in lines)
    return [plain(line) for line in lines]
