"""The typed definition of every JSON that programs can rely on. Types only: `jsonout` fills and writes them.

What the server sent (`task`, `result`, `error.data`, `inputRequests`) is passed on untouched, its unknown
keys too, so those are plain objects here.
"""

from typing import Any, Literal, NotRequired, TypedDict

FORMAT: Literal[1] = 1

ErrorKind = Literal[
    "jsonrpc",
    "tool",
    "usage",
    "input",
    "lost",
    "unreachable",
    "unauthorized",
    "protocol",
    "timeout",
    "interrupted",
    "internal",
]
JsonObject = dict[str, Any]


class ServerBody(TypedDict):
    name: str | None
    endpoint: str
    protocolVersion: str | None


class ErrorBody(TypedDict):
    """`data` of an error of the kind `input`: `inputRequests`, the open questions, and beside it by the same
    keys `update`, the command that answers each, or, where there is no task yet, `answers`, its entry in a
    file for `--answers`.
    """

    kind: ErrorKind
    message: str
    code: int | None
    data: Any
    hint: str | None


class Document(TypedDict):
    """What `--json` prints for one task or call, whatever happened."""

    mcptask: Literal[1]
    ok: bool
    outcome: str
    exitCode: int
    server: ServerBody | None
    ref: int | None
    task: JsonObject | None
    result: JsonObject | None
    error: ErrorBody | None
    warnings: list[str]


class Documents(TypedDict):
    """What `--json` prints for several tasks."""

    mcptask: Literal[1]
    ok: bool
    exitCode: int
    tasks: list[Document]


class HttpRequestBody(TypedDict):
    """A request that was not sent. Secrets are `***`; `server` is what people call the server."""

    server: str
    transport: Literal["http"]
    method: str
    url: str
    headers: dict[str, str]
    message: JsonObject


class StdioRequestBody(TypedDict):
    server: str
    transport: Literal["stdio"]
    message: JsonObject


class DryRunDocument(TypedDict):
    """What `--dry-run --json` prints. `server` is None where the requests go to several."""

    mcptask: Literal[1]
    ok: bool
    outcome: Literal["dry_run"]
    exitCode: int
    server: ServerBody | None
    requests: list[HttpRequestBody | StdioRequestBody]
    warnings: list[str]


class RecordBody(TypedDict):
    """A stored task. Times are ISO 8601 in UTC; `outcome` is None until it ended."""

    ref: int
    taskId: str
    server: ServerBody
    tool: str | None
    status: str
    statusMessage: str | None
    outcome: str | None
    createdAt: str | None
    seenAt: str | None
    ttlMs: int | None
    pollIntervalMs: int | None
    answered: list[str]


class CallBody(TypedDict):
    """A `tools/call` that was sent and whose answer never came. `hint`: what to check, and what drops it."""

    ref: int | None
    server: ServerBody
    tool: str
    sentAt: str
    hint: str


class ListDocument(TypedDict):
    """What `list --json` prints."""

    mcptask: Literal[1]
    tasks: list[RecordBody]
    calls: list[CallBody]


class EventLine(TypedDict):
    """What every JSON line has. `seq` counts from 1; `at` is UTC."""

    mcptask: Literal[1]
    seq: int
    at: str
    ref: int | None
    taskId: str | None


class CreatedLine(EventLine):
    event: Literal["created"]
    tool: str | None
    server: str
    task: JsonObject


class StatusLine(EventLine):
    event: Literal["status"]
    status: str
    statusMessage: str | None
    task: JsonObject


class InputRequiredLine(EventLine):
    """`changed`: the keys, if any, that were another question before."""

    event: Literal["input_required"]
    inputRequests: dict[str, JsonObject]
    task: JsonObject | None
    changed: NotRequired[list[str]]


class AnsweredLine(EventLine):
    """`elsewhere`: by another process, on the same state file."""

    event: Literal["answered"]
    keys: list[str]
    elsewhere: NotRequired[Literal[True]]


class RetryingLine(EventLine):
    """`retryAt` and `giveUpAt` are UTC times like `at`; None where there is no such moment."""

    event: Literal["retrying"]
    reason: str
    attempt: int
    retryAt: str | None
    giveUpAt: str | None


class ReconnectedLine(EventLine):
    event: Literal["reconnected"]
    awayMs: int


class WarningLine(EventLine):
    event: Literal["warning"]
    message: str


class EndedLine(EventLine):
    """The last line of a task, and with the document of several the last line of all."""

    event: Literal["ended"]
    document: Document | Documents | DryRunDocument


TaskEventLine = (
    CreatedLine
    | StatusLine
    | InputRequiredLine
    | AnsweredLine
    | RetryingLine
    | ReconnectedLine
    | WarningLine
    | EndedLine
)
