"""Servers that are down, slow, old or broken: a plain message, the right exit code, nothing lost."""

import threading

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    Json,
    Reply,
    Scripted,
    completed,
    created,
    dies,
    error,
    held,
    http,
    result,
    scripted,
    task,
)

PAGE = http(404, "<!doctype html><title>Not found</title>")
OLD_ANSWER = result(protocolVersion="2025-11-25", capabilities={}, serverInfo={"name": "old"})
OLD_SERVERS: dict[str, tuple[Reply, Reply]] = {
    # What it answers to all that it does not know, and to `initialize`.
    "a refusal with no id": (error(-32000, "Bad Request: no session", 400, id=None), OLD_ANSWER),
    "a refusal with an id of its own": (error(-32600, "Bad", 400, id="server-error"), OLD_ANSWER),
    "an empty 400": (http(400), OLD_ANSWER),
    "unknown method": (error(-32601, "Method not found"), OLD_ANSWER),
    "unknown method with 404": (error(-32601, "Method not found", 404), OLD_ANSWER),
    "405": (http(405), OLD_ANSWER),
    "another version is needed": (
        error(-32022, "Unsupported", 400, data={"supported": ["2025-11-25"]}),
        OLD_ANSWER,
    ),
}


@pytest.mark.parametrize("name", OLD_SERVERS)
@pytest.mark.parametrize("command", ["call job month=x", "tools"])
def test_a_server_of_an_older_generation_is_told_apart(
    on_server: Cli, server: Scripted, name: str, command: str
) -> None:
    """A1.3"""
    refusal, initialized = OLD_SERVERS[name]
    server.always(refusal)
    server.on("initialize", initialized)
    ran = on_server(*command.split())
    assert ran.code == 9
    assert "the server speaks MCP 2025-11-25" in ran.err
    assert "2026-07-28" in ran.err
    assert server.got("tools/call") == []
    assert on_server(*command.split(), "--json").document["error"]["kind"] == "protocol"


@pytest.mark.parametrize(
    ("reply", "code", "said"),
    [
        (PAGE, 9, "404"),
        (http(200, "<!doctype html><h1>Welcome</h1>"), 9, "text/html"),
        (http(200, "{", "application/json"), 9, "not an MCP answer"),
        (http(200, "[]", "application/json"), 9, "no response"),
        (http(202), 9, "202"),
        (http(500, "oops"), 7, "500"),
        (http(301, Location="http://elsewhere.example/mcp"), 9, "elsewhere.example"),
        (dies, 7, "connection lost"),
    ],
)
def test_what_is_no_mcp_server_is_said_plainly(
    on_server: Cli, server: Scripted, reply: Reply, code: int, said: str
) -> None:
    server.always(reply)
    ran = on_server("call", "job", "month=x")
    assert ran.code == code
    assert said in ran.err
    assert len(ran.err.splitlines()) <= 3
    assert on_server("list", "--json").listed == {"mcptask": 1, "tasks": [], "calls": []}


@pytest.mark.parametrize("reply", [dies, http(502), http(200, b"", "text/event-stream")])
def test_a_call_whose_answer_never_came_is_marked_and_never_sent_twice(
    on_server: Cli, server: Scripted, reply: Reply
) -> None:
    """A4.5"""
    server.on("tools/call", reply)
    ran = on_server("call", "job", "month=x", "--wait")
    assert ran.code == 7
    assert "not known" in ran.err
    assert "mcptask forget 1" in ran.err
    assert len(server.got("tools/call")) == 1
    (mark,) = on_server("list", "--json").listed["calls"]
    assert (mark["ref"], mark["tool"]) == (1, "job")
    assert "no answer" in on_server("list").out
    told = on_server("get", "1")
    assert told.code == 2
    assert "its answer never came" in told.err
    assert on_server("forget", "1").code == 0
    assert on_server("list", "--json").listed["calls"] == []


def test_a_server_that_starts_slowly_is_waited_for(on_server: Cli, server: Scripted) -> None:
    server.on("tools/list", http(503), http(503, Retry_After="2"), server._plan["tools/list"][0])
    assert on_server("call", "job", "month=x").code == 0


