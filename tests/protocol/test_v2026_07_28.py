"""The conversations of 2026-07-28, driven with plain dictionaries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.errors import McptaskError, ProtocolError, RpcError, TaskLost, Unreachable
from mcptask.protocol.generations.base import Call, Discovered, Immediate, Steps, ToolList
from mcptask.protocol.generations.refusals import BREACHES
from mcptask.protocol.generations.snapshots import LONGEST_MS
from mcptask.protocol.generations.v2026_07_28 import TASKS, V20260728
from tests.protocol.fakes import ID, JSON, JSON_OBJECTS, QUESTION, RESULT, wire

GENERATION = V20260728()
PAGES = 67  # of a list of tools, at most


def too_long(read: int) -> str:
    return f"the server's list of tools is too long: the first {read} were read (--max-tools N)"


def converse(steps: Steps[Any], answers: Iterable[Any]) -> tuple[Any, list[Call]]:
    """Feed the answers, errors thrown in, and return the value and the calls."""
    calls = [next(steps)]
    try:
        for answer in answers:
            call = steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)
            calls.append(call)
    except StopIteration as stop:
        return stop.value, calls
    raise AssertionError(f"the conversation goes on: {calls[-1]}")


def listed(*pages: Any) -> tuple[ToolList, list[Call]]:
    return converse(GENERATION.list_tools(), pages)


def page(*names: str, **fields: Any) -> dict[str, Any]:
    return {"tools": [{"name": name} for name in names], **fields}


def names(tools: ToolList) -> list[str]:
    return [tool["name"] for tool in tools.tools]


# ── server/discover ──────────────────────────────────────────────────────────────────────────────


def test_discovery_reads_the_versions_and_keeps_the_rest_a1_2() -> None:
    answer = {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"extensions": {TASKS: {"settings": 1}}},
    }
    found, calls = converse(GENERATION.discover(), [answer])
    assert found == Discovered(versions=("2026-07-28",), raw=answer)
    assert [call.method for call in calls] == ["server/discover"]


@pytest.mark.parametrize("info", [None, 5, {}, {"name": 5}])
def test_a_server_need_not_say_who_it_is_or_what_it_can_a1_7(info: Any) -> None:
    answer = {"supportedVersions": [], "serverInfo": info, "capabilities": info}
    found, _ = converse(GENERATION.discover(), [answer])
    assert found.versions == ()


@pytest.mark.parametrize("versions", [None, "2026-07-28", [5], {}])
def test_an_answer_without_versions_is_no_discovery_a1_3(versions: Any) -> None:
    with pytest.raises(ProtocolError, match="supportedVersions"):
        converse(GENERATION.discover(), [{"supportedVersions": versions}])


# ── tools/list ───────────────────────────────────────────────────────────────────────────────────


def test_all_pages_are_read_and_an_empty_cursor_is_a_cursor_a7_1() -> None:
    tools, calls = listed(page("a", nextCursor=""), page("b", nextCursor="2"), page("c"))
    assert names(tools) == ["a", "b", "c"]
    assert [call.params.get("cursor") for call in calls] == [None, "", "2"]
    assert tools.warnings == ()


@pytest.mark.parametrize("cursor", [None, 5, ["2"]])
def test_a_cursor_that_is_no_text_ends_the_list_a7_1(cursor: Any) -> None:
    tools, calls = listed(page("a", nextCursor=cursor))
    assert (names(tools), len(calls)) == (["a"], 1)


def test_a_cursor_that_comes_again_ends_the_list_with_a_warning_a7_1() -> None:
    tools, _ = listed(
        page("a", nextCursor="2", ttlMs=60_000), page("b", nextCursor="2", ttlMs=60_000)
    )
    assert names(tools) == ["a", "b"]
    assert tools.warnings == (too_long(2),)
    assert tools.ttl_ms == 0, "and half a list is not worth keeping"


def test_a_list_without_end_is_cut_after_67_pages_a7_1_s18() -> None:
    tools, calls = listed(*(page("a", nextCursor=str(n)) for n in range(100)))
    assert len(calls) == PAGES == 67
    assert tools.warnings == (too_long(67),)


def test_who_wants_longer_lists_gets_more_pages_too_a7_1_s18() -> None:
    pages = [page("a", nextCursor=str(n)) for n in range(200)]
    (tools, calls) = converse(V20260728(max_tools=15_000).list_tools(), pages)
    assert len(calls) == len(tools.tools) == 101


STALE = RpcError(-32602, "Invalid cursor")


def test_a_cursor_that_is_refused_starts_the_list_anew_a7_1() -> None:
    first = page("a", nextCursor="2", ttlMs=1)
    tools, calls = listed(first, STALE, page("b", nextCursor="2", ttlMs=60_000), page("c", ttlMs=9))
    assert (names(tools), tools.ttl_ms, tools.warnings) == (["b", "c"], 9, ())
    assert [call.params.get("cursor") for call in calls] == [None, "2", None, "2"]


def test_a_cursor_that_is_refused_again_ends_the_list_a7_1() -> None:
    first = page("a", nextCursor="2")
    with pytest.raises(RpcError, match="Invalid cursor"):
        listed(first, STALE, first, STALE, first)


def test_a_list_that_is_refused_without_a_cursor_is_not_asked_for_again_a7_1() -> None:
    with pytest.raises(RpcError, match="Invalid cursor"):
        listed(STALE, page("a"))


def test_a_list_that_was_started_anew_at_its_last_page_is_still_a_whole_one_a7_1() -> None:
    many = [page("a", nextCursor=str(n)) for n in range(PAGES - 1)]
    tools, calls = listed(*many, STALE, page("b"))
    assert (names(tools), len(calls)) == (["b"], PAGES + 1)


@pytest.mark.parametrize("code", [-32601, *BREACHES])
def test_a_list_that_is_refused_for_the_exchange_breaks_the_protocol_a4_3(code: int) -> None:
    with pytest.raises(ProtocolError, match="why"):
        listed(RpcError(code, "why"))


def test_a_page_without_end_is_cut_and_not_followed_by_another_a7_1_s18() -> None:
    for more in ({"nextCursor": "2"}, {}):
        tools, calls = listed(page(*["a"] * 10_001, **more))
        assert (len(tools.tools), len(calls)) == (10_000, 1)
        assert tools.warnings == (too_long(10_000),)
        assert tools.ttl_ms == 0


def test_tools_without_a_name_are_left_out_with_a_warning_t9() -> None:
    tools, _ = listed({"tools": [{"name": "a"}, {}, 5, {"name": 5}]})
    assert names(tools) == ["a"]
    assert set(tools.warnings) == {"the server lists a tool without a name"}


@pytest.mark.parametrize("tools", [None, {}, "a"])
def test_an_answer_without_a_list_is_no_list_of_tools(tools: Any) -> None:
    with pytest.raises(ProtocolError, match="no list of tools"):
        listed({"tools": tools})


@pytest.mark.parametrize(
    ("ttl", "kept"),
    [
        (60_000, 60_000),
        (1.5, 1),
        (None, 0),
        (0, 0),
        (-5, 0),
        (True, 0),
        ("60000", 0),
        (math.nan, 0),
        (math.inf, LONGEST_MS),
        (10**400, LONGEST_MS),
    ],
)
def test_a_list_is_fresh_only_as_long_as_the_server_says_a7_4(ttl: Any, kept: int) -> None:
    assert listed(page("a", ttlMs=ttl))[0].ttl_ms == kept


def test_of_several_pages_the_shortest_life_and_the_narrowest_scope_count_a7_4() -> None:
    first = page("a", nextCursor="2", ttlMs=60_000, cacheScope="public")
    assert listed(first, page("b", ttlMs=5000, cacheScope="public"))[0].ttl_ms == 5000
    assert listed(first, page("b", cacheScope="public"))[0].public
    assert not listed(first, page("b"))[0].public


# ── tools/call ───────────────────────────────────────────────────────────────────────────────────


def test_a_call_is_one_request_with_the_tool_as_its_subject_a8_1() -> None:
    schema = {"type": "object"}
    found, calls = converse(GENERATION.call_tool("reflow", {"month": "2026-09"}, schema), [RESULT])
    assert found == Immediate(result=RESULT)
    (call,) = calls
    assert (call.method, call.subject, call.schema) == ("tools/call", "reflow", schema)
    assert {k: v for k, v in call.params.items() if k != "_meta"} == {
        "name": "reflow",
        "arguments": {"month": "2026-09"},
    }


@pytest.mark.parametrize("code", [-32602, -32603, -32601, -32020, -32021, -32022, -32000])
def test_an_error_on_a_call_is_final_and_its_own_a4_5(code: int) -> None:
    with pytest.raises(RpcError) as caught:
        converse(GENERATION.call_tool("reflow", {}, None), [RpcError(code, "no")])
    assert caught.value.code == code


# ── tasks/* ──────────────────────────────────────────────────────────────────────────────────────


def test_a_task_is_asked_for_by_its_id_which_is_also_the_subject_a3_3() -> None:
    found, (call,) = converse(GENERATION.get_task(ID), [wire()])
    assert (found.task_id, call.method, call.subject) == (ID, "tasks/get", ID)
    assert call.params["taskId"] == ID


@pytest.mark.parametrize("kind", [None, "complete", "task", "banana"])
def test_what_a_snapshot_calls_itself_does_not_matter_a9_3_t2(kind: Any) -> None:
    assert converse(GENERATION.get_task(ID), [wire(resultType=kind)])[0].status == "working"


def test_a_snapshot_that_wants_input_as_a_result_is_a_breach_a9_3() -> None:
    with pytest.raises(ProtocolError, match="input_required"):
        converse(GENERATION.get_task(ID), [wire(resultType="input_required")])


def test_a_snapshot_of_another_task_is_a_breach_s1() -> None:
    with pytest.raises(ProtocolError, match="another task"):
        converse(GENERATION.get_task(ID), [wire(taskId="tsk_other")])


def test_answers_are_sent_whole_and_any_object_acknowledges_a12_9_t8() -> None:
    responses = {"room": {"action": "accept", "content": {"room": "b"}}}
    found, (call,) = converse(GENERATION.update_task(ID, responses), [{"odd": 1}])
    assert (found, call.method, call.subject) == (None, "tasks/update", ID)
    assert (call.params["taskId"], call.params["inputResponses"]) == (ID, responses)


def test_cancelling_is_a_request_that_any_object_acknowledges_a13_1_t8() -> None:
    found, (call,) = converse(GENERATION.cancel_task(ID), [{}])
    assert (found, call.method, call.params["taskId"]) == (None, "tasks/cancel", ID)


INVALID = RpcError(-32602, "no such task")


def test_a_refused_update_is_the_updates_fault_if_the_task_is_still_there_a4_3() -> None:
    with pytest.raises(RpcError) as caught:
        converse(GENERATION.update_task(ID, {}), [INVALID, wire()])
    assert caught.value is INVALID


def test_a_refused_update_of_a_task_that_is_gone_is_a_lost_task_a4_3() -> None:
    with pytest.raises(TaskLost):
        converse(GENERATION.update_task(ID, {}), [INVALID, INVALID])


def test_cancelling_what_is_over_is_no_error_a13_2() -> None:
    found, calls = converse(GENERATION.cancel_task(ID), [INVALID, wire("completed")])
    assert (found, [call.method for call in calls]) == (None, ["tasks/cancel", "tasks/get"])


def test_cancelling_what_is_gone_is_a_lost_task_a4_3() -> None:
    with pytest.raises(TaskLost):
        converse(GENERATION.cancel_task(ID), [INVALID, INVALID])


REQUESTS: dict[str, Callable[[], Steps[Any]]] = {
    "get": lambda: GENERATION.get_task(ID),
    "update": lambda: GENERATION.update_task(ID, {"room": QUESTION}),
    "cancel": lambda: GENERATION.cancel_task(ID),
}


@pytest.mark.parametrize("request_of", REQUESTS.values(), ids=REQUESTS)
@pytest.mark.parametrize("code", [-32601, *BREACHES])
def test_an_error_of_the_exchange_breaks_the_protocol_and_says_nothing_of_the_task_s10(
    request_of: Callable[[], Steps[Any]], code: int
) -> None:
    with pytest.raises(ProtocolError, match="why"):
        converse(request_of(), [RpcError(code, "why")])


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            RpcError(-32020, "mcp-name says 'a', the body 'b'; Mcp-Name"),
            "something between here and the server rewrites headers (Mcp-Name)",
        ),
        (
            RpcError(-32020, "Header mismatch"),
            "rewrites headers (MCP-Protocol-Version, Mcp-Method, Mcp-Name or an Mcp-Param-…)",
        ),
        (
            RpcError(-32021, "no", data={"requiredCapabilities": {"sampling": {}, "roots": {}}}),
            "the server wants a client with sampling, roots, which mcptask has not",
        ),
        (
            RpcError(-32021, "no", data={"requiredCapabilities": {"extensions": {TASKS: {}}}}),
            f"something between here and the server drops what is declared ({TASKS})",
        ),
        (
            RpcError(-32021, "no", data={"requiredCapabilities": {"extensions": {"a/b": {}}}}),
            "the server wants a client with a/b, which mcptask has not",
        ),
        *(
            (RpcError(-32021, "no", data=data), "did not see the capabilities that were declared")
            for data in (None, [], {"requiredCapabilities": []}, {"requiredCapabilities": {}})
        ),
    ],
)
def test_a_refusal_names_the_header_or_the_capabilities_a4_3(error: RpcError, said: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        converse(GENERATION.get_task(ID), [error])
    assert said in refused.value.message
    with pytest.raises(RpcError) as caught:
        converse(GENERATION.call_tool("reflow", {}, None), [error])
    assert said in (caught.value.hint or "")
    assert caught.value.message == error.message


def test_an_error_of_the_call_itself_gets_no_meaning_added_a4_3() -> None:
    with pytest.raises(RpcError) as caught:
        converse(GENERATION.call_tool("reflow", {}, None), [RpcError(-32602, "no such tool")])
    assert caught.value.hint is None


@pytest.mark.parametrize("code", [-32603, -32000, -32003, 5])
def test_any_other_error_on_a_question_is_no_answer_and_no_failed_task_a10_7(code: int) -> None:
    with pytest.raises(Unreachable, match="why"):
        converse(GENERATION.get_task(ID), [RpcError(code, "why")])


@pytest.mark.parametrize("name", ["update", "cancel"])
def test_any_other_error_on_a_change_is_passed_on_as_it_is(name: str) -> None:
    refusal = RpcError(-32000, "why")
    with pytest.raises(RpcError) as caught:
        converse(REQUESTS[name](), [refusal])
    assert caught.value is refusal


# ── anything ─────────────────────────────────────────────────────────────────────────────────────

CONVERSATIONS: dict[str, Callable[[], Steps[Any]]] = {
    **REQUESTS,
    "discover": GENERATION.discover,
    "list": GENERATION.list_tools,
    "call": lambda: GENERATION.call_tool("reflow", {}, None),
}
codes = st.integers() | st.sampled_from([-32601, -32602, -32603, *BREACHES])
rpc_errors = st.builds(RpcError, codes, st.text(max_size=5), data=JSON)


@pytest.mark.parametrize("conversation", CONVERSATIONS.values(), ids=CONVERSATIONS)
@settings(max_examples=30)
@given(answers=st.lists(JSON_OBJECTS | rpc_errors, min_size=1, max_size=4))
def test_any_answers_give_a_value_or_an_error_of_ours(
    conversation: Callable[[], Steps[Any]], answers: list[Any]
) -> None:
    steps = conversation()
    try:
        next(steps)
        for answer in answers:
            steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)
    except (StopIteration, McptaskError):
        pass
