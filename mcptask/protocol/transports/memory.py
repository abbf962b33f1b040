"""A scripted peer without a network: what the protocol's own tests, and yours, talk to.

    transport = MemoryTransport([{"result": {"tools": []}}, Unreachable("gone")])

Requests are answered in order; `requests` keeps them, `left` those that were given up early.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator
from typing import Any

from mcptask.errors import ProtocolError, Unreachable
from mcptask.protocol.transports.base import Message, Remark, Request
from mcptask.protocol.transports.messages import Noise, Sieve, is_response, parse

# One thing that happens in an answer: a message comes, or some text that may be none; something is
# awaited; an exception is raised.
Step = Message | str | BaseException | Awaitable[Any]
Answer = Step | Iterable[Step]
Script = Callable[[Request], Answer] | Iterable[Answer]


class MemoryTransport:
    """Follows a script: a callable from request to answer, or the answers in order.

    A message may leave out `jsonrpc`; one with `result` or `error` also the `id`, which is then the
    request's. An answer that ends without a response is a connection that was lost.
    """

    def __init__(self, script: Script, *, remark: Remark = lambda text: None) -> None:
        self._script = _in_order(script)
        self._noise = Noise(remark)
        self.requests: list[Request] = []
        self.left: list[Request] = []
        self.closed = False

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """See `base.Transport`. Raises ProtocolError where the script is at its end."""
        self.requests.append(request)
        sieve = Sieve(request, self._noise)
        answered = False
        try:
            for step in _steps(self._script(request)):
                if isinstance(step, BaseException):
                    raise step
                if isinstance(step, Awaitable):
                    await step
                    continue
                for message in sieve.own(_value(step, request)):
                    answered = is_response(message)
                    yield message
                    if answered:
                        return
        except (GeneratorExit, asyncio.CancelledError):
            if not answered:
                self.left.append(request)
            raise
        raise Unreachable("the script's answer ended without a response")

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
