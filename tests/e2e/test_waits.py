"""How long a server may take for what; and programs that are silent, slow or dead."""

import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.env import Clock
from mcptask.protocol.transports.process import Child
from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import (
    ID,
    Scripted,
    created,
    held,
)


def eras() -> list[Path]:
    return list((Path(os.environ["XDG_CACHE_HOME"]) / "mcptask" / "eras").glob("*"))


Program = Callable[..., tuple[Callable[..., Ran], Callable[[], list[str]]]]

# ── stdio ────────────────────────────────────────────────────────────────────────────────────────

SERVER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    with open({log!r}, "a") as log:
        log.write(asked["method"] + "\\n")
    answer = {{"jsonrpc": "2.0", "id": asked["id"]}}
    {rule}
    print(json.dumps(answer), flush=True)
"""
SILENT = """
    if asked["method"] != "initialize":
        continue
    answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {}}
"""
DIES_ONCE = """
    if asked["method"] == "tasks/get" and not os.path.exists(sys.argv[1]):
        open(sys.argv[1], "w").close()
        os._exit(3)
    answer["result"] = {
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "status": "working",
        "taskId": asked["params"].get("taskId"),
    }
"""


SILENT_LATER = """
    if os.path.exists(sys.argv[1]):
        continue
    tool = {"name": "job", "inputSchema": {"type": "object"}}
    answer["result"] = {"supportedVersions": ["2026-07-28"], "tools": [tool], "ttlMs": 60000}
"""


@pytest.fixture
def program(cli: Cli, tmp_path: Path) -> Program:
    """A configured program that follows a rule: how to run mcptask on it, and what it was asked."""

    def make(rule: str, keys: str = "") -> tuple[Callable[..., Ran], Callable[[], list[str]]]:
        log = tmp_path / "asked"
        script = tmp_path / "server.py"
        script.write_text(SERVER.format(log=str(log), rule=rule.strip()))
        words = [sys.executable, str(script), str(tmp_path / "died")]
        cli.configure(f"[servers.local]\ncommand = {json.dumps(words)}\n{keys}")

        def asked() -> list[str]:
            lines = log.read_text().splitlines()
            log.unlink()
            return lines

        return (lambda *argv: cli(*argv, clock=Clock())), asked

    return make


def test_a_silent_program_is_named_without_delay_and_remembered_as_silent_a1_3(
    program: Program,
) -> None:
    run, asked = program(SILENT, 'probe_timeout = "300ms"\n')
    ran = run("tools", "-v")
    assert ran.code == 9
    assert "the server speaks MCP 2025-06-18" in ran.err
    assert "did not answer server/discover" in ran.err
    assert asked() == ["server/discover", "initialize"]
    (file,) = eras()
    assert json.loads(file.read_text())["silent"] is True
    assert "(remembered from " in run("tools", "-v").err


def test_a_program_that_died_is_greeted_anew_before_the_next_request_a6_7(
    program: Program,
) -> None:
    run, asked = program(DIES_ONCE)
    assert run("get", ID, "-s", "local").code == 0
    assert asked() == ["server/discover", "tasks/get"] * 2


def test_a_call_that_was_not_sent_yet_is_not_one_of_unknown_outcome_a4_5(
    program: Program, tmp_path: Path
) -> None:
    run, asked = program(SILENT_LATER)
    assert run("tools").code == 0
    (tmp_path / "died").touch()
    ran = run("call", "job", "--timeout", "300ms")
    assert ran.code == 124
    assert "not known" not in ran.err
    assert json.loads(run("list", "--json").out)["calls"] == []
    assert "tools/call" not in asked()


# ── waits ────────────────────────────────────────────────────────────────────────────────────────


def on(cli: Cli, server: Scripted, keys: str) -> None:
    cli.configure(f'[servers.studio]\nurl = "{server.url}"\n{keys}\n')


def test_the_silence_before_an_answer_is_bounded_by_the_config_a5_8(
    cli: Cli, server: Scripted, gate: threading.Event
) -> None:
    on(cli, server, 'timeout = "200ms"')
    server.on("tools/list", held(gate, created()))
    ran = cli("tools")
    assert (ran.code, "no answer within 0.2 s" in ran.err) == (7, True)


def test_a_whole_answer_is_bounded_by_the_config_however_busy_its_stream_is_a5_8(
    cli: Cli, server: Scripted, gate: threading.Event
) -> None:
    def chatters(handler, got) -> None:  # type: ignore[no-untyped-def]
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        try:
            while not gate.wait(0.02):
                handler.wfile.write(b": still there\n\n")
        except OSError:
            handler.close_connection = True

    on(cli, server, 'answer_timeout = "300ms"')
    server.on("tools/call", chatters)
    ran = cli("call", "job", "month=x")
    assert (ran.code, "no complete answer within 0.3 s" in ran.err) == (7, True)
    assert "not known" in ran.err


def test_the_time_to_connect_is_bounded_by_the_config_a5_8(cli: Cli) -> None:
    """A listener that accepts nobody: the system drops whoever comes after the first few."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        waiting = [socket.socket() for _ in range(8)]
        try:
            for each in waiting:
                each.setblocking(False)
                each.connect_ex(address)
            url = f"http://127.0.0.1:{address[1]}/mcp"
            cli.configure(f'[servers.full]\nurl = "{url}"\nconnect_timeout = "200ms"\n')
            ran = cli("tools")
        finally:
            for each in waiting:
                each.close()
    assert (ran.code, "no connection within 0.2 s" in ran.err) == (7, True)


@pytest.mark.parametrize(("keys", "seconds"), [("", 2.0), ('stop_timeout = "100ms"\n', 0.1)])
def test_the_end_of_a_program_is_bounded_by_the_config_a5_8(
    program: Program, monkeypatch: pytest.MonkeyPatch, keys: str, seconds: float
) -> None:
    given, stop = [], Child.stop

    async def noted(child: Child, grace: float) -> None:
        given.append(grace)
        await stop(child, grace)

    monkeypatch.setattr(Child, "stop", noted)
    run, _ = program(SILENT, keys + 'probe_timeout = "100ms"\n')
    run("tools")
    assert given == [seconds]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('url = "http://x/"\nprobe_timeout = "1s"', "'probe_timeout': only with 'command'"),
        ('url = "http://x/"\nstop_timeout = "1s"', "'stop_timeout': only with 'command'"),
        ('command = "x"\nconnect_timeout = "1s"', "'connect_timeout': only with 'url'"),
        ('url = "http://x/"\nanswer_timeout = "0"', "'answer_timeout' must be a duration"),
        ('url = "http://x/"\nconnect_timeout = 0', "'connect_timeout' must be a duration"),
        ('url = "http://x/"\nprotocol = 2026', "'protocol' must be text"),
    ],
)
def test_a_wait_that_is_none_or_out_of_place_is_refused(cli: Cli, keys: str, said: str) -> None:
    cli.configure(f"[servers.studio]\n{keys}\n")
    ran = cli("tools")
    assert (ran.code, said in ran.err) == (2, True)
