"""`--dry-run`: exactly what would be sent, and nothing is."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli
from tests.e2e.scripted import ID, TOOL, Scripted, asking, completed, now, question, result

STUDIO_TOOL = {
    **TOOL,
    "inputSchema": {
        "type": "object",
        "properties": {
            "month": {"type": "string", "x-mcp-header": "Month"},
            "closed": {"type": "integer"},
        },
        "required": ["month"],
    },
}
TO_OPEN = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Log in.", "url": "https://login.example/"},
}
LISTED = result(tools=[STUDIO_TOOL], ttlMs=600_000, cacheScope="public")


@pytest.fixture
def studio(on_server: Cli, server: Scripted) -> Cli:
    """A server that lets its list of tools be kept."""
    server.on("tools/list", LISTED)
    return on_server


def files(cli: Cli) -> dict[Path, bytes]:
    roots = (cli.cwd, Path(cli.state.anchor, *cli.state.parts[1:-4]))
    return {path: path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file()}


def rehearsed(cli: Cli, server: Scripted, *words: str, **more: Any) -> list[dict[str, Any]]:
    """The requests of a dry run that sends nothing and writes nothing."""
    before, sent = files(cli), len(server.requests)
    ran = cli(*words, "--dry-run", "--json", **more)
    assert (ran.code, len(server.requests), files(cli)) == (0, sent, before)
    body = ran.dry_run
    for request in body["requests"]:
        assert request["server"] == server.name
    found: list[dict[str, Any]] = body["requests"]
    return found


def check(told: list[dict[str, Any]], server: Scripted, sent: int) -> None:
    """Each request that was told is the one that came afterwards, byte for byte."""
    for request, got in zip(told, server.requests[sent:], strict=False):
        assert request["message"] == json.loads(got.body)
        assert json.dumps(request["message"], separators=(",", ":")).encode() == got.body
        assert request["headers"] == {name.lower(): value for name, value in got.headers.items()}
    assert len(server.requests) >= sent + len(told)


def methods(told: list[dict[str, Any]]) -> list[str]:
    return [request["message"]["method"] for request in told]


@pytest.mark.parametrize(
    ("prepared", "words", "sends"),
    [
        (["tools"], ["call", "job", "month=2026-09", "closed=3"], ["tools/call"]),
        (["call job month=1"], ["cancel", "1"], ["tasks/cancel"]),
        (["call job month=1"], ["cancel", ID], ["tasks/cancel"]),
        (
            ["call job month=1"],
            ["update", "1", "--key", "approve", "action=keep"],
            ["tasks/get", "tasks/update"],
        ),
        (
            ["call job month=1"],
            ["update", "1", "--key", "approve", "--decline"],
            ["tasks/get", "tasks/update"],
        ),
        (
            ["call job month=1"],
            ["update", "1", "--key", "open", "--decline"],
            ["tasks/get", "tasks/update"],
        ),
        (
            ["call job month=1"],
            ["update", "1", "--responses", '{"approve": {"action": "cancel"}}'],
            ["tasks/get", "tasks/update"],
        ),
    ],
)
def test_a_dry_run_shows_what_the_real_run_sends_byte_for_byte_a2_6_a3_2(
    studio: Cli, server: Scripted, prepared: list[str], words: list[str], sends: list[str]
) -> None:
    server.on("tasks/get", asking(approve=question(), open=TO_OPEN))
    for line in prepared:
        studio(*line.split())
    told = rehearsed(studio, server, *words)
    assert methods(told) == sends
    sent = len(server.requests)
    studio(*words)
    check(told, server, sent)


def test_without_a_kept_list_the_real_run_asks_for_it_first_and_so_says_the_dry_one_a7_4(
    on_server: Cli, server: Scripted
) -> None:
    told = rehearsed(on_server, server, "call", "job", "month=2026-09")
    assert methods(told) == ["tools/list", "tools/call"]
    on_server("call", "job", "month=2026-09")
    check(told, server, 0)


def test_arguments_are_typed_and_mirrored_in_headers_by_the_list_that_is_kept_a3_4(
    studio: Cli, server: Scripted
) -> None:
    studio("tools")
    (told,) = rehearsed(studio, server, "call", "job", "month=2026-09", "closed=3")
    assert told["message"]["params"]["arguments"] == {"month": "2026-09", "closed": 3}
    assert told["headers"]["mcp-param-month"] == "2026-09"
    refused = studio("call", "job", "closed=many", "--dry-run")
    assert (refused.code, refused.out) == (2, "")


def test_without_a_kept_list_arguments_go_as_typed_with_a_warning_how_to_get_one_a7_4(
    studio: Cli, server: Scripted
) -> None:
    ran = studio("call", "job", "month=1", "closed=3", "n:=4", "--dry-run", "--json")
    body = ran.dry_run
    message = body["requests"][-1]["message"]
    assert message["params"]["arguments"] == {"month": "1", "closed": "3", "n": 4}
    (warning,) = body["warnings"]
    assert f"mcptask tools -s {server.url}" in warning
    assert warning in ran.err
    assert server.requests == []


def test_answers_that_cannot_be_read_are_told_by_a_dry_run_too(
    studio: Cli, server: Scripted
) -> None:
    ran = studio("call", "job", "month=1", "--answers", "none.toml", "--dry-run")
    assert (ran.code, ran.out, server.requests) == (2, "", [])
    assert "none.toml" in ran.err


def test_a_task_that_is_over_would_not_be_cancelled_a13_2(studio: Cli, server: Scripted) -> None:
    server.on("tasks/get", completed())
    studio("call", "job", "month=1", "--wait")
    assert rehearsed(studio, server, "cancel", "1") == []
    ran = studio("cancel", "1", "--dry-run")
    assert (ran.out, ran.err) == ("", "Task 1 is over: completed.\nNothing would be sent.\n")


def test_several_tasks_of_a_server_are_cancelled_in_one_session(
    studio: Cli, server: Scripted
) -> None:
    studio("call", "job", "month=1")
    server.on("tasks/get", now("working"))
    told = rehearsed(studio, server, "cancel", "1", "tsk_another_id", "-s", server.url)
    assert [(t["message"]["id"], t["message"]["params"]["taskId"]) for t in told] == [
        (1, ID),
        (2, "tsk_another_id"),
    ]


def test_tasks_of_several_servers_name_their_own(
    cli: Cli, server: Scripted, tmp_path: Path
) -> None:
    server.on("tools/list", LISTED)
    demo = shlex.join([sys.executable, "-P", "-m", "mcptask.demo", "--store", str(tmp_path / "d")])
    cli("call", "job", "month=1", "-s", server.url)
    cli("call", "reflow_month", "month=2026-09", "--stdio", demo, clock=Clock())
    sent = len(server.requests)
    body = cli("cancel", "1", "2", "--dry-run", "--json").dry_run
    assert body["server"] is None
    told = [(r["transport"], r["message"]["method"]) for r in body["requests"]]
    assert told == [
        ("http", "tasks/cancel"),
        ("stdio", "server/discover"),
        ("stdio", "tasks/cancel"),
    ]
    assert len(server.requests) == sent


def test_over_stdio_no_child_is_started_and_the_probe_is_shown_first_a1_2(
    cli: Cli, tmp_path: Path
) -> None:
    ran = cli("call", "job", "a=1", "--stdio", f"touch {tmp_path}/started", "--dry-run")
    assert ran.code == 0
    assert not (tmp_path / "started").exists()
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert [line["method"] for line in lines] == ["server/discover", "tools/list", "tools/call"]
    assert [line["id"] for line in lines] == [1, 2, 3]


def test_secrets_are_masked_in_what_is_shown(studio: Cli, server: Scripted, tmp_path: Path) -> None:
    trace = tmp_path / "wire.jsonl"
    ran = studio(
        *("call", "job", "month=canary-1", "--dry-run", "--trace", str(trace)),
        *("-s", f"http://kai:canary-2@{server.name}/mcp?key=canary-3", "-H", "X-Note: canary-4"),
    )
    assert "canary-1" in ran.out
    assert not any(f"canary-{n}" in ran.out + ran.err for n in (2, 3, 4))
    head = ran.out.partition("\n\n")[0].splitlines()
    assert head[0] == f"POST http://{server.name}/mcp?key=***"
    assert {"authorization: ***", "x-note: ***"} < set(head)
    assert ran.err.endswith(f"Nothing was sent to {server.name} (http://{server.name}/mcp).\n")
    assert not trace.exists()


def test_a_plain_word_in_a_header_hides_nothing_but_itself(studio: Cli) -> None:
    studio("tools")
    words = ("call", "job", "month=1", "--dry-run", "--json", "-H", "X-Kind: protocol")
    (told,) = studio(*words).dry_run["requests"]
    assert told["headers"]["mcp-protocol-version"] == "2026-07-28"
    assert told["headers"]["x-kind"] == "***"
    meta = told["message"]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


def test_what_cannot_be_sent_is_refused_all_the_same_a3_6(studio: Cli, server: Scripted) -> None:
    big = {"type": "integer", "x-mcp-header": "N"}
    tool = {**TOOL, "inputSchema": {"type": "object", "properties": {"n": big}}}
    server.on("tools/list", result(tools=[tool], ttlMs=600_000, cacheScope="public"))
    studio("tools")
    ran = studio("call", "job", f"n={2**60}", "--dry-run")
    assert (ran.code, ran.out) == (2, "")


def test_as_json_lines_it_is_the_last_line_and_the_only_one(studio: Cli, server: Scripted) -> None:
    studio("tools")
    (event,) = studio("call", "job", "month=1", "--dry-run", "--jsonl").events
    assert event["document"]["outcome"] == "dry_run"


def test_a_state_file_that_is_not_there_is_not_made(studio: Cli) -> None:
    studio("call", "job", "month=1", "--dry-run")
    assert not studio.state.exists()


def test_a_server_out_of_reach_does_not_matter(cli: Cli) -> None:
    ran = cli("call", "job", "--dry-run", "-s", "http://127.0.0.1:9/mcp", "-q")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("POST http://127.0.0.1:9/mcp\n")


@pytest.mark.parametrize("odd", ["text", ["list"], 5, None])
def test_a_tool_without_a_proper_schema_is_shown_as_it_is_called_a7_2(
    on_server: Cli, server: Scripted, odd: Any
) -> None:
    server.on("tools/list", result(tools=[TOOL | {"inputSchema": odd}], ttlMs=600_000))
    assert on_server("tools").code == 0
    told = rehearsed(on_server, server, "call", "job", "month=x")
    assert on_server("call", "job", "month=x").code == 0
    assert told[-1]["message"]["params"] == server.got("tools/call")[-1].params
