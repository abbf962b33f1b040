"""The HTTP front: a real uvicorn, spoken to with httpx."""

import base64
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from mcptask.demo.jsonrpc import META_CAPABILITIES, META_VERSION, Json
from tests.demo.process import http
from tests.demo.wire import BASE, EVERYTHING, NOTHING, headers_for, request

pytest.importorskip("starlette")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with http(tmp_path_factory.mktemp("http") / "demo.sqlite3") as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url.removesuffix("/mcp"), trust_env=False, timeout=15) as client:
        yield client


def post(client: httpx.Client, message: Json, **more: str) -> httpx.Response:
    return client.post("/mcp", json=message, headers=headers_for(message, **more))


def ask(client: httpx.Client, method: str, **params: Any) -> httpx.Response:
    return post(client, request(method, **params))


def code_of(response: httpx.Response) -> int:
    assert response.headers["content-type"].startswith("application/json")
    code: int = response.json()["error"]["code"]
    return code


def start(client: httpx.Client, **arguments: Any) -> str:
    created = ask(client, "tools/call", name="slow_echo", arguments=arguments).json()["result"]
    return str(created["taskId"])


def test_a_task_from_call_to_result(client: httpx.Client) -> None:
    response = ask(client, "server/discover")
    assert response.status_code == 200
    assert response.json()["result"]["supportedVersions"] == ["2026-07-28"]
    assert "mcp-session-id" not in response.headers
    task_id = start(client, text="hé", seconds=0.2)
    deadline = time.monotonic() + 10
    while (got := ask(client, "tasks/get", taskId=task_id).json()["result"])["status"] == "working":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert got["result"]["content"][0]["text"] == "hé"


@pytest.mark.parametrize(
    ("method", "params", "status", "code"),
    [
        ("ping", {}, 404, -32601),
        ("tasks/list", {}, 404, -32601),
        ("tasks/get", {"taskId": "nope"}, 400, -32602),
        ("tools/call", {"name": "nope"}, 400, -32602),
        ("tools/list", {"cursor": "nope"}, 400, -32602),
        ("tools/call", {"name": "stubborn", "_meta": "NOTHING"}, 400, -32021),
        ("tools/list", {"_meta": {}}, 400, -32602),
    ],
)
def test_an_error_has_its_http_status(
    client: httpx.Client, method: str, params: Json, status: int, code: int
) -> None:
    plain = {META_VERSION: "2026-07-28", META_CAPABILITIES: NOTHING}
    if params.get("_meta") == "NOTHING":
        params = params | {"_meta": plain}
    response = ask(client, method, **params)
    assert (response.status_code, code_of(response)) == (status, code)
    assert response.json()["id"] == 1


def test_another_version_is_refused(client: httpx.Client) -> None:
    message = request("tools/list")
    message["params"]["_meta"][META_VERSION] = "2031-01-01"
    response = post(client, message, **{"MCP-Protocol-Version": "2031-01-01"})
    assert (response.status_code, code_of(response)) == (400, -32022)
    assert response.json()["error"]["data"]["requested"] == "2031-01-01"


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 400, -32020),
        ({"MCP-Protocol-Version": "2025-11-25"}, 400, -32022),
        ({"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "initialize"}, 404, -32601),
    ],
)
def test_a_legacy_initialize_is_told_what_is_spoken_here(
    client: httpx.Client, headers: dict[str, str], status: int, code: int
) -> None:
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    plain = {key: BASE[key] for key in ("Accept", "Content-Type")}
    response = client.post("/mcp", json=message, headers=plain | headers)
    assert (response.status_code, code_of(response)) == (status, code)
    assert "2026-07-28" in response.json()["error"]["message"]


