"""Everything that can go wrong, as one tree, and the exit codes it maps to. Imports nothing of ours.

    McptaskError
    ├── UsageError            bad arguments, unknown server or task                    exit 2
    │   ├── ConfigError       the config file cannot be used                           exit 2
    │   └── StateError        the state file cannot be used                            exit 2
    │       └── StateUnwritable   it cannot be read or written just now            exit 2
    ├── WireError             theirs: what a server or the way to it did
    │   ├── RpcError          a JSON-RPC error answered the request      exit 9, tools/call: exit 4
    │   ├── TaskLost          the server does not know the task                        exit 6
    │   ├── Unreachable       no answer: refused, dropped, busy, too slow              exit 7
    │   ├── Unauthorized      401 or 403                                               exit 8
    │   └── ProtocolError     the answer breaks the protocol                           exit 9
    │       ├── Garbled       an answer that cannot be read; the next one may be fine      exit 9
    │       ├── HttpRefused   an HTTP status with no JSON-RPC body                     exit 9
    │       ├── NotStarted        a call asks first, and cannot be answered            exit 9
    │       │   └── EndlessRounds     it asks and asks                                 exit 9
    │       └── NoCommonVersion   only revisions that we do not speak                  exit 9
    ├── AnswerNeeded          a question that nobody can answer here                   exit 3
    ├── TimedOut              --timeout passed; the task goes on                       exit 124
    └── Interrupted           Ctrl-C, SIGTERM, SIGHUP; the task goes on                exit 130, 143

Foreign exceptions (`httpx`, `OSError`, `ValidationError`) are mapped to these once, in the package that
met them, with `from exc`. A message says what happened; a hint is the next command to type.
"""

from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """The process exit codes: part of the command-line contract."""

    OK = 0
    TOOL_ERROR = 1
    USAGE = 2
    INPUT_REQUIRED = 3
    FAILED = 4
    CANCELLED = 5
    LOST = 6
    UNREACHABLE = 7
    UNAUTHORIZED = 8
    PROTOCOL = 9
    INTERNAL = 70
    TIMEOUT = 124
    INTERRUPTED = 130
    BROKEN_PIPE = 141  # 128 + SIGPIPE: as the shell reports a program that `| head` cut off
    TERMINATED = 143


class McptaskError(Exception):
    """The root. `kind` is the document's `error.kind`, `outcome` its `outcome`."""

    kind = "internal"
    outcome = "internal"
    exit_code = ExitCode.INTERNAL

    def __init__(self, message: str, *, hint: str | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.data = data


class UsageError(McptaskError):
    kind = "usage"
    outcome = "usage"
    exit_code = ExitCode.USAGE


class ConfigError(UsageError):
    pass


class StateError(UsageError):
    pass


class StateUnwritable(StateError):
    """The state file cannot be read or written just now. What was asked can still go on, with a warning."""


class WireError(McptaskError):
    """`in_doubt`: the same request went out before, and what became of that is not known."""

    in_doubt = False


class RpcError(WireError):
    """A JSON-RPC error object: `code`, `message`, `data` exactly as the server sent them.

    Only for `tools/call` does it mean that the work failed (S10); what is refused otherwise says nothing
    about a task.
    """

    kind = "jsonrpc"
    outcome = "protocol"
    exit_code = ExitCode.PROTOCOL

    def __init__(
        self, code: int, message: str, *, data: Any = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint, data=data)
        self.code = code


class TaskLost(WireError):
    """`-32602` on a `tasks/*` request: unknown, expired or not ours. Never a failed task."""

    kind = "lost"
    outcome = "lost"
    exit_code = ExitCode.LOST


class Unreachable(WireError):
    """No usable answer came. `sent` is False only where the server surely did nothing with the request.

    `busy`: the server turned it away for want of time. `retry_after` is in seconds, from the header of that
    name, or None.
    """

    kind = "unreachable"
    outcome = "unreachable"
    exit_code = ExitCode.UNREACHABLE

    def __init__(
        self,
        message: str,
        *,
        sent: bool = True,
        busy: bool = False,
        retry_after: float | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.sent = sent
        self.busy = busy
        self.retry_after = retry_after


class Unauthorized(WireError):
    kind = "unauthorized"
    outcome = "unauthorized"
    exit_code = ExitCode.UNAUTHORIZED


class ProtocolError(WireError):
    kind = "protocol"
    outcome = "protocol"
    exit_code = ExitCode.PROTOCOL


class Garbled(ProtocolError):
    """No JSON, no stream of events, nothing at all: what a proxy says while a server restarts."""


class TooLarge(ProtocolError):
    """More than one message may hold (A5.9, S18): asking again brings the same."""

    def __init__(
        self,
        message: str,
        hint: str | None = "if you trust the server: --max-message 64M, or more",
    ) -> None:
        super().__init__(message, hint=hint)


class HttpRefused(ProtocolError):
    """An HTTP status that is no success and carries no JSON-RPC body."""

    def __init__(self, message: str, *, status: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class NotStarted(ProtocolError):
    """`tools/call` asks before it starts, in a way that nobody can answer (A8.4)."""


class EndlessRounds(NotStarted):
    """It asks again after as many rounds as may be answered."""


class NoCommonVersion(ProtocolError):
    pass


class AnswerNeeded(McptaskError):
    """A question that nobody can answer here. `data["inputRequests"]` holds it as the server sent it."""

    kind = "input"
    outcome = "input_required"
    exit_code = ExitCode.INPUT_REQUIRED


class TimedOut(McptaskError):
    kind = "timeout"
    outcome = "timeout"
    exit_code = ExitCode.TIMEOUT


class Interrupted(McptaskError):
    """A signal asked us to stop. What was started goes on."""

    kind = "interrupted"
    outcome = "interrupted"

    def __init__(
        self, message: str, *, signum: int = 2, hint: str | None = None, data: Any = None
    ) -> None:
        super().__init__(message, hint=hint, data=data)
        self.signum = signum
        self.exit_code = (
            ExitCode.INTERRUPTED if signum == 2 else ExitCode.TERMINATED  # SIGTERM, SIGHUP
        )
