"""The values that commands hand to renderers. Commands return, renderers print."""

from dataclasses import dataclass
from typing import Protocol

from mcptask.protocol.events import TaskEvent
from mcptask.protocol.outcome import Outcome


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """`name` is None for a server given by hand; `endpoint` is its URL or command, without
    secrets.
    """

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
    """What one command came to for one task or call. `ref` is None where nothing is stored."""

    outcome: Outcome
    server: ServerInfo | None = None
    ref: int | None = None
    tool: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """The task that an event is about. `started` is on the clock's `now`: before 0 for one begun
    long ago.
    """

    tool: str | None
    server: str
    ref: int | None
    task_id: str
    started: float


class Reporter(Protocol):
    """Shows what happens while it happens. `show` never blocks for long, and never raises for a
    lost screen.
    """

    def show(self, subject: Subject, event: TaskEvent) -> None: ...

    def tick(self) -> object:
        """Time has passed: whatever is due without an event is shown now."""
        ...

    def close(self) -> None: ...
