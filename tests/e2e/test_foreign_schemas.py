"""The schemas of a server's tools: what they refer to is not fetched, what they promise is not enforced."""

import json
from typing import Any

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import TOOL, Scripted, now, result, tool_result

MODES = {
    "the arguments": {"inputSchema": {"type": "object", "properties": {"month": "$ref"}}},
    "all of them": {"inputSchema": {"type": "object", "allOf": ["$ref"]}},
    "the result": {"outputSchema": {"type": "object", "properties": {"moved": "$ref"}}},
}


@pytest.mark.parametrize("where", MODES)
def test_a_reference_to_another_document_is_not_fetched_a7_5_s16(
    on_server: Cli, server: Scripted, where: str
) -> None:
    ref = {"$ref": f"{server.url}/month.json"}
    changed = json.loads(json.dumps(MODES[where]).replace('"$ref"', json.dumps(ref)))
    server.on("tools/list", result(tools=[TOOL | changed], ttlMs=0))
    on_server("tools", "job")
    on_server("call", "job", "month=x")
    assert on_server("call", "job", "--no-validate", "month=x", "--wait").code == 0
    assert server.got("tools/call")
    assert server.got("GET") == []


@pytest.mark.parametrize("structured", [{"moved": "many"}, [], None, "none"])
def test_a_result_that_breaks_the_tools_own_schema_is_passed_on_a7_5(
    on_server: Cli, server: Scripted, structured: Any
) -> None:
    promised = {"type": "object", "properties": {"moved": {"type": "integer"}}}
    server.on("tools/list", result(tools=[TOOL | {"outputSchema": promised}], ttlMs=0))
    final = tool_result() | {"structuredContent": structured}
    server.on("tasks/get", now("completed", result=final))
    body = on_server("call", "job", "month=x", "--wait", "--json").document
    assert (body["exitCode"], body["result"]) == (0, final)
    assert len(server.got("tools/list")) == 1, "and nobody asks for it once more"
