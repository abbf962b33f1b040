"""Sessions over servers that follow a script, for the tests of what is asked and what is made of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from mcptask.errors import (
    HttpRefused,
    McptaskError,
    Unreachable,
)
from mcptask.protocol.session import Session
from mcptask.protocol.transports.base import Request
from mcptask.protocol.verdict import Spoken
from tests.protocol.fakes import ID, RESULT, FakeClock, Peer, Whole, refused, session_with, wire

DISCOVERED = {
    "supportedVersions": ["2026-07-28", "2025-11-25"],
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "studio"},
}
OLDER = {"protocolVersion": "2025-06-18", "capabilities": {}}
UNKNOWN_METHOD = refused(-32601, "Method not found")
NOT_INITIALIZED = Whole(
    error={"code": -32000, "message": "Bad Request: Server not initialized"}, id=None
)
BUSY = Unreachable("busy")
NOT_FOUND = HttpRefused("HTTP 404", status=404)
OTHER_VERSION = refused(-32022, "no", {"supported": ["2026-07-28"]})

Doing = Callable[[Session], Coroutine[Any, Any, Any]]

DOINGS: dict[str, Doing] = {
    "discover": lambda session: session.discover(),
    "tools": lambda session: session.list_tools(),
    "call": lambda session: session.call("reflow", {"month": "2026-09"}, None),
    "get": lambda session: session.get(ID),
    "update": lambda session: session.update(ID, {"room": {"action": "decline"}}),
    "cancel": lambda session: session.cancel(ID),
}
DISCOVER, CALL, GET = DOINGS["discover"], DOINGS["call"], DOINGS["get"]
# What a modern server answers to each of them.
GOOD = dict(zip(DOINGS, [DISCOVERED, {"tools": []}, RESULT, wire(), {}, {}], strict=True))

MODERN = Spoken(version="2026-07-28", why="it answered tools/list")
WAS_OLDER = Spoken(version="2025-06-18", why="it answered initialize", older=True)


class Course:
    """What was found, or the exception; what was asked of the peer; what the session learned."""

    def __init__(
        self, doing: Doing, peer: Peer, *, time: FakeClock | None = None, **more: Any
    ) -> None:
        self.peer, self.learned, self.time = peer, list[Spoken](), time or FakeClock()
        self.found = asyncio.run(self._all_of_it(doing, more))

    async def _all_of_it(self, doing: Doing, more: dict[str, Any]) -> Any:
        session = session_with(
            self.peer, self.time, learned=self.learned.append, **({"forced": False} | more)
        )
        try:
            return await doing(session)
        except McptaskError as error:
            return error


def do(doing: Doing, answers: list[Any], **more: Any) -> tuple[Any, Peer]:
    course = Course(doing, Peer(answers), **more)
    return course.found, course.peer


class Script:
    """Answers by method, each list in turn, its last one for ever; an awaitable is made anew each time."""

    def __init__(self, **answers: Any) -> None:
        self._answers = {name.replace("_", "/"): list(value) for name, value in answers.items()}

    def __call__(self, request: Request) -> Any:
        turn = self._answers[request.method]
        answer = turn.pop(0) if len(turn) > 1 else turn[0]
        answer = answer() if callable(answer) else answer
        return {"result": answer} if type(answer) is dict else answer


def by_method(**answers: Any) -> Peer:
    peer = Peer([])
    script = Script(**answers)
    peer.transport._script = script
    return peer


def late(answer: Any, turns: int = 50) -> Callable[[], list[Any]]:
    """The answer after a while: as many turns of the event loop."""

    async def while_others_work() -> None:
        for _ in range(turns):
            await asyncio.sleep(0)

    whole = {"result": answer} if type(answer) is dict else answer
    return lambda: [while_others_work(), whole]


def never() -> list[Any]:
    return [asyncio.Event().wait()]
