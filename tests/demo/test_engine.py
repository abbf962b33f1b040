"""What every request is checked for, and what is said before there is a task."""

from typing import Any

import pytest

from mcptask import __version__
from mcptask.demo.catalog import TOOLS
from mcptask.demo.jsonrpc import META_CAPABILITIES, META_VERSION, TASKS, Json, decode
from tests.demo.wire import EVERYTHING, NOTHING, TASKS_ONLY, Bench, meta, request

METHODS = [
    "server/discover",
    "tools/list",
    "tools/call",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
]


def test_discovery_tells_version_extension_name_and_how_long_it_holds(bench: Bench) -> None:
    found = bench.result("server/discover", NOTHING)
    assert found["resultType"] == "complete"
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["capabilities"] == {"tools": {}, "extensions": {TASKS: {}}}
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == __version__
    assert found["ttlMs"] > 0
    assert found["cacheScope"] == "public"
    assert found["instructions"]


@pytest.mark.parametrize("method", [*METHODS, "subscriptions/listen"])
@pytest.mark.parametrize("lacking", [META_VERSION, META_CAPABILITIES])
def test_a_request_without_its_envelope_is_refused(bench: Bench, method: str, lacking: str) -> None:
    broken = {key: value for key, value in meta().items() if key != lacking}
    error = bench.error(method, _meta=broken)
    assert error["code"] == -32602
    assert lacking in error["message"]


@pytest.mark.parametrize("method", METHODS)
def test_another_version_is_refused_with_those_that_are_spoken(bench: Bench, method: str) -> None:
    error = bench.error(method, _meta=meta(version="2031-01-01"))
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2031-01-01"}


def test_a_legacy_client_learns_from_the_error_what_it_met(bench: Bench) -> None:
    bench.say(
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "x"}}
    )
    error = bench.sent.pop()["error"]
    assert error["code"] == -32601
    assert "2026-07-28" in error["message"]
    assert error["data"] == {"supported": ["2026-07-28"]}


@pytest.mark.parametrize("method", ["ping", "tasks/list", "tasks/result", "prompts/list", "nope"])
def test_any_other_method_is_not_found(bench: Bench, method: str) -> None:
    assert bench.error(method)["code"] == -32601


@pytest.mark.parametrize(
    ("message", "request_id"),
    [
        ([], None),
        ([{"jsonrpc": "2.0", "id": 1, "method": "ping"}], None),
        ("text", None),
        ({"id": 7, "method": "ping"}, 7),
        ({"jsonrpc": "1.0", "id": "a", "method": "ping"}, "a"),
        ({"jsonrpc": "2.0", "id": 7}, 7),
        ({"jsonrpc": "2.0", "id": 7, "method": 3}, 7),
        ({"jsonrpc": "2.0", "id": None, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": True, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, None),
        ({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}, 7),
    ],
)
def test_what_is_not_a_request_is_an_invalid_request(
    bench: Bench, message: Any, request_id: object
) -> None:
    bench.say(message)
    answer = bench.sent.pop()
    assert answer["error"]["code"] == -32600
    assert answer.get("id") == request_id
    assert ("id" in answer) == (request_id is not None)  # a null is no id


@pytest.mark.parametrize("raw", [b"{", b"\xff", b"[NaN]", b"[" * 100_000])
def test_what_is_not_json_is_a_parse_error(raw: bytes) -> None:
    with pytest.raises(Exception, match="Not JSON") as caught:
        decode(raw)
    assert getattr(caught.value, "code", None) == -32700


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/whatever"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
    ],
)
def test_notifications_and_responses_get_no_answer(bench: Bench, message: Json) -> None:
    assert bench.say(message) is None
    assert bench.sent == []


@pytest.mark.parametrize("request_id", [0, -1, "", "7", 7])
def test_the_answer_has_the_id_of_the_request_in_its_type(
    bench: Bench, request_id: str | int
) -> None:
    bench.say(request("server/discover", request_id=request_id))
    assert bench.sent[0]["id"] == request_id
    assert type(bench.sent[0]["id"]) is type(request_id)


def test_the_tools_come_in_pages(bench: Bench) -> None:
    small = Bench(page_size=4)
    first = small.result("tools/list")
    second = small.result("tools/list", cursor=first["nextCursor"])
    assert "nextCursor" not in second
    assert [tool["name"] for tool in first["tools"] + second["tools"]] == list(TOOLS)
    assert "nextCursor" not in bench.result("tools/list")
    small.close()


@pytest.mark.parametrize("cursor", ["", "t0", "t3", "t99", "x", "t-1", "t٤", 4, None])
def test_a_cursor_of_somebody_else_is_refused(cursor: object) -> None:
    small = Bench(page_size=4)
    assert small.error("tools/list", cursor=cursor)["code"] == -32602
    small.close()


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize("capabilities", [NOTHING, {"extensions": {}}, {"extensions": {TASKS: 1}}])
def test_task_methods_demand_the_extension_on_the_request_itself(
    bench: Bench, method: str, capabilities: Json
) -> None:
    task_id = bench.start("slow_echo", text="a")
    error = bench.error(method, capabilities, taskId=task_id, inputResponses={})
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize("task_id", ["nope", "", "\ud800", "\0", None, 7, []])
def test_an_unknown_task_is_an_invalid_parameter(
    bench: Bench, method: str, task_id: object
) -> None:
    assert bench.error(method, taskId=task_id, inputResponses={})["code"] == -32602


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"name": "nope"}, "Unknown tool: nope"),
        ({}, "name is missing"),
        ({"name": "slow_echo", "arguments": None}, "arguments must be an object"),
        ({"name": "slow_echo", "arguments": []}, "arguments must be an object"),
        ({"name": "quick", "inputResponses": []}, "inputResponses must be an object"),
        ({"name": "quick", "requestState": "made.up"}, "requestState was not made by this server"),
        ({"name": "quick", "requestState": 7}, "requestState was not made by this server"),
    ],
)
def test_a_wrong_call_is_an_invalid_parameter(bench: Bench, params: Json, says: str) -> None:
    error = bench.error("tools/call", **params)
    assert error["code"] == -32602
    assert says in error["message"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("slow_echo", {}, "slow_echo: missing argument 'text'"),
        ("quick", {"text": 1}, "quick: argument 'text' must be of type string"),
        ("quick", {"loud": True}, "quick: unknown argument 'loud'; known: text"),
        ("crash", {"seconds": 1e300}, "crash: argument 'seconds' must be 3600 or less"),
    ],
)
def test_what_the_caller_can_mend_is_the_answer_of_the_tool(
    bench: Bench, name: str, arguments: Json, says: str
) -> None:
    result = bench.result("tools/call", name=name, arguments=arguments)
    assert (result["resultType"], result["isError"]) == ("complete", True)
    assert result["content"] == [{"type": "text", "text": says}]


def test_a_tool_that_must_be_a_task_is_refused_without_the_extension(bench: Bench) -> None:
    error = bench.error("tools/call", NOTHING, name="stubborn")
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


def test_a_question_is_refused_to_who_cannot_be_asked(bench: Bench) -> None:
    params = {"name": "reflow_month", "arguments": {"month": "2026-09", "ask": True}}
    error = bench.error("tools/call", TASKS_ONLY, **params)
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
    assert bench.result("tools/call", TASKS_ONLY | {"elicitation": {}}, **params)
    assert bench.result("tools/call", EVERYTHING, **params)


def test_a_bug_here_is_an_internal_error_and_not_the_end(bench: Bench) -> None:
    bench.engine.store.close()
    assert bench.error("tasks/get", taskId="a")["code"] == -32603
