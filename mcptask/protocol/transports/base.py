"""What a session needs of a transport: send one request, read the messages that belong to it, close.

A request and its answer are one *exchange*: an async generator of the messages that the server sends for
that request, the response last. Over HTTP it is the answer to one POST (one JSON object, or a stream of
events); over stdio the lines that carry the request's id. Closing it early is how a request is
given up: HTTP closes the stream, stdio sends `notifications/cancelled` (A5.10, A6.5).

A transport raises only `Unreachable`, `Unauthorized` and `ProtocolError`, and `UsageError` for what cannot
be sent at all (no JSON form, no header, no such command). A JSON-RPC error is a message like any other,
whatever HTTP status it came with (A4.2), but for the few statuses that say more: `http_answers` lists them.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

Message = dict[str, Any]

# Where remarks about broken but survivable input go (noise on stdout, an event that is no JSON): text.
Remark = Callable[[str], None]


MESSAGE_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much a transport waits for and reads. Seconds and bytes (A5.8, A5.9)."""

    connect: float = 30.0
    first_byte: float = 60.0  # to the first byte of an answer, and between two bytes of it
    message_bytes: int = MESSAGE_BYTES  # one JSON body, one event, one line


@dataclass(frozen=True, slots=True)
class Request:
    """One JSON-RPC request. `headers` are the wire's own (HTTP only); `wait` bounds silence, in seconds."""

    id: int | str
    method: str
    params: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float | None = None  # None: the transport's own `first_byte`

    def message(self) -> Message:
        return {
            "jsonrpc": "2.0",
            "id": self.id,
            "method": self.method,
            "params": dict(self.params),
        }


class Transport(Protocol):
    """One server, reached one way.

    `life` changes with each process that the next request would go to (A6.7); over HTTP it never does.
    """

    @property
    def life(self) -> int: ...

    def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """Send, then yield the messages of this request; ends after the response (same id)."""
        ...

    def preview(self, request: Request) -> dict[str, Any]:
        """What `exchange` would send, as an entry of the trace holds it; nothing is sent or started.

        Secrets are in it. Raises UsageError for what cannot be sent.
        """
        ...

    async def announces_endpoint(self) -> bool:
        """Is this HTTP+SSE of 2024-11-05: a GET begins a stream with an `endpoint` event (A1.3)?"""
        ...

    async def close(self, *, hurry: bool = False) -> None:
        """Give everything back: connections, the child process and its whole group.

        `hurry`: a person has asked to stop, so a child that does not end at once is ended.
        """
        ...
