"""Revision 2026-07-28 with the Tasks extension: every request carries its own envelope, no sessions."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mcptask import __version__
from mcptask.errors import ProtocolError, RpcError, TaskLost, Unreachable, WireError
from mcptask.protocol.generations.base import (
    Call,
    CallAnswer,
    Discovered,
    Notice,
    Reply,
    Steps,
    ToolList,
)
from mcptask.protocol.generations.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from mcptask.protocol.generations.notices import read_notice
from mcptask.protocol.generations.refusals import Declared, meaning, quoted
from mcptask.protocol.generations.snapshots import read_call_answer, read_task
from mcptask.protocol.generations.tool_pages import MAX_TOOLS, ToolPages
from mcptask.protocol.task import Task

VERSION = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
META = "io.modelcontextprotocol/"

# A question of a task can be answered at any time with `mcptask update`, so both modes are really served.
CAPABILITIES: Mapping[str, Any] = {
    "extensions": {TASKS: {}},
    "elicitation": {"form": {}, "url": {}},
}

CALL_WAIT = (
    3600.0  # s for `tools/call`: a tool that makes no task may take its time (the user is told)
)
GET_WAIT = (
    30.0  # s for `tasks/get` (A10.5): there will be others, and more tasks wait for their turn
)


class V20260728:
    """The conversations of this revision. `capabilities` is what this run declares that it can serve,
    `offers` what would make it serve more: capability → words for the user."""

    version = VERSION

    def __init__(
        self,
        capabilities: Mapping[str, Any] = CAPABILITIES,
        *,
        offers: Mapping[str, str] | None = None,
        call_wait: float = CALL_WAIT,
        get_wait: float = GET_WAIT,
        max_tools: int = MAX_TOOLS,
    ) -> None:
        self._call_wait, self._get_wait, self._max_tools = call_wait, get_wait, max_tools
        self._declared = Declared(capabilities, offers or {})
        self._meta = {
            META + "protocolVersion": VERSION,
            META + "clientInfo": {"name": "mcptask", "version": __version__},
            META + "clientCapabilities": capabilities,
        }

    def discover(self) -> Steps[Discovered]:
        """`server/discover`. Raises `ProtocolError` where the answer is none (A1.3)."""
        result = yield self._call("server/discover", {})
        versions = result.get("supportedVersions")
        if not isinstance(versions, list) or not all(isinstance(v, str) for v in versions):
            raise ProtocolError("the answer to server/discover names no supportedVersions")
        return Discovered(versions=tuple(versions), raw=result)

    def list_tools(self) -> Steps[ToolList]:
        """`tools/list`, all pages; a cursor that is refused starts the list anew, once (A7.1)."""
        pages, anew, more = ToolPages(most=self._max_tools), False, True
        while more:
            try:
                more = pages.add((yield self._call("tools/list", pages.params)))
            except RpcError as error:
                if error.code != INVALID_PARAMS or pages.cursor is None or anew:
                    raise self._meant(error, "tools") or error from None
                pages, anew = ToolPages(most=self._max_tools), True
        return pages.whole()

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
        reply: Reply | None = None,
    ) -> Steps[CallAnswer]:
        """`tools/call`, once: it is not idempotent, so nothing here ever sends it again (A4.5)."""
        params = {"name": name, "arguments": dict(arguments), **_replied(reply)}
        call = self._call("tools/call", params, subject=name, schema=schema, wait=self._call_wait)
        try:
            result = yield call
        except RpcError as error:  # the call's own error as it came: only what it means is added
            error.hint = meaning(error, self._declared)
            raise
        return read_call_answer(result)

    def get_task(self, task_id: str) -> Steps[Task]:
        """`tasks/get`. Raises `TaskLost` where the server does not know the id.

        Any other error is about this question, not about the task, which must not count as failed for
        it: `Unreachable` (A10.7, S10).
        """
        try:
            result = yield self._task_call("tasks/get", task_id, wait=self._get_wait)
        except RpcError as error:
            told = f"{quoted(error.message)} ({error.code})"
            raise self._task_meant(error, task_id) or Unreachable(told) from error
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

    def listen(self, task_ids: Sequence[str]) -> Call:
        """`subscriptions/listen`: silence on its stream is no fault (A5.8)."""
        wanted = {"notifications": {"taskIds": list(task_ids)}}
        return self._call("subscriptions/listen", wanted, wait=math.inf)

    def notice(self, message: Mapping[str, Any]) -> Notice | None:
        return read_notice(message)

    def _confirmed(self, task_id: str, call: Call) -> Steps[None]:
        """Make the call; where it is refused as invalid, ask whether the task is still there at all."""
        try:
            yield call
        except RpcError as error:
            if error.code == INVALID_PARAMS:
                yield from self.get_task(task_id)  # raises TaskLost
                raise
            if (meant := self._task_meant(error, task_id)) is not None:
                raise meant from error
            raise

    def _meant(self, error: RpcError, offer: str) -> ProtocolError | None:
        """What a refusal says about the server or the way to it; None: nothing about either."""
        if error.code == METHOD_NOT_FOUND:
            return ProtocolError(f"the server does not offer {offer}: {quoted(error.message)}")
        breach = meaning(error, self._declared)
        return (
            ProtocolError(f"{breach}: {quoted(error.message)} ({error.code})") if breach else None
        )

    def _task_meant(self, error: RpcError, task_id: str) -> WireError | None:
        if error.code == INVALID_PARAMS:
            return TaskLost(f"the server does not know task {task_id}: {quoted(error.message)}")
        return self._meant(error, "tasks")

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

    def _task_call(
        self, method: str, task_id: str, *, wait: float | None = None, **params: Any
    ) -> Call:
        return self._call(method, {"taskId": task_id, **params}, subject=task_id, wait=wait)


def _replied(reply: Reply | None) -> dict[str, Any]:
    """The parameters of another round. What the last round did not give must not be there (A8.4)."""
    if reply is None:
        return {}
    state = {} if reply.request_state is None else {"requestState": reply.request_state}
    return {"inputResponses": dict(reply.responses), **state} if reply.responses else state
