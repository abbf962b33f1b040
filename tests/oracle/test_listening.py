"""That the judges hear what is sent, and that a test fails for it."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mcptask.env import Clock
from mcptask.protocol.exchange import Caller
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.memory import MemoryTransport
from tests.e2e.running import environment
from tests.oracle.listening import Heard
from tests.oracle.samples import GOOD

ROOT = Path(__file__).parents[2]
PARAMS = GOOD["get"]["params"]
HEADERS = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tasks/get", "Mcp-Name": "1"}


def sent(*requests: Request) -> None:
    async def all_of_them() -> None:
        caller = Caller(MemoryTransport(lambda request: {"result": {}}), "2026-07-28", Clock())
        for request in requests:
            await caller.answer(request)

    asyncio.run(all_of_them())


def a_get(
    number: int = 1, params: Mapping[str, Any] = PARAMS, headers: Mapping[str, str] = HEADERS
) -> Request:
    return Request(id=number, method="tasks/get", params=params, headers=headers)


def test_what_is_right_is_heard_and_passes_a2_1_a2_2(heard: Heard) -> None:
    sent(a_get(1), a_get(2))
    assert heard.sent == 2
    assert heard.faults == []


WRONG: dict[str, tuple[list[Request], str]] = {
    "a message": ([a_get(params={"taskId": "1"})], "params._meta: Field required"),
    "a header": ([a_get(headers=HEADERS | {"Mcp-Name": "2"})], "mcp-name is '2'"),
    "an id": ([a_get(1), a_get(1)], "the id 1 is used again (A2.6)"),
    "a header of the older wire": (
        [Request(1, "initialize", GOOD["initialize"]["params"], {"Mcp-Method": "initialize"})],
        "are not for the older wire",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_heard_in_this_process(name: str, heard: Heard) -> None:
    requests, told = WRONG[name]
    sent(*requests)
    (fault,) = heard.faults
    assert told in fault
    heard.faults.clear()  # it was meant


@pytest.mark.parametrize(("task_ids", "fault"), [(["1"], ""), ([], "taskIds")])
def test_a_subscription_is_heard_as_well_a11_2(
    task_ids: list[str], fault: str, heard: Heard
) -> None:
    async def subscribe() -> None:
        caller = Caller(MemoryTransport(lambda request: {"result": {}}), "2026-07-28", Clock())
        async for _ in caller.stream(V20260728().listen(task_ids)):
            pass

    asyncio.run(subscribe())
    assert heard.sent == 1
    assert len(heard.faults) == bool(fault)
    assert fault in "".join(heard.faults)
    heard.faults.clear()  # it was meant


def test_only_a_process_is_traced_and_not_where_it_must_run_as_a_user_runs_it(heard: Heard) -> None:
    assert "MCPTASK_TRACE" not in os.environ
    assert environment({})["MCPTASK_TRACE"] == str(heard.traced)
    assert "MCPTASK_TRACE" not in environment({}, traced=False)


INNER = """
from tests.conftest import *
from tests.oracle.test_listening import a_get, sent

def test_one_that_sends_what_it_may(): sent(a_get())
def test_one_that_does_not(): sent(a_get(params={"taskId": "1"}))
"""


def test_a_test_that_sends_what_no_client_may_fails(tmp_path: Path) -> None:
    inner = tmp_path / "test_inner.py"
    inner.write_text(INNER, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(inner)]
    ended = subprocess.run(
        [*command, "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1, ended.stdout
    assert "2 passed, 1 error" in ended.stdout
    assert "ERROR at teardown of test_one_that_does_not" in ended.stdout
    assert 'params._meta: Field required\n  in {"jsonrpc": "2.0", "id": 1' in ended.stdout
