"""The values that commands hand to renderers. Commands return, renderers print."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

from mcptask.protocol.events import TaskEvent
from mcptask.protocol.outcome import Outcome
from mcptask.protocol.questions import Ledger


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """`name` is None for a server given by hand; `endpoint` is its URL or command, without secrets."""

    name: str | None
    endpoint: str
    protocol_version: str | None = None
    host: str | None = None

    @property
    def label(self) -> str:
        """What people call it: its name, else its host or program, else all there is."""
        return self.name or self.host or self.endpoint


@dataclass(frozen=True, slots=True)
class Report:
    """What one command came to for one task or call. `ref` is None where nothing is stored; then `where` are
    the options that find the task again, for the commands that are shown. `task_id` is None where it is the
    outcome's own, or there is no task; `answered` are its questions that were answered so far, and `sent` the
    keys of those that this run answered.
    """

    outcome: Outcome
    server: ServerInfo | None = None
    ref: int | None = None
    tool: str | None = None
    warnings: tuple[str, ...] = ()
    where: str = ""
    task_id: str | None = None
    answered: Ledger = field(default_factory=dict)
    sent: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Subject:
    """The task that an event is about. `started` is on the clock's `now`: before 0 for one begun long ago;
    `answered` are its questions that were answered before; `where` is as in a `Report`.
    """

    tool: str | None
    server: str
    ref: int | None
    task_id: str
    started: float
    answered: Ledger = field(default_factory=dict, compare=False)
    where: str = ""


class Reporter(Protocol):
    """Shows what happens while it happens. Nothing here blocks for long, and a lost screen raises nothing."""

    @property
    def stays(self) -> bool:
        """Is what was shown on stderr still there to be read when the command ends?"""
        ...

    @property
    def printed(self) -> int:
        """How many lines of data it wrote to stdout."""
        ...

    def show(self, subject: Subject, event: TaskEvent) -> None: ...

    def note(self, text: str) -> None:
        """A line for a person that is about no event. Whoever calls has weighed --quiet."""
        ...

    @property
    def due(self) -> float | None:
        """When (on the clock's `now`) `tick` has something to do, if nothing else happens; None for never."""
        ...

    def tick(self) -> None:
        """Time has passed: whatever is due without an event is shown now."""
        ...

    def end(self, report: Report) -> None:
        """One of several tasks has ended, and this is its document; only data has a place for it."""
        ...

    def hold(self, subject: Subject) -> AbstractContextManager[None]:
        """Inside, the screen is a form's: a question of this task is being answered. Nothing is shown, and
        what comes meanwhile is shown afterwards, below. Harmless where nothing is shown at all.
        """
        ...

    def aside(self, stop: Callable[[], None]) -> None:
        """Calls `stop`, which stops this process for a while, with the terminal given back meanwhile."""
        ...

    def close(self) -> None: ...
