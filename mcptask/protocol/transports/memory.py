"""A scripted peer without a network: what the protocol's own tests, and yours, talk to.

    transport = MemoryTransport([{"result": {"tools": []}}, Unreachable("gone")])

Requests are answered in order; `requests` keeps them, `left` those that were given up early.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing
from typing import Any

from mcptask.errors import ProtocolError, Unreachable
from mcptask.protocol.transports.base import Message, Remark, Request
from mcptask.protocol.transports.messages import Noise, Sieve, dump, is_response, parse
from mcptask.protocol.transports.trace import Trace, faults, received

# One thing that happens in an answer: a message comes, or some text that may be none; something is
# awaited; an exception is raised.
Step = Message | str | BaseException | Awaitable[Any]
Answer = Step | Iterable[Step]
Script = Callable[[Request], Answer] | Iterable[Answer]


class MemoryTransport:
    """Follows a script: a callable from request to answer, or the answers in order.

    A message may leave out `jsonrpc`; one with `result` or `error` also the `id`, which is then the
    request's. An answer that ends without a response is a connection that was lost. `life` and
    `has_endpoint_event` are for the test to set: another process, a server of 2024-11-05.
    """

    def __init__(
        self,
        script: Script,
        *,
        remark: Remark = lambda text: None,
        trace: Trace | None = None,
    ) -> None:
        self._script = _in_order(script)
        self._noise = Noise(remark)
        self._trace = trace
        self.requests: list[Request] = []
        self.left: list[Request] = []
        self.closed = False
        self.life = 0
        self.has_endpoint_event = False

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """See `base.Transport`. Raises ProtocolError where the script is at its end."""
        self.requests.append(request)
        entry = self._trace("out", "request", **self.preview(request)) if self._trace else None
        answered = False
        try:
            with faults(self._trace, entry):
                async with aclosing(self._answer(request, entry)) as messages:
                    async for message in messages:
                        answered = is_response(message)
                        yield message
        except (GeneratorExit, asyncio.CancelledError):
            if not answered:
                self.left.append(request)
            raise

    def preview(self, request: Request) -> dict[str, Any]:
        return {"transport": "memory", "message": request.message()}

    async def _answer(self, request: Request, entry: int | None) -> AsyncGenerator[Message, None]:
        sieve = Sieve(request, self._noise)
        for step in _steps(self._script(request)):
            if isinstance(step, BaseException):
                raise step
            if isinstance(step, Awaitable):
                await step
                continue
            value = _value(step, request)
            if self._trace is not None:
                received(self._trace, _data(step, value), entry)
            for message in sieve.own(value):
                yield message
                if is_response(message):
                    return
        raise Unreachable("the script's answer ended without a response")

    async def announces_endpoint(self) -> bool:
        return self.has_endpoint_event

    async def close(self, *, hurry: bool = False) -> None:
        self.closed = True
        self._noise.tell_totals()


def _in_order(script: Script) -> Callable[[Request], Answer]:
    if callable(script):
        return script
    answers: Iterator[Answer] = iter(script)

    def following(request: Request) -> Answer:
        for answer in answers:
            return answer
        raise ProtocolError(f"the script has no answer for {request.method}")

    return following


def _steps(answer: Answer) -> Iterable[Step]:
    if isinstance(answer, dict | str | BaseException | Awaitable):
        return (answer,)
    return answer


def _data(step: Message | str, value: Any) -> bytes:
    return step.encode() if isinstance(step, str) else dump(value)


def _value(step: Message | str, request: Request) -> Any:
    if isinstance(step, str):
        try:
            return parse(step.encode())
        except ValueError:
            return None
    filled = {"jsonrpc": "2.0", **step}
    if "id" not in step and ("result" in step or "error" in step):
        filled["id"] = request.id
    return filled
