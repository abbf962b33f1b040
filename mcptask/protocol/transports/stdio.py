"""A server as a child process: one JSON object a line, several exchanges at once (A6).

Starts the child at the first exchange and again after it died, less and less often while no child
answers; resends nothing.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mcptask.env import Clock
from mcptask.errors import TooLarge, Unreachable, WireError
from mcptask.protocol.transports.base import Limits, Message, Remark, Request
from mcptask.protocol.transports.excerpts import excerpt
from mcptask.protocol.transports.messages import (
    Noise,
    dump,
    is_orphan_error,
    is_response,
    is_server_request,
    parse,
    patience,
    rpc_messages,
    same_id,
)
from mcptask.protocol.transports.process import Child, child_environ, resolve
from mcptask.protocol.transports.trace import TEXT, Trace, faults

# A server that died is started again at once; one that dies before it has answered anything but a greeting
# waits first, this long since its death, twice as long after the next. Seconds (A6.7).
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 30.0

# How long a server may take to end when its input ends, and again when it is told to (A6.6). Seconds.
GRACE = 2.0
HURRIED_GRACE = 0.2  # where a person waits for nothing else

# Messages that wait for one slow reader; beyond that, notifications (never a response) are dropped.
MAX_WAITING = 1000

# Giving up these is not told to the server: it may know nothing of cancelling yet (A6.5). And many a server
# that answers them dies of the first real request, so they are no sign that it can be worked with.
_GREETINGS = frozenset({"server/discover", "initialize"})

_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_LISTEN = "subscriptions/listen"
_OF_LISTENING = ("notifications/tasks", "notifications/subscriptions/")


@dataclass(eq=False)
class _Open:
    """One exchange under way."""

    request: Request
    inbox: asyncio.Queue[Message | WireError] = field(default_factory=asyncio.Queue)
    answered: bool = False  # the response is in the inbox; a second one would be none
    over: bool = False  # it was taken out of there, or there will be none
    entry: int | None = None  # its number in the trace

    def wants(self, notification: Message) -> bool:
        """Is the notification about this request (A6.8)?"""
        params = notification.get("params")
        if not isinstance(params, dict):
            return False
        subscription = _meta(params).get(_SUBSCRIPTION)
        if notification["method"] == "notifications/cancelled":  # the server ends a subscription
            subscription = params.get("requestId")
        if subscription is not None:
            return same_id(subscription, self.request.id)
        if self.request.method == _LISTEN and notification["method"].startswith(_OF_LISTENING):
            # Untagged, against the rule, and there is no other stream that it could be of.
            return True
        token = params.get("progressToken")
        return same_id(token, _meta(self.request.params).get("progressToken"))


class StdioTransport:
    """One server command. The child is shared by all exchanges."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        remark: Remark = lambda text: None,
        on_stderr: Callable[[str], None] = lambda line: None,
        grace: float = GRACE,
        clock: Clock = Clock(),  # noqa: B008 (frozen)
        trace: Trace | None = None,
    ) -> None:
        """`env` comes on top of the few variables that a child inherits from `environ`. `on_stderr` gets
        each line that the child writes there.
        """
        self._command = list(command)
        self._cwd = cwd
        self._environ = child_environ(environ, env or {})
        self._limits = limits
        self._noise = Noise(remark)
        self._remark = remark
        self._on_stderr = on_stderr
        self._grace = grace
        self._trace = trace
        self._child: Child | None = None
        self._starting = asyncio.Lock()
        self._clock = clock
        self._buried = 0
        self._in_vain = 0  # children in a row that died without an answer
        self._again_at = clock.now()  # no child is started before
        self._last_end = ""
        self._open: dict[str, _Open] = {}
        self._left: set[str] = set()

    @property
    def life(self) -> int:
        """The number of the process that the next request goes to, were it sent now (A6.7)."""
        ended = self._child is not None and self._child.ended
        return self._buried + ended

    async def announces_endpoint(self) -> bool:
        return False

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        """See `base.Transport`. Raises Unreachable and ProtocolError; ConfigError where there is no
        such command or folder; UsageError for a request that has no JSON form.
        """
        line = dump(request.message())
        with faults(self._trace, None):
            child = await self._running()
            if child.ended:  # at once, before there was anyone to tell
                raise Unreachable(child.how_it_ended(), sent=False)
        exchange = self._open[str(request.id)] = _Open(request)
        if self._trace is not None:
            exchange.entry = self._trace("out", "request", **self.preview(request))
        try:
            child.write(line)
            with faults(self._trace, exchange.entry):
                while not exchange.over:
                    yield await self._next(exchange)
        finally:
            del self._open[str(request.id)]
            if not exchange.over:
                self._leave(child, request)

    def preview(self, request: Request) -> dict[str, Any]:
        return {"transport": "stdio", "message": request.message()}

    async def close(self, *, hurry: bool = False) -> None:
        """End the child and its whole group; open exchanges end as unreachable. Never hangs (A6.6)."""
        child, self._child = self._child, None
        self._fail(lambda: Unreachable("the connection to the server was closed"))
        if child is not None:
            await child.stop(min(HURRIED_GRACE, self._grace) if hurry else self._grace)
        self._noise.tell_totals()

    async def _running(self) -> Child:
        """The child, started if need be. One start at a time, whoever asks."""
        async with self._starting:
            if self._child is not None and self._child.ended:
                await self._bury(self._child)
            if self._child is None:
                self._refuse_too_early()
                child = Child(self._limits.message_bytes, self._line, self._said, self._ended)
                command = resolve(self._command, self._cwd, self._environ)
                await child.start(command, self._cwd, self._environ)
                self._child = child
                self._tell("out", "start", transport="stdio", command=command, childPid=child.pid)
            return self._child

    async def _bury(self, child: Child) -> None:
        """Clear away a child that ended by itself, and what it left of its group."""
        self._child = None
        self._buried += 1
        await child.stop(self._grace)

    def _refuse_too_early(self) -> None:
        """Whoever asks is told when to come back, and decides whether it is worth that (A6.7)."""
        left = self._again_at - self._clock.now()
        if left > 0:
            raise Unreachable(self._last_end, sent=False, retry_after=left)
        if self._last_end:
            self._remark(f"{self._last_end}; starting it again")

    async def _next(self, exchange: _Open) -> Message:
        wait = patience(exchange.request, self._limits)
        try:
            async with asyncio.timeout(wait):
                item = await exchange.inbox.get()
        except TimeoutError as exc:
            raise Unreachable(f"no answer to {exchange.request.method} within {wait:g} s") from exc
        if isinstance(item, WireError):
            exchange.over = True
            raise item
        exchange.over = is_response(item)
        return item

    def _leave(self, child: Child, request: Request) -> None:
        """Tell the server that nobody waits any more; an answer that still comes is no surprise."""
        self._left.add(str(request.id))
        if request.method not in _GREETINGS:
            message = {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": request.id},
            }
            self._tell("out", "notification", transport="stdio", message=message)
            child.write(dump(message))

    # ── what the child says ──

    def _line(self, line: bytes | None) -> None:
        if line is None:
            bound = self._limits.message_bytes
            self._too_large(TooLarge(f"the server sent a line of over {bound} bytes"))
        elif line.strip():
            self._read(line)

    def _too_large(self, error: TooLarge) -> None:
        """Whom it was for is in what was not read, so all who wait are told."""
        self._tell("in", "noise", text=error.message)
        self._fail(lambda: TooLarge(error.message, error.hint))

    def _read(self, line: bytes) -> None:
        try:
            found = rpc_messages(parse(line, self._limits.message_bytes))
        except TooLarge as error:
            self._too_large(error)
            return
        except ValueError:
            found = []
        if not found:
            self._tell("in", "noise", text=excerpt(line, TEXT))
            self._noise.heard("the server's output has lines that are no message", excerpt(line))
        for message in found:
            of = self._open.get(str(message.get("id")))
            self._tell("in", "message", message=message, to=of and of.entry)
            self._deliver(message)

    def _deliver(self, message: Message) -> None:
        if is_server_request(message):
            self._noise.server_request(message)
        elif is_response(message):
            self._deliver_response(message)
        else:
            self._deliver_notification(message)

    def _deliver_response(self, message: Message) -> None:
        key = str(message.get("id"))
        exchange = self._open.get(key)
        if is_orphan_error(message) and len(self._open) == 1:
            exchange = next(iter(self._open.values()))  # it can be about nothing else
        if exchange is not None and not exchange.answered:
            exchange.answered = True
            if exchange.request.method not in _GREETINGS:
                self._in_vain = 0
            exchange.inbox.put_nowait(message)
        elif key in self._left:
            self._left.discard(key)
        else:
            self._noise.heard("the server answered a request that is not open: ignored")

    def _deliver_notification(self, message: Message) -> None:
        readers = [o for o in self._open.values() if o.wants(message)]
        if not readers:
            self._noise.heard("a notification belongs to no open request", message["method"])
        for exchange in readers:
            if exchange.inbox.qsize() < MAX_WAITING:
                exchange.inbox.put_nowait(message)
            else:
                self._noise.heard("notifications came faster than they were read: dropped")

    def _said(self, line: str) -> None:
        self._tell("in", "stderr", text=line[:TEXT])
        self._on_stderr(line)

    def _tell(self, direction: Literal["out", "in"], kind: str, **fields: Any) -> None:
        if self._trace is not None:
            self._trace(direction, kind, **fields)

    def _ended(self, how: str) -> None:
        pause = FIRST_PAUSE * 2 ** min(self._in_vain - 1, 16) if self._in_vain else 0.0
        self._again_at = self._clock.now() + min(pause, LONGEST_PAUSE)
        self._in_vain += 1
        self._last_end = how
        if not self._open:  # else each exchange tells of it
            self._tell("in", "fault", text=how[:TEXT])
        self._fail(lambda: Unreachable(how))

    def _fail(self, error: Callable[[], WireError]) -> None:
        for exchange in self._open.values():
            exchange.inbox.put_nowait(error())


def _meta(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    return meta if isinstance(meta, Mapping) else {}
