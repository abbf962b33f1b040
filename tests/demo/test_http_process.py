"""The HTTP front as a process: how it starts, how it ends, and what becomes of open connections."""

import asyncio
import json
import os
import socket
import sqlite3
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from mcptask.demo.jsonrpc import META_SUBSCRIPTION
from tests.demo.process import COMMAND, ROOT, http
from tests.demo.wire import EVERYTHING, NOTHING, headers_for, request

pytest.importorskip("starlette")


def test_the_end_of_the_server_ends_an_open_stream_with_a_result(tmp_path: Path) -> None:
    message = request("subscriptions/listen", EVERYTHING, "L", notifications={})
    with ExitStack() as stack:
        client = stack.enter_context(httpx.Client(trust_env=False, timeout=15))
        with http(tmp_path / "store") as url:
            stream = client.stream("POST", url, json=message, headers=headers_for(message))
            lines = stack.enter_context(stream).iter_lines()
            assert "acknowledged" in next(lines)
        # The server was told to end while the stream was open, and it did end.
        last = [line for line in lines if line.startswith("data: ")][-1]
    ended = json.loads(last.removeprefix("data: "))
    assert ended["id"] == "L"
    assert ended["result"]["_meta"][META_SUBSCRIPTION] == "L"


def test_without_its_extra_http_is_a_clear_usage_error(tmp_path: Path) -> None:
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError(name='uvicorn')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [*COMMAND, "--http", "127.0.0.1:0", "--store", str(tmp_path / "store")],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "mcptask demo: --http needs uvicorn: pip install 'mcptask[demo]'\n"


def test_an_address_that_is_taken_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [*COMMAND, "--http", address, "--store", str(tmp_path / "store")],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr.startswith(f"mcptask demo: cannot listen on {address}: ")
    assert done.stderr.count("\n") == 1


def open_tasks(store: Path) -> int:
    connection = sqlite3.connect(store)
    try:
        return int(connection.execute("SELECT count(*) FROM tasks").fetchone()[0])
    finally:
        connection.close()


def test_closing_the_connection_of_a_call_that_waits_ends_the_work(tmp_path: Path) -> None:
    store = tmp_path / "store"
    arguments = {"text": "a", "seconds": 9}
    message = request("tools/call", NOTHING, name="slow_echo", arguments=arguments)
    with http(store) as url:
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(url, json=message, headers=headers_for(message), timeout=0.4)
        deadline = time.monotonic() + 5
        while open_tasks(store):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_silent_stream_is_kept_alive_and_its_end_cancels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from mcptask.demo import streamable_http

    monkeypatch.setattr(streamable_http, "KEEP_ALIVE_S", 0.01)
    cancelled: list[bool] = []

    async def listen() -> list[bytes]:
        events = streamable_http._events(
            asyncio.Queue(), {"method": "first"}, lambda: cancelled.append(True)
        )
        seen = [await anext(events) for _ in range(3)]
        await events.aclose()
        return seen

    seen = asyncio.run(listen())
    assert seen == [b'data: {"method":"first"}\n\n', b": still here\n\n", b": still here\n\n"]
    assert cancelled == [True]