@pytest.mark.parametrize("lacking", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_a_missing_header_is_named(client: httpx.Client, lacking: str) -> None:
    message = request("tools/call", name="quick")
    headers = {key: value for key, value in headers_for(message).items() if key != lacking}
    response = client.post("/mcp", json=message, headers=headers)
    assert (response.status_code, code_of(response)) == (400, -32020)
    assert lacking in response.json()["error"]["message"]


def test_an_annotated_argument_needs_its_header(client: httpx.Client) -> None:
    message = request("tools/call", name="reflow_month", arguments={"month": "2026-09"})
    response = post(client, message)
    assert (response.status_code, code_of(response)) == (400, -32020)
    assert "Mcp-Param-Month" in response.json()["error"]["message"]
    wrapped = f"=?base64?{base64.b64encode(b'2026-09').decode()}?="
    for value in ("2026-09", wrapped):
        response = post(client, message, **{"mcp-param-MONTH": value})
        assert response.json()["result"]["resultType"] == "task"


def test_a_header_sent_twice_is_a_mismatch(client: httpx.Client) -> None:
    message = request("tools/list")
    headers = [*headers_for(message).items(), ("Mcp-Method", "tools/list")]
    response = client.post("/mcp", json=message, headers=headers)
    assert code_of(response) == -32020


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"])
def test_only_post_is_allowed(client: httpx.Client, method: str) -> None:
    response = client.request(method, "/mcp")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    foreign = client.request(method, "/mcp", headers={"Origin": "http://evil.example"})
    assert foreign.status_code == 403


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Content-Type", "text/plain", 415),
        ("Content-Type", "Application/JSON; charset=utf-8", 200),
        ("Accept", "application/json", 406),
        ("Accept", "text/event-stream", 406),
        ("Accept", "application/json, text/event-stream;q=0", 406),
        ("Accept", "*/*", 200),
        ("Accept", "text/event-stream;q=0.5,APPLICATION/JSON", 200),
        ("Origin", "http://evil.example", 403),
        ("Origin", "null", 403),
        ("Origin", "http://localhost.evil.example", 403),
        ("Origin", "http://localhost:3000", 200),
        ("Origin", "http://[::1]", 200),
    ],
)
def test_media_types_and_origin_are_checked(
    client: httpx.Client, header: str, value: str, status: int
) -> None:
    assert post(client, request("tools/list"), **{header: value}).status_code == status


@pytest.mark.parametrize(
    ("body", "code"), [(b"{", -32700), (b"", -32700), (b"[]", -32600), (b'{"id":3}', -32600)]
)
def test_a_body_that_is_no_request_is_refused(client: httpx.Client, body: bytes, code: int) -> None:
    response = client.post("/mcp", content=body, headers=BASE)
    assert (response.status_code, code_of(response)) == (400, code)


def test_a_notification_is_accepted_without_a_body(client: httpx.Client) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    response = client.post("/mcp", json=message, headers=BASE)
    assert (response.status_code, response.content) == (202, b"")


def test_a_call_without_the_extension_is_answered_when_it_is_done(client: httpx.Client) -> None:
    arguments = {"text": "a", "seconds": 0.3}
    message = request("tools/call", NOTHING, name="slow_echo", arguments=arguments)
    result = post(client, message).json()["result"]
    assert result["resultType"] == "complete"
    assert result["content"][0]["text"] == "a"


def test_a_crash_without_the_extension_is_the_error_itself(client: httpx.Client) -> None:
    message = request("tools/call", NOTHING, name="crash", arguments={"seconds": 0})
    response = post(client, message)
    assert (response.status_code, code_of(response)) == (200, -32603)


def test_a_listen_is_a_stream_of_events(client: httpx.Client) -> None:
    task_id = start(client, text="a", seconds=0.3)
    message = request("subscriptions/listen", EVERYTHING, 9, notifications={"taskIds": [task_id]})
    headers = headers_for(message)
    with client.stream("POST", "/mcp", json=message, headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["x-accel-buffering"] == "no"
        seen: list[Json] = []
        for line in response.iter_lines():
            if line.startswith("data: "):
                seen.append(json.loads(line.removeprefix("data: ")))
            if seen[-1]["params"].get("status") == "completed":
                break
    assert seen[0]["method"] == "notifications/subscriptions/acknowledged"
    assert seen[-1]["method"] == "notifications/tasks"
    assert {
        message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for message in seen
    } == {9}


def test_a_refused_listen_is_json(client: httpx.Client) -> None:
    message = request("subscriptions/listen", NOTHING, notifications={"taskIds": []})
    response = post(client, message)
    assert (response.status_code, code_of(response)) == (400, -32021)
