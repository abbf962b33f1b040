"""`list --refresh` and the load that it is for a server."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands import _refreshing


def test_eight_requests_at_most_are_under_way_for_one_server_a10_10(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    under_way: list[int] = []
    most = 0

    async def asked(_job: Any, found: Any, _session: Any) -> Any:
        nonlocal most
        under_way.append(found.number)
        most = max(most, len(under_way))
        await asyncio.sleep(0)  # everyone else's turn
        under_way.remove(found.number)
        done.append(found.number)
        return SimpleNamespace(outcome=SimpleNamespace(error=None))

    done: list[int] = []
    endpoint = SimpleNamespace(name="studio")
    tasks: list[Any] = [SimpleNamespace(number=n, endpoint=endpoint) for n in range(20)]
    job: Any = SimpleNamespace()
    sessions: Any = SimpleNamespace(to=lambda endpoint: None)
    monkeypatch.setattr(_refreshing, "asked", asked)
    asyncio.run(_refreshing._refresh(job, sessions, tasks))
    assert most == 8
    assert sorted(done) == list(range(20))
