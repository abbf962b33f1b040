"""What a wire generation is: pure conversations, JSON in and out.

A conversation (`Steps`) is a generator: it yields the calls that it wants made, is sent each call's result
object (or has the call's `RpcError` thrown in), and returns a value. So a generation decides everything
about messages, a revision that needs two calls where another needs one is still one module, and none of
them touches a socket. `session.py` is the only driver; a test drives one with plain dictionaries.

To add a revision: write `vYYYY_MM_DD.py` with these methods, and its line in `revisions.py`.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from mcptask.protocol.task import Task

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to make. `subject` is what the call is about, for routing (the `Mcp-Name` header over
    HTTP); `schema` the input schema whose annotated arguments are mirrored in headers; `wait` bounds the
    silence before an answer, in seconds (None: the transport's own limit)."""

    method: str
    params: Mapping[str, Any]
    subject: str | None = None
    schema: Mapping[str, Any] | None = None
    wait: float | None = None


Steps = Generator[Call, dict[str, Any], T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """What a server says of itself. `raw` is the whole answer, untouched."""

    versions: tuple[str, ...]
    raw: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    """The server's tools, each object as it came. `ttl_ms` 0 means: not to be kept. `public`: the same
    for every caller, so that a cache need not be kept apart by credential (A7.4)."""

    tools: tuple[Mapping[str, Any], ...]
    ttl_ms: int = 0
    public: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Immediate:
    """`tools/call` was answered at once: a CallToolResult, untouched."""

    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputNeeded:
    """`tools/call` asks before it starts: there is no task yet (A8.4)."""

    requests: Mapping[str, Mapping[str, Any]]
    request_state: str | None = None


CallAnswer = Task | Immediate | InputNeeded


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a repeated `tools/call` carries beside its arguments (A8.4): the answers to the last
    `InputNeeded`, and the state that came with it, None where there was none."""

    responses: Mapping[str, Mapping[str, Any]]
    request_state: str | None


class Acknowledged(NamedTuple):
    """The server will tell of changes to these tasks, and to no others; None: it knows no such thing."""

    task_ids: frozenset[str] | None


class Told(NamedTuple):
    """The server tells of a change to a task. `task` is None where it says no more than that."""

    task_id: str
    task: Task | None


class Over(NamedTuple):
    """The server ends the subscription before its result (A11.8)."""


Notice = Acknowledged | Told | Over


class Generation(Protocol):
    """One revision of the wire."""

    version: str

    def discover(self) -> Steps[Discovered]: ...

    def list_tools(self) -> Steps[ToolList]: ...

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
        reply: Reply | None = None,
    ) -> Steps[CallAnswer]: ...

    def get_task(self, task_id: str) -> Steps[Task]: ...

    def update_task(
        self, task_id: str, responses: Mapping[str, Mapping[str, Any]]
    ) -> Steps[None]: ...

    def cancel_task(self, task_id: str) -> Steps[None]: ...

    def listen(self, task_ids: Sequence[str]) -> Call:
        """The request whose answer is a stream of notifications about these tasks."""
        ...

    def notice(self, message: Mapping[str, Any]) -> Notice | None:
        """What one message of that stream says; None for what says nothing to us."""
        ...
