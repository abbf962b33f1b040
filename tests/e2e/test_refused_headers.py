"""A server that refuses the headers of a call: the list is asked for anew, the call once more (A4.3)."""

import json
from typing import Any

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import ID, TOOL, Json, Scripted, created, dies, error, http, result

MISMATCH = -32020


def tools(*annotated: str, ttl: int = 60_000, kind: str = "string") -> Any:
    """A list whose `job` wants these arguments in headers as well."""
    properties: Json = {"month": {"type": kind}, "count": {"type": "integer"}}
    for name in annotated:
        properties[name] = properties[name] | {"x-mcp-header": name.title()}
    schema = TOOL["inputSchema"] | {"properties": properties}
    return result(tools=[TOOL | {"inputSchema": schema}], ttlMs=ttl, cacheScope="public")


def methods(server: Scripted) -> list[str]:
    return [got.method for got in server.requests]


@pytest.fixture
def stale(on_server: Cli, server: Scripted) -> Cli:
    """A list is kept that knows of no header; the server has changed its mind since."""
    server.on("tools/list", tools(), tools("month"))
    assert on_server("tools").code == 0
    server.requests.clear()
    return on_server


def test_a_stale_list_is_refreshed_and_the_call_goes_out_once_more_a4_3(
    stale: Cli, server: Scripted
) -> None:
    server.on("tools/call", error(MISMATCH, "Mcp-Param-Month is missing", 400), created())
    ran = stale("call", "job", "month=2026-09", "-v")
    assert (ran.code, ran.out) == (0, f"{ID}\n")
    assert methods(server) == ["tools/call", "tools/list", "tools/call"]
    first, second = server.got("tools/call")
    assert "mcp-param-month" not in first.headers
    assert second.headers["mcp-param-month"] == "2026-09"
    assert second.id not in (first.id, server.got("tools/list")[0].id)
    assert "refused the headers (Mcp-Param-Month is missing)" in ran.err
    assert stale("list", "--json").listed["calls"] == []


def test_the_list_that_was_fetched_is_kept_for_the_next_call_a7_4(
    stale: Cli, server: Scripted
) -> None:
    server.on("tools/call", error(MISMATCH, status=400), created())
    stale("call", "job", "month=x")
    server.requests.clear()
    assert stale("call", "job", "month=x").code == 0
    assert methods(server) == ["tools/call"]
    assert server.requests[0].headers["mcp-param-month"] == "x"


def test_arguments_are_typed_anew_by_the_new_list(on_server: Cli, server: Scripted) -> None:
    server.on("tools/list", tools(), tools("month", kind="integer"))
    on_server("tools")
    server.on("tools/call", error(MISMATCH, status=400), created())
    assert on_server("call", "job", "month=9").code == 0
    first, second = server.got("tools/call")
    assert first.params["arguments"] == {"month": "9"}
    assert second.params["arguments"] == {"month": 9}
    assert second.headers["mcp-param-month"] == "9"


def test_a_second_refusal_is_final_and_points_at_whatever_is_in_between_a4_3_s9(
    stale: Cli, server: Scripted
) -> None:
    server.on("tools/call", error(MISMATCH, "Mcp-Name differs", 400))
    ran = stale("call", "job", "month=x")
    assert ran.code == 4
    assert "Mcp-Name differs" in ran.err
    assert "something between here and there changes them" in ran.err
    assert len(server.got("tools/call")) == 2
    assert stale("list", "--json").listed["calls"] == []


@pytest.mark.parametrize("listing", [error(-32603), dies, http(500)], ids=["error", "lost", "busy"])
def test_where_the_list_cannot_be_had_the_refusal_stands_a4_3(
    on_server: Cli, server: Scripted, listing: Any
) -> None:
    server.on("tools/list", tools(), listing)
    on_server("tools")
    server.on("tools/call", error(MISMATCH, "Mcp-Param-Month is missing", 400))
    ran = on_server("call", "job", "month=x")
    assert ran.code == 4
    assert "Mcp-Param-Month is missing" in ran.err
    assert "not known" not in ran.err
    assert len(server.got("tools/call")) == 1
    assert on_server("list", "--json").listed["calls"] == []


def test_a_tool_that_is_gone_from_the_new_list_is_told_so(on_server: Cli, server: Scripted) -> None:
    server.on("tools/list", tools(), result(tools=[], ttlMs=0))
    on_server("tools")
    server.on("tools/call", error(MISMATCH, status=400))
    ran = on_server("call", "job", "month=x")
    assert ran.code == 2
    assert 'no tool "job"' in ran.err


def test_any_other_refusal_is_not_answered_with_another_call_a4_5(
    stale: Cli, server: Scripted
) -> None:
    server.on("tools/call", error(-32602, "no such month", 400))
    assert stale("call", "job", "month=x").code == 4
    assert methods(server) == ["tools/call"]


# ── tools that must not be called ────────────────────────────────────────────────────────────────

BROKEN = TOOL | {
    "name": "broken",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "string", "x-mcp-header": "not a token"}},
    },
}


def test_a_tool_with_a_broken_annotation_is_left_out_with_a_warning_that_says_why_a7_2_s13(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/list", result(tools=[TOOL, BROKEN]))
    ran = on_server("tools", "--json")
    body = json.loads(ran.out)
    assert [tool["name"] for tool in body["tools"]] == ["job"]
    (warning,) = body["warnings"]
    assert "broken" in warning
    assert "no header name: 'not a token'" in warning
    ran = on_server("call", "job", "month=x")
    assert ran.code == 0
    assert "one tool is left out" in ran.err


def test_calling_it_says_why_it_must_not_be_called_a7_2_s13(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/list", result(tools=[TOOL, BROKEN]))
    ran = on_server("call", "broken", "a=x")
    assert ran.code == 2
    assert 'the tool "broken"' in ran.err
    assert "no header name" in ran.err
    assert server.got("tools/call") == []
