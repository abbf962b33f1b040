"""The headers of Streamable HTTP against the body, value by value."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.demo.catalog import TOOLS
from mcptask.demo.headers import check_headers
from mcptask.demo.jobs import Tool, table
from mcptask.demo.jsonrpc import Json, RpcError
from tests.demo.wire import request

NESTED: Json = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "x-mcp-header": "Text"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "sure": {"type": "boolean", "x-mcp-header": "Sure"},
        "deep": {
            "type": "object",
            "properties": {"er": {"type": "string", "x-mcp-header": "Deeper"}},
        },
        "plain": {"type": "string"},
    },
}
TOOL = table(Tool("tool", "", "", NESTED))


def encoded(value: str) -> str:
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def call(arguments: Json, **headers: str) -> None:
    """Checks a call of the tool with the right standard headers and these `Mcp-Param-*`."""
    standard = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "tool",
    }
    custom = {f"mcp-param-{name}": value for name, value in headers.items()}
    check_headers(standard | custom, request("tools/call", name="tool", arguments=arguments), TOOL)


def refused(arguments: Json, **headers: str) -> str:
    with pytest.raises(RpcError) as caught:
        call(arguments, **headers)
    assert caught.value.code == -32020
    return caught.value.message


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"text": None, "count": None}, {}),
        ({"plain": "x"}, {}),
        ({"text": "us-west1"}, {"text": "us-west1"}),
        ({"text": "us-west1"}, {"text": encoded("us-west1")}),
        ({"text": ""}, {"text": ""}),
        ({"text": "Hello, 世界"}, {"text": encoded("Hello, 世界")}),
        ({"text": " padded "}, {"text": encoded(" padded ")}),
        ({"text": "=?base64?literal?="}, {"text": encoded("=?base64?literal?=")}),
        ({"text": "=?BASE64?QQ==?="}, {"text": "=?BASE64?QQ==?="}),
        ({"count": 42}, {"count": "42"}),
        ({"count": 42}, {"count": "42.0"}),
        ({"count": 42.0}, {"count": "42"}),
        ({"count": 42}, {"count": encoded("42")}),
        ({"count": 2**53 - 1}, {"count": "9007199254740991"}),
        ({"count": -7}, {"count": "-7"}),
        ({"sure": True}, {"sure": "true"}),
        ({"sure": False}, {"sure": "false"}),
        ({"deep": {"er": "x"}}, {"deeper": "x"}),
        ({"deep": {}}, {}),
        ({}, {"unknown": "is none of ours"}),
    ],
)
def test_a_right_header_passes(arguments: Json, headers: dict[str, str]) -> None:
    call(arguments, **headers)


@pytest.mark.parametrize(
    ("arguments", "headers", "name"),
    [
        ({"text": "a"}, {}, "Mcp-Param-Text is missing"),
        ({"text": "a"}, {"text": "b"}, "Mcp-Param-Text says 'b', the body 'a'"),
        ({"text": "a"}, {"text": "A"}, "Mcp-Param-Text"),
        ({"text": "é"}, {"text": "é"}, "Mcp-Param-Text has characters"),
        ({"text": "a"}, {"text": "=?base64?*?="}, "Mcp-Param-Text is not base64"),
        ({"text": "a"}, {"text": "=?base64?YQ?="}, "Mcp-Param-Text is not base64"),
        ({"text": "a"}, {"text": "=?base64?/w==?="}, "Mcp-Param-Text is not base64 of UTF-8"),
        ({"text": "a"}, {"text": "a, a"}, "Mcp-Param-Text"),
        ({"count": 42}, {"count": "43"}, "Mcp-Param-Count"),
        ({"count": 42}, {"count": "4_2"}, "Mcp-Param-Count"),
        ({"count": 42}, {"count": "nan"}, "Mcp-Param-Count"),
        ({"count": 42}, {"count": "42.5"}, "Mcp-Param-Count"),
        ({"count": 42}, {"count": "4" * 5000}, "Mcp-Param-Count"),
        ({"count": 42}, {"count": encoded("٤٢")}, "Mcp-Param-Count"),
        ({"sure": True}, {"sure": "True"}, "Mcp-Param-Sure"),
        ({"sure": True}, {"sure": "1"}, "Mcp-Param-Sure"),
        ({"deep": {"er": "x"}}, {}, "Mcp-Param-Deeper is missing"),
        ({}, {"text": "a"}, "Mcp-Param-Text is sent, and the body has no 'text'"),
        ({"text": None}, {"text": "null"}, "Mcp-Param-Text is sent"),
    ],
)
def test_a_wrong_header_is_refused_by_name(
    arguments: Json, headers: dict[str, str], name: str
) -> None:
    assert name in refused(arguments, **headers)


@given(st.text())
def test_any_text_passes_encoded(text: str) -> None:
    call({"text": text}, text=encoded(text)) if text.isprintable() else None


STANDARD = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tasks/get", "mcp-name": "id"}
GET = request("tasks/get", taskId="id")


@pytest.mark.parametrize("lacking", STANDARD)
def test_each_standard_header_is_demanded(lacking: str) -> None:
    headers = {name: value for name, value in STANDARD.items() if name != lacking}
    with pytest.raises(RpcError) as caught:
        check_headers(headers, GET, TOOLS)
    assert caught.value.code == -32020
    assert caught.value.data["header"].lower() == lacking


@pytest.mark.parametrize(
    ("method", "params", "name"),
    [
        ("tools/call", {"name": "quick"}, "quick"),
        ("tasks/get", {"taskId": "a b"}, "a b"),
        ("tasks/update", {"taskId": "é"}, encoded("é")),
        ("tasks/cancel", {"taskId": "x"}, encoded("x")),
        ("prompts/get", {"name": "p"}, "p"),
        ("resources/read", {"uri": "file:///x"}, "file:///x"),
    ],
)
def test_the_name_is_that_of_the_method(method: str, params: Json, name: str) -> None:
    headers = STANDARD | {"mcp-method": method}
    body: Any = request(method, **params)
    check_headers(headers | {"mcp-name": name}, body, TOOLS)
    with pytest.raises(RpcError, match="Mcp-Name says"):
        check_headers(headers | {"mcp-name": "other"}, body, TOOLS)


def test_the_method_is_compared_as_it_is_written() -> None:
    with pytest.raises(RpcError, match="Mcp-Method says 'Tasks/Get'"):
        check_headers(STANDARD | {"mcp-method": "Tasks/Get"}, GET, TOOLS)


def test_two_versions_are_a_mismatch_and_one_unknown_version_is_unsupported() -> None:
    other = STANDARD | {"mcp-protocol-version": "2025-11-25"}
    with pytest.raises(RpcError, match="MCP-Protocol-Version says") as caught:
        check_headers(other, GET, TOOLS)
    assert caught.value.code == -32020
    with pytest.raises(RpcError) as caught:
        check_headers(other, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, TOOLS)
    assert caught.value.code == -32022
