"""A session over a scripted server: the envelope, what is sent again and what never is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.methods import validate_client_request

from mcptask import __version__
from mcptask.errors import (
    HttpRefused,
    McptaskError,
    ProtocolError,
    RpcError,
    Unauthorized,
    Unreachable,
)
from mcptask.protocol.generations.base import Immediate
from mcptask.protocol.task import Task
from mcptask.protocol.transports.base import Message, Request
from mcptask.protocol.transports.memory import MemoryTransport
from tests.protocol.fakes import (
    ID,
    JSON_OBJECTS,
    RESULT,
    FakeClock,
    Peer,
    Whole,
    refused,
    session_with,
    wire,
)
from tests.protocol.sessions import (
    BUSY,
    CALL,
    DISCOVERED,
    DOINGS,
    GET,
    GOOD,
    NOT_FOUND,
    NOT_INITIALIZED,
    OLDER,
    OTHER_VERSION,
    UNKNOWN_METHOD,
    do,
)

# ── the envelope ─────────────────────────────────────────────────────────────────────────────────


def a_request(name: str) -> Request:
    _, peer = do(DOINGS[name], [GOOD[name]], forced=True)
    return peer.transport.requests[0]


@pytest.mark.parametrize("name", DOINGS)
def test_every_request_carries_version_capabilities_and_name_a2_1_a2_2_a2_3_t19(name: str) -> None:
    meta = a_request(name).params["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientInfo"] == {"name": "mcptask", "version": __version__}
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {
        "extensions": {"io.modelcontextprotocol/tasks": {}},
        "elicitation": {"form": {}, "url": {}},
    }


@pytest.mark.parametrize("name", ["discover", "tools", "call"])
def test_what_the_core_defines_is_valid_by_the_official_types_a2_1(name: str) -> None:
    request = a_request(name)
    validate_client_request(request.method, "2026-07-28", dict(request.params))


@pytest.mark.parametrize("name", ["get", "update", "cancel"])
def test_the_envelope_of_the_extension_is_valid_by_the_official_types_too_a2_1(name: str) -> None:
    # The official types leave the extension's own methods out; the envelope is the same.
    params = {"_meta": a_request(name).params["_meta"]}
    validate_client_request("tools/list", "2026-07-28", params)


@pytest.mark.parametrize(
    ("name", "method", "subject"),
    [
        ("discover", "server/discover", None),
        ("tools", "tools/list", None),
        ("call", "tools/call", "reflow"),
        ("get", "tasks/get", ID),
        ("update", "tasks/update", ID),
        ("cancel", "tasks/cancel", ID),
    ],
)
def test_the_headers_follow_from_the_body_a1_1_a3_2_a3_3_s12(
    name: str, method: str, subject: str | None
) -> None:
    request = a_request(name)
    named = {} if subject is None else {"Mcp-Name": subject}
    expected = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **named}
    assert dict(request.headers) == expected
    assert request.method == method
    version = request.params["_meta"]["io.modelcontextprotocol/protocolVersion"]
    assert request.headers["MCP-Protocol-Version"] == version


@pytest.mark.parametrize(
    ("task_id", "header"),
    [("a/b", "a/b"), (" x ", "=?base64?IHgg?="), ("tâche-1", "=?base64?dMOiY2hlLTE=?=")],
)
def test_an_id_that_no_header_can_hold_is_encoded_a3_5(task_id: str, header: str) -> None:
    _, peer = do(lambda session: session.get(task_id), [wire(taskId=task_id)], forced=True)
    assert peer.transport.requests[0].headers["Mcp-Name"] == header
    assert peer.transport.requests[0].params["taskId"] == task_id


def test_annotated_arguments_are_mirrored_in_headers_a3_4() -> None:
    schema = {"properties": {"owner": {"type": "string", "x-mcp-header": "Owner"}}}
    _, peer = do(
        lambda session: session.call("reflow", {"owner": "ann"}, schema), [RESULT], forced=True
    )
    assert peer.transport.requests[0].headers["Mcp-Param-Owner"] == "ann"


def test_every_request_has_a_new_id_a2_6() -> None:
    _, peer = do(GET, [BUSY, BUSY, wire()], forced=True)
    assert [request.id for request in peer.transport.requests] == [1, 2, 3]


def test_a_message_that_is_no_answer_is_read_over_a5_4() -> None:
    progress = Whole(method="notifications/progress", params={})
    found, _ = do(GET, [[progress, wire()]], forced=True)
    assert found.task_id == ID


def test_closing_a_session_closes_its_transport_and_it_tells_its_revision() -> None:
    peer = Peer([{}])
    session = session_with(peer)
    asyncio.run(session.close())
    assert peer.transport.closed
    assert session.version == "2026-07-28"


# ── what is sent again ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("fault", [BUSY, refused(-32603, "oops")], ids=["transport", "server"])
@pytest.mark.parametrize("name", [name for name in DOINGS if name != "call"])
def test_what_is_safe_to_repeat_is_sent_three_times_at_most_a4_3(name: str, fault: Any) -> None:
    time = FakeClock()
    found, peer = do(DOINGS[name], [fault], forced=True, time=time)
    assert isinstance(found, McptaskError)
    first = peer.methods[0]
    assert peer.methods.count(first) == 3
    assert time.slept[:2] == [0.25, 0.75]


@pytest.mark.parametrize("fault", [BUSY, refused(-32603, "oops")], ids=["transport", "server"])
def test_a_passing_fault_is_not_noticed_a4_3(fault: Any) -> None:
    found, _ = do(GET, [fault, fault, wire()], forced=True)
    assert isinstance(found, Task)


def test_a_get_that_fails_for_the_servers_own_reasons_is_no_failed_task_s10() -> None:
    found, _ = do(GET, [refused(-32603, "oops")], forced=True)
    assert isinstance(found, Unreachable)


@pytest.mark.parametrize(("asked", "slept"), [(0.1, [0.25]), (2.0, [2.0]), (5.0, [5.0])])
def test_a_short_retry_after_is_waited_out_a4_3(asked: float, slept: list[float]) -> None:
    time = FakeClock()
    do(GET, [Unreachable("429", retry_after=asked), wire()], forced=True, time=time)
    assert time.slept == slept


def test_a_long_retry_after_is_for_the_caller_to_wait_out_a4_3() -> None:
    busy = Unreachable("429", retry_after=7.0)
    found, peer = do(GET, [busy], forced=True)
    assert found is busy
    assert len(peer.methods) == 1


@pytest.mark.parametrize("error", [Unauthorized("401"), ProtocolError("html"), refused(-32602)])
def test_what_would_not_get_better_is_not_repeated_a4_3(error: Any) -> None:
    _, peer = do(GET, [error], forced=True)
    assert len(peer.methods) == 1


class Mute(MemoryTransport):
    """Ends every answer before it begins, and raises nothing."""

    async def exchange(self, request: Request) -> AsyncGenerator[Message, None]:
        self.requests.append(request)
        for message in ():
            yield message


def test_an_answer_that_never_comes_is_a_lost_connection_whoever_notices_a5_6() -> None:
    peer = Peer([[]])
    peer.transport = Mute([])
    with pytest.raises(Unreachable, match="ended before it was complete"):
        asyncio.run(session_with(peer).get(ID))
    assert len(peer.transport.requests) == 3


def test_an_answer_that_breaks_off_is_a_lost_connection_a5_6() -> None:
    found, peer = do(GET, [[]], forced=True)
    assert isinstance(found, Unreachable)
    assert len(peer.methods) == 3


# ── tools/call ───────────────────────────────────────────────────────────────────────────────────

FAULTS = [
    BUSY,
    Unreachable("refused", sent=False),
    Unreachable("429", sent=False, retry_after=1.0),
    Unauthorized("401"),
    ProtocolError("html"),
    NOT_FOUND,
    HttpRefused("HTTP 400", status=400),
    [],
    UNKNOWN_METHOD,
    NOT_INITIALIZED,
    *(refused(code) for code in (-32602, -32603, -32020, -32021, -32000)),
]


@pytest.mark.parametrize("forced", [True, False])
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_call_is_never_sent_again_s8(fault: Any, forced: bool) -> None:
    found, peer = do(CALL, [fault, DISCOVERED], forced=forced)
    assert isinstance(found, McptaskError)
    assert peer.methods.count("tools/call") == 1


def test_only_a_refusal_of_the_version_allows_a_second_call_and_no_third_a1_9() -> None:
    found, peer = do(CALL, [OTHER_VERSION, RESULT])
    assert (found, peer.methods) == (Immediate(result=RESULT), ["tools/call"] * 2)
    found, peer = do(CALL, [OTHER_VERSION, OTHER_VERSION, RESULT])
    assert isinstance(found, RpcError)
    assert peer.methods == ["tools/call"] * 2


anything = st.lists(
    st.sampled_from([*FAULTS, OTHER_VERSION, DISCOVERED, OLDER, RESULT, wire()])
    | JSON_OBJECTS
    | JSON_OBJECTS.map(Whole),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60)
@given(anything, st.booleans(), st.booleans())
def test_whatever_happens_a_call_is_sent_once_unless_its_version_was_refused_s8(
    answers: list[Any], forced: bool, greet: bool
) -> None:
    script = [*answers, RESULT]
    found, peer = do(CALL, script, forced=forced, greet=greet)
    assert isinstance(found, McptaskError | Immediate | Task) or hasattr(found, "requests")
    calls = [n for n, method in enumerate(peer.methods) if method == "tools/call"]
    assert len(calls) <= 2
    if len(calls) == 2:
        refusal = script[calls[0]]
        assert isinstance(refusal, Whole)
        assert refusal["error"]["code"] == -32022


@pytest.mark.parametrize("name", DOINGS)
@settings(max_examples=20)
@given(answers=anything, forced=st.booleans(), greet=st.booleans())
def test_whatever_a_server_answers_is_a_value_or_an_error_of_ours(
    name: str, answers: list[Any], forced: bool, greet: bool
) -> None:
    _, peer = do(DOINGS[name], answers, forced=forced, greet=greet)
    assert len(peer.methods) <= 70


@pytest.mark.parametrize("trouble", [BUSY, Unauthorized("401"), NOT_FOUND])
def test_the_answer_to_a_call_is_not_hidden_by_what_the_probe_after_it_meets_a4_5(
    trouble: McptaskError,
) -> None:
    """An `Unreachable` there would make a refused call one of unknown outcome."""
    found, _ = do(CALL, [refused(-32602, "no such tool"), trouble])
    assert isinstance(found, RpcError)
    assert found.message == "no such tool"