def test_a_slow_answer_is_waited_for_and_a_configured_limit_ends_it(
    cli: Cli, server: Scripted
) -> None:
    gate = threading.Event()
    server.on("tools/call", held(gate, created()))
    cli.configure(f'[servers.slow]\nurl = "{server.url}"\ntimeout = "0.3s"\n')
    try:
        ran = cli("call", "job", "month=x", "-s", "slow")
    finally:
        gate.set()
    assert ran.code == 7
    assert "no answer within 0.3 s" in ran.err
    assert len(cli("list", "--json").listed["calls"]) == 1


def test_a_task_is_never_lost_to_a_broken_description(on_server: Cli, server: Scripted) -> None:
    """A8.6: the id is what counts."""
    broken = {"status": None, "ttlMs": "soon", "pollIntervalMs": -5, "createdAt": 12}
    server.on("tools/call", result(**(task() | broken | {"resultType": "task"})))
    ran = on_server("call", "job", "month=x")
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert "warning: " in ran.err
    assert on_server("call", "job", "month=x", "--json").document["warnings"]


@pytest.mark.parametrize(
    "shape", [{"resultType": "complete", "task": task()}, {"resultType": "task", "task": task()}]
)
def test_the_nested_shape_of_published_examples_is_accepted(
    on_server: Cli, server: Scripted, shape: Json
) -> None:
    """A9, C2"""
    server.on("tools/call", result(**shape))
    nested = result(task=task("completed", result={"content": []}))
    server.on("tasks/get", nested)
    assert on_server("call", "job", "month=x", "--wait").code == 0


def test_an_answer_as_a_stream_with_noise_in_it_is_read(on_server: Cli, server: Scripted) -> None:
    """A5"""

    def stream(handler: object, got: object) -> None:
        body = '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[]}}'
        noise = ": ping\r\n\r\nid: 1\ndata:\n\nevent: ping\ndata: {}\n\ndata: no json\n\n"
        answer = f"{noise}data: {body % got.id}\n\n"  # type: ignore[attr-defined]
        http(200, answer, "text/event-stream")(handler, got)  # type: ignore[arg-type]

    server.on("tools/call", stream)
    ran = on_server("call", "job", "month=x", "--json")
    assert ran.document["outcome"] == "completed"


HOSTILE = "\x1b[2J\x1b]0;x\x07\x9b31m\u202e::error::x\r\n##[group]\x00"


@pytest.mark.parametrize("command", ["watch 1", "get 1", "list --refresh", "tools", "tools job"])
def test_the_words_of_a_server_cannot_drive_the_terminal_s17(
    on_server: Cli, server: Scripted, command: str
) -> None:
    tool = {"name": "job", "description": HOSTILE, "inputSchema": {"properties": {HOSTILE: {}}}}
    server.on("tools/list", result(tools=[tool]))
    on_server("call", "job", "--no-validate")
    said = {"statusMessage": HOSTILE, "error": {"code": 1, "message": HOSTILE}}
    server.on("tasks/get", result(**task("failed", **said)))
    ran = on_server(*command.split())
    for character in "\x1b\x07\x9b\u202e\r\x00":
        assert character not in ran.out + ran.err
    for line in (ran.out + ran.err).splitlines():
        assert not line.startswith(("::", "##["))


def test_a_result_for_a_pipe_is_passed_on_exactly(on_server: Cli, server: Scripted) -> None:
    text = "tab\tand \u202e and ünïcödé\n"
    server.on("tasks/get", completed(text=text))
    assert on_server("call", "job", "month=x", "--wait").out == text


def test_a_missing_header_for_an_annotated_argument_is_mended_once(
    on_server: Cli, server: Scripted
) -> None:
    """A3: `Mcp-Param-*` mirrors the arguments that the tool's schema marks."""
    schema = {
        "type": "object",
        "properties": {"owner": {"type": "string", "x-mcp-header": "Owner"}},
    }
    server.on("tools/list", result(tools=[{"name": "job", "inputSchema": schema}]))
    assert on_server("call", "job", "owner=octocat").code == 0
    (got,) = server.got("tools/call")
    assert got.headers["mcp-param-owner"] == "octocat"


def test_a_server_of_another_address_does_not_get_the_task(cli: Cli, server: Scripted) -> None:
    cli("call", "job", "month=x", "-s", server.url)
    with scripted() as other:
        assert cli("get", "1", MCPTASK_SERVER=other.url).code == 0
        assert other.requests == []
