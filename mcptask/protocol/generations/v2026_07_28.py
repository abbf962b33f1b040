"""Revision 2026-07-28 with the Tasks extension: every request carries its own envelope, no sessions."""

from collections.abc import Iterator, Mapping
from typing import Any

from mcptask import __version__
from mcptask.errors import ProtocolError, RpcError, TaskLost, Unreachable, WireError
from mcptask.protocol.generations.base import Call, CallAnswer, Discovered, Steps, ToolList
from mcptask.protocol.generations.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)
from mcptask.protocol.generations.snapshots import LONGEST_MS, read_call_answer, read_task
from mcptask.protocol.task import Task

VERSION = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
META = "io.modelcontextprotocol/"

# A question of a task can be answered at any time with `mcptask update`, so both modes are really served.
CAPABILITIES: Mapping[str, Any] = {
    "extensions": {TASKS: {}},
    "elicitation": {"form": {}, "url": {}},
}

PROBE_WAIT = (
    10.0  # s for `server/discover`, where the config gives the server no timeout of its own
)
CALL_WAIT = (
    3600.0  # s for `tools/call`: a tool that makes no task may take its time (the user is told)
)
MAX_PAGES = 64  # of `tools/list`: an endless cursor must not be an endless command
MAX_TOOLS = 10_000

# Errors of the exchange itself: asking again cannot help, and they say nothing about the task.
BREACHES: Mapping[int, str] = {
    PARSE_ERROR: "the server could not read the request",
    INVALID_REQUEST: "the server does not take the request for one",
    HEADER_MISMATCH: "something between here and the server rewrites headers",
    MISSING_CAPABILITY: "the server did not see the capabilities that were declared",
    UNSUPPORTED_VERSION: f"the server no longer speaks {VERSION}",
}


