"""Which revision a server speaks, and what is remembered of it from one command to the next."""

import json
import os
import re
import stat
from pathlib import Path

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    VERSION,
    WELL_BEHAVED,
    Scripted,
    error,
    http,
    result,
)

OLD = result(protocolVersion="2025-06-18", capabilities={})
UNKNOWN = error(-32601, "Method not found", 404)
DAY = 86_400.0


def speaks_old(server: Scripted) -> None:
    server.always(UNKNOWN)
    server.on("initialize", OLD)


def speaks_new(server: Scripted) -> None:
    for method, reply in WELL_BEHAVED.items():
        server.on(method, reply)


def methods(server: Scripted) -> list[str]:
    """What was asked since the last time."""
    asked = [got.method for got in server.requests]
    server.requests.clear()
    return asked


def eras() -> list[Path]:
    return list((Path(os.environ["XDG_CACHE_HOME"]) / "mcptask" / "eras").glob("*"))


def test_verbose_says_what_a_server_speaks_how_that_is_known_and_since_when_a1_5(
    on_server: Cli, server: Scripted
) -> None:
    first = on_server("tools", "-v")
    assert f"{server.name} speaks MCP 2026-07-28: it answered tools/list\n" in first.err
    second = on_server("tools", "-v")
    said = r" speaks MCP 2026-07-28: it answered tools/list \(remembered from \d{4}-\d\d-\d\d \d\d:\d\d\)\n"
    assert re.search(said, second.err)
    assert second.err.count("speaks MCP") == 1
    assert "speaks MCP" not in on_server("tools").err
    (file,) = eras()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert server.name not in file.read_text()


def test_an_older_server_is_asked_first_the_next_time_for_a_day_a1_5(
    on_server: Cli, server: Scripted
) -> None:
    speaks_old(server)
    told = on_server("call", "job", "month=x", "-v")
    assert told.code == 9
    assert "speaks MCP 2025-06-18: it answered initialize, and refused server/discover" in told.err
    assert methods(server) == ["tools/list", "server/discover", "initialize"]
    again = on_server("call", "job", "month=x", "-v")
    assert again.code == 9
    assert "(remembered from " in again.err
    assert methods(server) == ["server/discover", "initialize"]
    on_server.time._ahead += DAY
    assert on_server("call", "job", "month=x").code == 9
    assert methods(server) == ["tools/list", "server/discover", "initialize"]


def test_a_server_of_http_and_sse_is_named_and_remembered_a1_3(
    on_server: Cli, server: Scripted
) -> None:
    server.always(http(405))
    server.on("GET", http(200, "event: endpoint\ndata: /messages?id=1\n\n", "text/event-stream"))
    ran = on_server("tools", "-v")
    assert ran.code == 9
    assert "the server speaks MCP 2024-11-05" in ran.err
    assert "its endpoint is one of HTTP+SSE" in ran.err
    assert methods(server) == ["tools/list", "server/discover", "initialize", "GET"]
    assert "its endpoint is one of HTTP+SSE (remembered from " in on_server("tools", "-v").err


def test_a_server_that_is_upgraded_is_used_at_once_a1_5(on_server: Cli, server: Scripted) -> None:
    speaks_old(server)
    on_server("tools")
    speaks_new(server)
    methods(server)
    ran = on_server("tools", "-v")
    assert ran.code == 0
    assert "speaks MCP 2025-06-18: " in ran.err
    assert "speaks MCP 2026-07-28: it answered server/discover\n" in ran.err
    assert methods(server) == ["server/discover", "tools/list"]
    on_server("tools")
    assert methods(server) == ["tools/list"]


def test_a_server_that_is_downgraded_is_noticed_and_remembered_so_a1_5(
    on_server: Cli, server: Scripted
) -> None:
    on_server("tools")
    speaks_old(server)
    methods(server)
    assert on_server("tools").code == 9
    assert methods(server) == ["tools/list", "server/discover", "initialize"]
    assert on_server("tools").code == 9
    assert methods(server) == ["server/discover", "initialize"]


def test_a_wrong_memory_costs_one_probe_and_no_wrong_answer_a1_5(
    on_server: Cli, server: Scripted
) -> None:
    """The server is as modern as remembered; it is the task's own path that is broken."""
    on_server("call", "job", "month=x")
    server.on("tasks/get", http(404, "<h1>Not here</h1>"))
    methods(server)
    assert on_server("get", "1").code == 9
    assert methods(server) == ["tasks/get", "server/discover"]


def test_a_stored_task_is_a_memory_too_a1_5(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    for file in eras():
        file.unlink()
    server.on("tasks/get", error(-32602, "unknown task"))
    methods(server)
    ran = on_server("get", "1", "-v")
    assert ran.code == 6
    assert "speaks MCP 2026-07-28: a stored task says so\n" in ran.err
    assert methods(server) == ["tasks/get"]


def test_another_server_at_the_same_host_is_another_server_a1_5(
    on_server: Cli, server: Scripted
) -> None:
    on_server("tools")
    on_server("tools", "-s", server.url + "/other")
    on_server("tools", "-s", server.url + "?key=1")
    assert len(eras()) == 3


def test_what_is_kept_is_renewed_once_an_hour_a1_5(on_server: Cli, server: Scripted) -> None:
    on_server("tools")
    (file,) = eras()
    written = file.read_text()
    on_server("call", "job", "month=x", "--wait")
    assert file.read_text() == written
    on_server.time._ahead += 3600
    on_server("tools")
    assert json.loads(file.read_text())["checkedAt"] > json.loads(written)["checkedAt"]


# ── --protocol ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("by_option", [True, False])
def test_a_revision_that_is_named_is_spoken_without_a_question_a1_5(
    cli: Cli, server: Scripted, by_option: bool
) -> None:
    key = "" if by_option else f'protocol = "{VERSION}"\n'
    cli.configure(f'[servers.studio]\nurl = "{server.url}"\n{key}')
    server.always(UNKNOWN)
    option = ["--protocol", VERSION] if by_option else []
    ran = cli("tools", "-v", *option)
    assert ran.code == 9
    where = "--protocol" if by_option else "the config of studio"
    assert f"studio is taken to speak MCP 2026-07-28: {where} says so\n" in ran.err
    assert methods(server) == ["tools/list"]
    assert eras() == []


@pytest.mark.parametrize("by_option", [True, False])
def test_a_revision_that_mcptask_does_not_speak_is_refused_with_those_that_it_does(
    cli: Cli, server: Scripted, by_option: bool
) -> None:
    key = "" if by_option else 'protocol = "2025-11-25"\n'
    cli.configure(f'[servers.studio]\nurl = "{server.url}"\n{key}')
    option = ["--protocol", "2025-11-25"] if by_option else []
    for command in (["tools"], ["call", "job", "month=x"], ["get", ID, "-s", "studio"]):
        ran = cli(*command, *option)
        assert ran.code == 2
        assert "mcptask does not speak MCP 2025-11-25" in ran.err
        assert "it speaks 2026-07-28" in ran.err
    assert server.requests == []


def test_the_option_outranks_the_config(cli: Cli, server: Scripted) -> None:
    cli.configure(f'[servers.studio]\nurl = "{server.url}"\nprotocol = "2025-11-25"\n')
    assert cli("tools", "--protocol", VERSION).code == 0
