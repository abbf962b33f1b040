"""The only place where a generation meets a transport: conversations, and finding out who is there.

A session never sends `tools/call` twice. Everything else that it sends is safe to send again (A4.3).
"""

from collections.abc import Mapping
from typing import Any, TypeVar

from mcptask import __version__
from mcptask.env import Clock
from mcptask.errors import (
    HttpRefused,
    NoCommonVersion,
    ProtocolError,
    RpcError,
    Unreachable,
    WireError,
)
from mcptask.protocol.exchange import ANSWER_LIMIT, ATTEMPTS, Caller
from mcptask.protocol.generations.base import (
    Call,
    CallAnswer,
    Discovered,
    Generation,
    Steps,
    ToolList,
)
from mcptask.protocol.generations.jsonrpc import (
    HEADER_MISMATCH,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
    result_of,
)
from mcptask.protocol.task import Task
from mcptask.protocol.transports.base import Request, Transport

T = TypeVar("T")

# The refusals with which a server that knows this wire answers: no sign of an older one (A1.3).
MODERN_REFUSALS = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY})
LEGACY_STATUSES = frozenset({400, 404, 405})
NEWEST_LEGACY = "2025-11-25"
UPGRADE = "ask whoever runs the server for an upgrade"


class Session:
    """One server, spoken to in one generation.

    `known` says that this server has spoken this generation before, so an odd answer is no reason to
    doubt it. `greet` asks `server/discover` first, as stdio wants it (A1.2); over HTTP the first real
    request tells as much. `answer_limit` bounds one whole answer, in seconds.
    """

    def __init__(
        self,
        transport: Transport,
        generation: Generation,
        *,
        clock: Clock,
        greet: bool = False,
        known: bool = False,
        answer_limit: float = ANSWER_LIMIT,
    ) -> None:
        self._transport = transport
        self._generation = generation
        self._caller = Caller(transport, generation.version, clock, answer_limit)
        self._greet = greet
        self._met = known

    @property
    def version(self) -> str:
        return self._generation.version

    async def discover(self) -> Discovered:
        """What the server says of itself. `NoCommonVersion` where it speaks another generation (A1.3)."""
        try:
            return await self._introduced()
        except WireError as error:
            if not self._sounds_older(error):
                raise
            await self._initialize(error)
        return await self._introduced()

    async def list_tools(self) -> ToolList:
        return await self._run(self._generation.list_tools())

    async def call(
        self, tool: str, arguments: Mapping[str, Any], schema: Mapping[str, Any] | None
    ) -> CallAnswer:
        """`tools/call`, sent at most once. `Unreachable.sent` tells whether the outcome is unknown."""
        return await self._run(self._generation.call_tool(tool, arguments, schema), attempts=1)

    async def get(self, task_id: str, *, attempts: int = ATTEMPTS) -> Task:
        return await self._run(self._generation.get_task(task_id), attempts=attempts)

    async def update(self, task_id: str, responses: Mapping[str, Mapping[str, Any]]) -> None:
        await self._run(self._generation.update_task(task_id, responses))

    async def cancel(self, task_id: str) -> None:
        await self._run(self._generation.cancel_task(task_id))

    async def close(self, *, hurry: bool = False) -> None:
        await self._transport.close(hurry=hurry)

    async def _run(self, steps: Steps[T], *, attempts: int = ATTEMPTS) -> T:
        """Drive one conversation: make each call that it yields, hand it the result or the error."""
        await self._greeted()
        try:
            call = next(steps)
            while True:
                try:
                    result = await self._contact(call, attempts)
                except RpcError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(result)
        except StopIteration as stop:
            value: T = stop.value
            return value

    async def _contact(self, call: Call, attempts: int) -> dict[str, Any]:
        """Make a call; a server never met before that refuses it is asked what it speaks (A1.3)."""
        try:
            result = await self._caller.attempt(call, attempts)
        except (RpcError, HttpRefused) as error:
            if isinstance(error, RpcError) and error.code == UNSUPPORTED_VERSION:
                result = await self._once_more(call, error, attempts)
            else:
                await self._doubt(error)
                raise
        self._met = True
        return result

    async def _once_more(self, call: Call, error: RpcError, attempts: int) -> dict[str, Any]:
        """Refused for its version: repeat it if the server lists ours all the same (A1.9)."""
        versions = _supported(error)
        if not versions:
            await self._initialize(error)
        self._check_versions(versions)
        return await self._caller.attempt(call, attempts)

    async def _greeted(self) -> None:
        if not self._greet or self._met:
            return
        try:
            await self._probe()
        except Unreachable as error:
            error.sent = False  # what the caller asked for was never begun
            raise

    async def _doubt(self, error: RpcError | HttpRefused) -> None:
        """Raise `NoCommonVersion` if that is why the request was refused; else its own error counts."""
        if self._met or not self._sounds_older(error):
            return
        try:
            await self._probe()
        except NoCommonVersion:
            raise
        except WireError:  # no word on the matter
            return

    async def _probe(self) -> None:
        """Does the server speak this generation? `NoCommonVersion` where it does not."""
        try:
            await self.discover()
        except RpcError:  # a refusal that only this generation has
            self._met = True

    async def _introduced(self) -> Discovered:
        steps = self._generation.discover()
        call = next(steps)
        try:
            steps.send(await self._probed(call))
        except StopIteration as stop:
            found: Discovered = stop.value
        else:
            raise AssertionError("discovery is one call")  # pragma: no cover - for the type checker
        self._check_versions(found.versions)
        self._met = True
        return found

    async def _probed(self, call: Call) -> dict[str, Any]:
        try:
            # Over stdio silence is an answer (A1.3), so it is waited for once.
            return await self._caller.attempt(call, 1 if self._greet else ATTEMPTS)
        except RpcError as error:
            if error.code != UNSUPPORTED_VERSION:
                raise
            return await self._once_more(call, error, ATTEMPTS)

    def _sounds_older(self, error: WireError) -> bool:
        """Might a server that does not know this generation have answered so (A1.3)?"""
        match error:
            case RpcError():
                return error.code not in MODERN_REFUSALS
            case HttpRefused():
                return error.status in LEGACY_STATUSES
            case Unreachable():
                return self._greet  # silence, or a sudden end, is an answer over stdio only
            case _:
                return isinstance(error, ProtocolError) and not isinstance(error, NoCommonVersion)

    def _check_versions(self, versions: tuple[str, ...]) -> None:
        if self.version not in versions:
            spoken = ", ".join(versions) or "nothing that it names"
            raise NoCommonVersion(
                f"the server speaks MCP {spoken}; mcptask speaks {self.version}", hint=UPGRADE
            )

    async def _initialize(self, refusal: WireError) -> None:
        """Ask a server that sounds older for its revision, and stop, politely: `NoCommonVersion`.

        Returns if it takes `initialize` for out of date: it started slowly, and is modern after all.
        Raises `refusal` again where nothing at that address speaks MCP.
        """
        params = {
            "protocolVersion": NEWEST_LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "mcptask", "version": __version__},
        }
        request = Request(id=self._caller.next_id(), method="initialize", params=params, wait=10.0)
        spoken = "no revision that mcptask knows"
        try:
            result = result_of(await self._caller.answer(request))
            spoken = f"MCP {result.get('protocolVersion', 'of an older revision')}"
        except RpcError as error:
            if error.code == UNSUPPORTED_VERSION:
                return
        except (HttpRefused, Unreachable):
            if isinstance(refusal, HttpRefused | Unreachable):
                raise refusal from None
        except ProtocolError:
            pass
        raise NoCommonVersion(
            f"the server speaks {spoken}; mcptask needs MCP {self.version} with the Tasks extension",
            hint=UPGRADE,
        )


def _supported(error: RpcError) -> tuple[str, ...]:
    named = error.data.get("supported") if isinstance(error.data, dict) else None
    return tuple(v for v in named if isinstance(v, str)) if isinstance(named, list) else ()
