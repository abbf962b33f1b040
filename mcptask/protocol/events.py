"""What happens to a followed task, one value for each thing that happens. `follow()` yields them.

Times are those of the clock's `now`: seconds that never go backwards.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcptask.protocol.outcome import Outcome
from mcptask.protocol.questions import Ledger
from mcptask.protocol.task import Task


@dataclass(frozen=True, slots=True)
class Created:
    """The server answered `tools/call` with a task. It is stored before anyone hears of it."""

    task: Task


@dataclass(frozen=True, slots=True)
class Heard:
    """The server answered, and nothing changed."""

    task: Task
    next_poll: float | None


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The status, its message or another visible field changed; `next_poll` is None once it ended."""

    task: Task
    next_poll: float | None


@dataclass(frozen=True, slots=True)
class InputRequired:
    """Something is asked that was not asked before: key → request, as the server sent them.

    `task` is None for a tool that asks before it starts: then there is none yet (A8.4). `changed` are the
    keys among them that were another question before (A12.3).
    """

    task: Task | None
    requests: Mapping[str, Mapping[str, Any]]
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """The server acknowledged answers to these keys. Acknowledged is not yet applied.

    `elsewhere`: another process sent them, and its word for it came by the state file. `ledger` is all that
    was answered so far, these among it.
    """

    keys: tuple[str, ...]
    elsewhere: bool = False
    ledger: Ledger = field(default_factory=dict, compare=False)


@dataclass(frozen=True, slots=True)
class Left:
    """Nobody answers these here: they are open for `mcptask update`, from any terminal."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Retrying:
    """Contact failed. The task is not touched by that; the next attempt is at `until`."""

    reason: str
    attempt: int
    until: float
    give_up_at: float


@dataclass(frozen=True, slots=True)
class Reconnected:
    """The server answers again after `away` seconds."""

    away: float


@dataclass(frozen=True, slots=True)
class Listening:
    """How changes are learned from now on: the server tells them (`push`), or it is asked for them. `why` is
    a clause about the server, for `-v` and the live view: "it does not offer subscriptions/listen".
    """

    push: bool
    why: str
    next_poll: float


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that a person should know once."""

    message: str


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more will come."""

    outcome: Outcome


TaskEvent = (
    Created
    | Heard
    | StatusChanged
    | InputRequired
    | Answered
    | Left
    | Retrying
    | Reconnected
    | Listening
    | Warned
    | Ended
)
