"""How a command ended, and the exit code that says so. A pure table: prints nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mcptask.errors import ExitCode, McptaskError, RpcError
from mcptask.protocol.questions import NOTHING_ANSWERED, Ledger, open_questions
from mcptask.protocol.task import Status, Task

# Which outcome decides for several tasks: the first of these that any of them had.
PRECEDENCE = (
    ExitCode.PROTOCOL,
    ExitCode.UNAUTHORIZED,
    ExitCode.UNREACHABLE,
    ExitCode.LOST,
    ExitCode.FAILED,
    ExitCode.TOOL_ERROR,
    ExitCode.CANCELLED,
    ExitCode.INPUT_REQUIRED,
    ExitCode.TIMEOUT,
)

STATUS_EXIT_CODES: Mapping[str, ExitCode] = {
    Status.INPUT_REQUIRED: ExitCode.INPUT_REQUIRED,
    Status.FAILED: ExitCode.FAILED,
    Status.CANCELLED: ExitCode.CANCELLED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The document's `error`. `code` and `data` are the server's, where the server sent an error."""

    kind: str
    message: str
    code: int | None = None
    data: Any = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`name` is the document's `outcome`. `result` is the CallToolResult of a completed task or call."""

    name: str
    exit_code: ExitCode
    task: Task | None = None
    result: Mapping[str, Any] | None = None
    error: Problem | None = None

    @property
    def ok(self) -> bool:
        return self.exit_code == ExitCode.OK


def outcome_of_result(result: Mapping[str, Any], task: Task | None = None) -> Outcome:
    """A CallToolResult: its own `isError` decides, whatever the task's status says."""
    if result.get("isError") is True:
        problem = Problem(kind="tool", message=first_text(result) or "the tool reported an error")
        return Outcome(
            name="tool_error",
            exit_code=ExitCode.TOOL_ERROR,
            task=task,
            result=result,
            error=problem,
        )
    return Outcome(name="completed", exit_code=ExitCode.OK, task=task, result=result)


def outcome_of_task(task: Task, answered: Ledger = NOTHING_ANSWERED) -> Outcome:
    """What a snapshot means if nothing more is done: its status, and the exit code of that status.

    The questions in `answered` are open no more, even if the snapshot still lists them.
    """
    if task.status == Status.COMPLETED and task.result is not None:
        return outcome_of_result(task.result, task)
    return Outcome(
        name=task.status,
        exit_code=STATUS_EXIT_CODES.get(task.status, ExitCode.OK),
        task=task,
        error=_problem_of(task, answered),
    )


def outcome_of_error(error: McptaskError, task: Task | None = None) -> Outcome:
    """An error of ours or theirs. The task, if there is one, is shown as it was last seen."""
    problem = Problem(
        kind=error.kind,
        message=error.message,
        code=error.code if isinstance(error, RpcError) else None,
        data=error.data,
        hint=error.hint,
    )
    return Outcome(name=error.outcome, exit_code=error.exit_code, task=task, error=problem)


def exit_code_of_many(codes: Iterable[ExitCode]) -> ExitCode:
    """The exit code of several tasks followed at once."""
    seen = set(codes)
    # One that the table does not name (a bug here, a bad state file) is no success either.
    return next((code for code in PRECEDENCE if code in seen), max(seen, default=ExitCode.OK))


def first_text(result: Mapping[str, Any]) -> str | None:
    """The first text block of a CallToolResult."""
    content = result.get("content")
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            return str(block["text"])
    return None


def _problem_of(task: Task, answered: Ledger) -> Problem | None:
    if task.status == Status.FAILED:
        error = task.error or {}
        code = error.get("code")
        return Problem(
            kind="jsonrpc",
            message=str(error.get("message") or task.status_message or "the task failed"),
            code=code if isinstance(code, int) and not isinstance(code, bool) else None,
            data=error.get("data"),
        )
    if task.status == Status.INPUT_REQUIRED:
        return Problem(
            kind="input",
            message="the task asks a question that was not answered here",
            data={"inputRequests": dict(open_questions(task, answered))},
        )
    return None
