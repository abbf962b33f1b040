"""`list --refresh` and the load that it is for a server."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands import _refreshing
from mcptask.env import Clock
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.session import Session
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.memory import MemoryTransport


def test_eight_requests_at_most_are_under_way_for_one_server_a10_10(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    under_way: list[str] = []
    most = 0

    def answer(request: Request) -> Iterator[Any]:
        nonlocal most
        number = request.params["taskId"]
        under_way.append(number)
        most = max(most, len(under_way))
        yield asyncio.sleep(0)  # everyone else's turn
        under_way.remove(number)
        yield {"result": {"taskId": number, "status": "working"}}

    async def asked(_job: Any, found: Any, session: Session) -> Any:
        await session.get(str(found.number))
        done.append(found.number)
        return SimpleNamespace(outcome=SimpleNamespace(error=None))

    done: list[int] = []
    endpoint = SimpleNamespace(name="studio")
    tasks: list[Any] = [SimpleNamespace(number=n, endpoint=endpoint) for n in range(20)]
    job: Any = SimpleNamespace()
    session = Session(MemoryTransport(answer), V20260728(), clock=Clock(), forced=True)
    sessions: Any = SimpleNamespace(to=lambda endpoint: session)
    monkeypatch.setattr(_refreshing, "asked", asked)
    asyncio.run(_refreshing._refresh(job, sessions, tasks))
    assert most == 8
    assert sorted(done) == list(range(20))
