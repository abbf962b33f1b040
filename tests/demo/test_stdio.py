"""The stdio front as real processes, killed ones too."""

import json
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from mcptask.demo.__main__ import default_store, main, parse
from tests.demo.process import ROOT, Stdio, end, spawn, stdio
from tests.demo.wire import NOTHING, request


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "demo.sqlite3"


def count(status: dict[str, str]) -> int:
    """96 of `Reflowing 96 of 142 bookings`; 0 where it does not say."""
    words = status.get("statusMessage", "").split()
    return int(words[1]) if words[:1] == ["Reflowing"] else 0


def test_a_killed_server_started_again_goes_on_where_the_job_was(store: Path) -> None:
    with stdio(store) as first:
        task_id = first.start("reflow_month", month="2026-09", seconds=2)
        reached = count(first.wait_for(task_id, lambda got: count(got) > 70))
        first.process.kill()
        first.process.wait()
    began = time.monotonic()
    with stdio(store) as second:
        got = second.get(task_id)
        assert got["status"] == "working"
        assert count(got) >= reached
        got = second.wait_for(task_id, lambda got: got["status"] == "completed")
    assert got["result"]["content"][0]["text"] == "moved 138, unresolved 4"
    # 2 s for the lease at most, and the rest of the work, not all of it again.
    assert time.monotonic() - began < 2.0 + 2 * (142 - reached) / 142 + 1.5


def test_a_living_server_takes_over_from_a_killed_one(store: Path) -> None:
    with stdio(store) as first, stdio(store) as second:
        task_id = first.start("reflow_month", month="2026-09", seconds=60)
        before = count(first.wait_for(task_id, lambda got: count(got) > 0))
        first.process.kill()
        began = time.monotonic()
        second.wait_for(task_id, lambda got: count(got) > before + 1)
        assert time.monotonic() - began < 4.0
        second.ask("tasks/cancel", taskId=task_id)
        second.wait_for(task_id, lambda got: got["status"] == "cancelled")


def test_what_another_process_does_is_pushed(store: Path) -> None:
    with stdio(store) as watching, stdio(store) as working:
        task_id = working.start("slow_echo", text="a", seconds=0.5)
        watching.send(
            request("subscriptions/listen", request_id="L", notifications={"taskIds": [task_id]})
        )
        assert watching.read()["params"]["notifications"] == {"taskIds": [task_id]}
        pushed = watching.read()
        while pushed["params"]["status"] != "completed":
            pushed = watching.read()
        assert pushed["params"]["result"]["content"][0]["text"] == "a"
        watching.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "L"}}
        )
        assert watching.ask("server/discover")["result"]


def test_a_call_that_waits_does_not_hold_up_the_others(store: Path) -> None:
    with stdio(store) as server:
        waiting = {"name": "slow_echo", "arguments": {"text": "a", "seconds": 0.4}}
        server.send(request("tools/call", NOTHING, "slow", **waiting))
        assert server.ask("server/discover")["result"]
        assert server.read()["id"] == "slow"


def test_odd_lines_are_answered_or_passed_over(store: Path) -> None:
    with stdio(store) as server:
        server.write(b"\n  \r\n")
        server.write(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
        server.write(b'{"jsonrpc":"2.0","method":"notifications/cancelled"}\n')
        server.write(
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}\n'
        )
        server.write(b"not json\n")
        unread = server.read()
        assert unread["error"]["code"] == -32700
        assert "id" not in unread
        server.write(b"[]\r\n")
        assert server.read()["error"]["code"] == -32600
        server.write(json.dumps(request("server/discover")).encode())  # no newline, then EOF
        assert server.process.stdin
        server.process.stdin.close()
        assert server.read()["result"]["supportedVersions"]
        server.process.stdin = None


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_at_once_and_quietly(store: Path, sent: signal.Signals) -> None:
    with stdio(store) as server:
        server.start("slow_echo", text="a", seconds=60)
        began = time.monotonic()
        server.process.send_signal(sent)
        assert server.process.wait(5) == 0
        assert time.monotonic() - began < 2.0
    connection = sqlite3.connect(store)
    assert connection.execute("SELECT count(*) FROM runners").fetchone() == (0,)
    connection.close()


def test_a_client_that_stops_reading_is_no_complaint(store: Path) -> None:
    server = Stdio(store)
    assert server.process.stdout
    server.process.stdout.close()
    server.process.stdout = None
    for _ in range(3):
        server.send(request("tools/list"))
    assert end(server.process) == (0, b"")


def test_the_way_to_the_first_answer_imports_nothing_heavy() -> None:
    script = (
        "import sys, mcptask.demo.__main__, mcptask.demo.stdio, mcptask.demo.methods;"
        "print(' '.join(sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {"typer", "rich", "pydantic", "httpx", "asyncio", "starlette", "jsonschema"}
    heavy |= {"dataclasses", "argparse", "platformdirs", "uvicorn", "hmac", "random"}
    assert not heavy & set(loaded)
    ours = {name for name in loaded if name.startswith("mcptask.")}
    assert {name.split(".")[1] for name in ours} == {"demo"}, "a test of the client, not its echo"


@pytest.mark.parametrize(
    "argv",
    [
        ["--port", "1"],
        ["--http"],
        ["--http", "127.0.0.1"],
        ["--http", "127.0.0.1:http"],
        ["--http=127.0.0.1:65536"],
        ["extra"],
    ],
)
def test_wrong_options_are_a_usage_error(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err.startswith("mcptask demo: ")


def test_help_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "--http HOST:PORT" in capsys.readouterr().out


def test_help_says_where_the_tasks_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--help"])
    assert str(default_store()) in capsys.readouterr().out


@pytest.mark.parametrize("terminal", [True, False])
def test_a_person_at_a_terminal_is_told_what_this_is(
    terminal: bool,
    home: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: terminal))
    monkeypatch.setattr("mcptask.demo.stdio.serve", lambda engine: None)
    assert main([]) == 0
    said = capsys.readouterr()
    assert ("mcptask demo --http" in said.err, said.out) == (terminal, "")


def test_options_are_read_in_both_spellings(tmp_path: Path) -> None:
    assert parse(["--http", "[::1]:0"]).http == ("::1", 0)
    assert parse(["--http=:8000"]).http == ("127.0.0.1", 8000)
    assert parse([f"--store={tmp_path}/x"]).store == tmp_path / "x"
    assert parse([]).store == default_store()


def test_the_store_is_in_the_state_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    assert default_store() == Path("/somewhere/mcptask/demo.sqlite3")
    monkeypatch.delenv("XDG_STATE_HOME")
    if sys.platform == "linux":
        assert default_store() == home / ".local/state/mcptask/demo.sqlite3"


@pytest.mark.parametrize("content", [b"not a database, but long enough to be looked at" * 20, None])
def test_a_store_that_cannot_be_used_is_one_line(store: Path, content: bytes | None) -> None:
    store.mkdir() if content is None else store.write_bytes(content)
    code, errors = end(spawn("--store", store))
    assert code == 2
    assert errors.startswith(f"mcptask demo: cannot use the store {store}: ".encode())
    assert errors.count(b"\n") == 1


def test_a_line_may_come_in_pieces_and_many_in_one(store: Path) -> None:
    with stdio(store) as server:
        lines = b"".join(
            json.dumps(request("server/discover", request_id=index)).encode() + b"\r\n"
            for index in range(50)
        )
        middle = len(lines) // 2
        server.write(lines[:middle])
        time.sleep(0.05)
        server.write(lines[middle:])
        assert [server.read()["id"] for _ in range(50)] == list(range(50))
