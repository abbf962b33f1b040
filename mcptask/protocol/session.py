"""The only place where a generation meets a transport: conversations, each made of calls and answers.

`tools/call` is sent again only after a refusal of its version (A1.9). All else is safe to repeat (A4.3).
"""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, TypeVar

from mcptask.env import Clock
from mcptask.errors import HttpRefused, RpcError
from mcptask.protocol.exchange import ANSWER_LIMIT, ATTEMPTS, Caller
from mcptask.protocol.generations.base import (
    Call,
    CallAnswer,
    Discovered,
    Generation,
    Notice,
    Over,
    Reply,
    Steps,
    ToolList,
)
from mcptask.protocol.generations.jsonrpc import result_of
from mcptask.protocol.negotiation import PROBE_WAIT, Negotiation, unremembered
from mcptask.protocol.task import Task
from mcptask.protocol.transports.base import Transport
from mcptask.protocol.verdict import Spoken

T = TypeVar("T")


class Session:
    """One server, spoken to in one generation.

    `greet` asks `server/discover` first, as stdio wants it (A1.2); over HTTP the first real request tells
    as much. `memory` is what was found out earlier about what the server speaks, and `learned` is told
    what is found out now; `forced` takes this generation for granted. In seconds: `probe_wait` bounds the
    silence of a server over stdio that may be an older one, `answer_limit` one whole answer.
    """

    def __init__(
        self,
        transport: Transport,
        generation: Generation,
        *,
        clock: Clock,
        greet: bool = False,
        memory: Spoken | None = None,
        forced: bool = False,
        learned: Callable[[Spoken], None] = unremembered,
        probe_wait: float = PROBE_WAIT,
        answer_limit: float = ANSWER_LIMIT,
    ) -> None:
        self._transport = transport
        self.generation = generation
        self._caller = Caller(transport, generation.version, clock, answer_limit)
        self._negotiation = Negotiation(
            self._caller,
            generation,
            transport,
            clock,
            stdio=greet,
            memory=memory,
            forced=forced,
            learned=learned,
            probe_wait=probe_wait,
        )

    @property
    def life(self) -> int:
        """The number of the server's process over stdio, as of now (A6.7)."""
        return self._caller.life

    @property
    def version(self) -> str:
        return self.generation.version

    async def greet(self) -> None:
        """Find out what the server speaks, where that has to go before the first request (A1.2)."""
        await self._negotiation.greet()

    async def discover(self) -> Discovered:
        """What the server says of itself. `NoCommonVersion` where it speaks other revisions (A1.3)."""
        return await self._negotiation.discover()

    async def list_tools(self) -> ToolList:
        return await self._run(self.generation.list_tools())

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
        reply: Reply | None = None,
    ) -> CallAnswer:
        """`tools/call`, again only after a refusal of its version (A1.9). `Unreachable.sent` tells whether
        the outcome is unknown.

        `reply` makes it another round of the same call (A8.4).
        """
        steps = self.generation.call_tool(tool, arguments, schema, reply)
        return await self._run(steps, attempts=1)

    async def get(self, task_id: str, *, attempts: int = ATTEMPTS, doubtful: bool = False) -> Task:
        """`doubtful`: the last such question got no answer, so that it must not keep others waiting."""
        steps = self.generation.get_task(task_id)
        return await self._run(steps, attempts=attempts, doubtful=doubtful)

    async def update(
        self,
        task_id: str,
        responses: Mapping[str, Mapping[str, Any]],
        *,
        attempts: int = ATTEMPTS,
    ) -> None:
        await self._run(self.generation.update_task(task_id, responses), attempts=attempts)

    async def cancel(self, task_id: str) -> None:
        await self._run(self.generation.cancel_task(task_id))

    async def listen(self, task_ids: Sequence[str]) -> AsyncGenerator[Notice, None]:
        """`subscriptions/listen`, once: what the server tells of these tasks, until it or the caller ends it.

        Raises what a call raises; a stream that ends without its result is `Unreachable`.
        """
        call = self.generation.listen(task_ids)
        await self._negotiation.greet()
        async with aclosing(self._caller.stream(call)) as messages:
            async for message in messages:
                if "method" not in message:
                    result_of(message)
                notice = self.generation.notice(message)
                if isinstance(notice, Over):
                    return
                if notice is not None:
                    yield notice

    async def quiet(self) -> None:
        """Until the server may be asked anything at all (A10.10)."""
        await self._caller.quiet()

    def preview(self, *conversations: Steps[Any]) -> list[dict[str, Any]]:
        """The first request of each of these conversations of `generation`, as they would go out now, one
        after the other, and before them the probe if it has to go first. Nothing is sent.

        Each as `Transport.preview` has it, with secrets in it.
        """
        probe = [self.generation.discover()] if self._negotiation.has_to_greet() else []
        return [self._caller.preview(next(steps)) for steps in (*probe, *conversations)]

    @property
    def under_way(self) -> Collection[tuple[Call, float]]:
        """The calls that went out and have no answer yet, and since when (on the clock's `now`)."""
        return self._caller.under_way

    async def close(self, *, hurry: bool = False) -> None:
        await self._transport.close(hurry=hurry)

    async def _run(self, steps: Steps[T], *, attempts: int = ATTEMPTS, doubtful: bool = False) -> T:
        """Drive one conversation: make each call that it yields, hand it the result or the error."""
        try:
            call = next(steps)
            while True:
                try:
                    result = await self._contact(call, attempts, doubtful)
                except RpcError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(result)
        except StopIteration as stop:
            value: T = stop.value
            return value

    async def _contact(self, call: Call, attempts: int, doubtful: bool) -> dict[str, Any]:
        """Make a call. A server that refuses it, and was not met in this run, is asked what it speaks."""
        negotiation = self._negotiation
        attempt = partial(
            self._caller.attempt, call, attempts, negotiation.greet, doubtful=doubtful
        )
        try:
            result = await attempt()
        except (RpcError, HttpRefused) as error:
            if not negotiation.lists_ours(error):
                await negotiation.doubt(error)
                raise
            result = await attempt()  # A1.9
        negotiation.answered(call.method)
        return result