class V20260728:
    """The conversations of this revision. `capabilities` is what this run declares that it can serve."""

    version = VERSION

    def __init__(
        self,
        capabilities: Mapping[str, Any] = CAPABILITIES,
        *,
        probe_wait: float = PROBE_WAIT,
        call_wait: float = CALL_WAIT,
    ) -> None:
        self._probe_wait = probe_wait
        self._call_wait = call_wait
        self._meta = {
            META + "protocolVersion": VERSION,
            META + "clientInfo": {"name": "mcptask", "version": __version__},
            META + "clientCapabilities": capabilities,
        }

    def discover(self) -> Steps[Discovered]:
        """`server/discover`. Raises `ProtocolError` where the answer is none (A1.3)."""
        result = yield self._call("server/discover", {}, wait=self._probe_wait)
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or not all(isinstance(v, str) for v in versions):
            raise ProtocolError("the answer to server/discover names no supportedVersions")
        return Discovered(versions=tuple(versions), raw=result)

    def list_tools(self) -> Steps[ToolList]:
        """`tools/list`, all pages (A7.1). A cursor that comes twice, or too many pages, ends it."""
        tools: list[Mapping[str, Any]] = []
        seen: set[str] = set()
        warnings: list[str] = []
        cursor: str | None = None
        ttl_ms, public = LONGEST_MS, True
        for _ in range(MAX_PAGES):
            page = yield self._call("tools/list", {} if cursor is None else {"cursor": cursor})
            tools.extend(_usable_tools(page, warnings))
            ttl_ms = min(ttl_ms, _ttl_of(page))
            public = public and page.get("cacheScope") == "public"
            cursor = _next_cursor(page)
            if cursor is None or cursor in seen or len(tools) > MAX_TOOLS:
                break
            seen.add(cursor)
        if cursor is not None:
            warnings.append(f"the server's list of tools has no end; stopped after {len(tools)}")
            ttl_ms = 0
        return ToolList(tools=tuple(tools), ttl_ms=ttl_ms, public=public, warnings=tuple(warnings))

    def call_tool(
        self, name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any] | None
    ) -> Steps[CallAnswer]:
        """`tools/call`, once: it is not idempotent, so nothing here ever sends it again (A4.5)."""
        params = {"name": name, "arguments": dict(arguments)}
        result = yield self._call(
            "tools/call", params, subject=name, schema=schema, wait=self._call_wait
        )
        return read_call_answer(result)

    def get_task(self, task_id: str) -> Steps[Task]:
        """`tasks/get`. Raises `TaskLost` where the server does not know the id.

        Any other error is about this question, not about the task, which must not count as failed for
        it: `Unreachable` (A10.7, S10).
        """
        try:
            result = yield self._task_call("tasks/get", task_id)
        except RpcError as error:
            told = f"{error.message} ({error.code})"
            raise _meaning(error, task_id) or Unreachable(told) from error
        if result.get("resultType") == "input_required":
            raise ProtocolError("tasks/get was answered with resultType input_required")  # A9.3
        return read_task(result, asked=task_id)

    def update_task(self, task_id: str, responses: Mapping[str, Mapping[str, Any]]) -> Steps[None]:
        """`tasks/update`: any result object acknowledges (A12.9). On -32602 `tasks/get` decides (A4.3)."""
        yield from self._confirmed(
            task_id, self._task_call("tasks/update", task_id, inputResponses=dict(responses))
        )

    def cancel_task(self, task_id: str) -> Steps[None]:
        """`tasks/cancel`: a request, not an end. A task that is over already is no error (A13.2)."""
        try:
            yield from self._confirmed(task_id, self._task_call("tasks/cancel", task_id))
        except RpcError as error:
            if error.code != INVALID_PARAMS:
                raise

    def _confirmed(self, task_id: str, call: Call) -> Steps[None]:
        """Make the call; where it is refused as invalid, ask whether the task is still there at all."""
        try:
            yield call
        except RpcError as error:
            if error.code == INVALID_PARAMS:
                yield from self.get_task(task_id)  # raises TaskLost
                raise
            if (meant := _meaning(error, task_id)) is not None:
                raise meant from error
            raise

    def _call(
        self,
        method: str,
        params: Mapping[str, Any],
        *,
        subject: str | None = None,
        schema: Mapping[str, Any] | None = None,
        wait: float | None = None,
    ) -> Call:
        enveloped = {**params, "_meta": dict(self._meta)}
        return Call(method=method, params=enveloped, subject=subject, schema=schema, wait=wait)

    def _task_call(self, method: str, task_id: str, **params: Any) -> Call:
        return self._call(method, {"taskId": task_id, **params}, subject=task_id)


def _usable_tools(page: Mapping[str, Any], warnings: list[str]) -> Iterator[Mapping[str, Any]]:
    tools = page.get("tools")
    if not isinstance(tools, list):
        raise ProtocolError("the answer to tools/list holds no list of tools")
    for tool in tools:
        if isinstance(tool, dict) and isinstance(tool.get("name"), str):
            yield tool
        else:
            warnings.append("the server lists a tool without a name")


def _next_cursor(page: Mapping[str, Any]) -> str | None:
    cursor = page.get("nextCursor")
    return cursor if isinstance(cursor, str) else None  # an empty string is a cursor (A7.1)


def _ttl_of(page: Mapping[str, Any]) -> int:
    """How long the page stays fresh, in ms; missing, negative or broken means not at all (A7.4)."""
    ttl: Any = page.get("ttlMs")
    usable = isinstance(ttl, int | float) and not isinstance(ttl, bool) and ttl > 0
    return int(min(ttl, LONGEST_MS)) if usable else 0


def _meaning(error: RpcError, task_id: str) -> WireError | None:
    """What an error on `tasks/*` says about the task or the wire; None: nothing about either."""
    if error.code == INVALID_PARAMS:
        return TaskLost(f"the server does not know task {task_id}: {error.message}")
    if error.code == METHOD_NOT_FOUND:
        return ProtocolError(f"the server does not offer tasks: {error.message}")
    if error.code in BREACHES:
        return ProtocolError(f"{BREACHES[error.code]}: {error.message} ({error.code})")
    return None
