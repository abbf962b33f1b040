"""JSON lines: an event a line as it happens, flushed; the last ones carry the whole document."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import Any, TextIO

from mcptask.env import Clock
from mcptask.protocol.events import TaskEvent
from mcptask.render.jsonout import document, event_head, event_line, line
from mcptask.render.report import Report, Subject
from mcptask.render.rows import tell
from mcptask.render.streams import write
from mcptask.render.text import clean


class JsonLinesReporter:
    """A `Reporter` for programs. A broken stdout raises `OSError`: without a reader there is no point."""

    stays = False

    def __init__(self, stdout: TextIO, clock: Clock, stderr: TextIO) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._clock = clock
        self._seq = 0

    def show(self, subject: Subject, event: TaskEvent) -> None:
        """One line. `Ended` gives none here: the command follows with `end`, which knows the document."""
        now = self._clock.now()
        body = event_line(self._seq + 1, self._clock.wall(), subject, event, now=now)
        if body is not None:
            self._seq += 1
            write(self._stdout, line(body) + "\n")

    @property
    def printed(self) -> int:
        """How many lines there were."""
        return self._seq

    def end(self, report: Report) -> None:
        """The `ended` line of one of several tasks. The last line of all is `end_line`'s."""
        self._seq += 1
        write(self._stdout, end_line(document(report), self._seq, self._clock.wall()) + "\n")

    def note(self, text: str) -> None:
        tell(self._stderr, clean(text))

    due = None  # programs need no sign of life

    def tick(self) -> None:
        """Never due."""

    def hold(self, subject: Subject) -> AbstractContextManager[None]:
        """Programs answer no forms."""
        return nullcontext()

    def aside(self, stop: Callable[[], None]) -> None:
        """The terminal is as it was."""
        stop()

    def close(self) -> None:
        """Every line is complete already."""


def end_line(body: Mapping[str, Any], seq: int, at: datetime) -> str:
    """The line that ends a task or the whole output: it carries the document, whatever happened."""
    task = body.get("task")
    task_id = task.get("taskId") if isinstance(task, dict) else None
    head = event_head("ended", seq, at, body.get("ref"), task_id)
    return line({**head, "document": body})
