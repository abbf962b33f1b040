"""A session over a scripted server: negotiation, the envelope, what is sent again and what never is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_types.methods import validate_client_request

from mcptask import __version__
from mcptask.errors import (
    HttpRefused,
    McptaskError,
    NoCommonVersion,
    ProtocolError,
    RpcError,
    TaskLost,
    Unauthorized,
    Unreachable,
)
from mcptask.protocol.generations.base import Immediate
from mcptask.protocol.session import Session
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

DISCOVERED = {"supportedVersions": ["2026-07-28", "2025-11-25"], "serverInfo": {"name": "studio"}}
OLDER = {"protocolVersion": "2025-06-18", "capabilities": {}}
UNKNOWN_METHOD = refused(-32601, "Method not found")
NOT_INITIALIZED = Whole(
    error={"code": -32000, "message": "Bad Request: Server not initialized"}, id=None
)
BUSY = Unreachable("busy")
NOT_FOUND = HttpRefused("HTTP 404", status=404)
OTHER_VERSION = refused(-32022, "no", {"supported": ["2026-07-28"]})

Doing = Callable[[Session], Coroutine[Any, Any, Any]]

DOINGS: dict[str, Doing] = {
    "discover": lambda session: session.discover(),
    "tools": lambda session: session.list_tools(),
    "call": lambda session: session.call("reflow", {"month": "2026-09"}, None),
    "get": lambda session: session.get(ID),
    "update": lambda session: session.update(ID, {"room": {"action": "decline"}}),
    "cancel": lambda session: session.cancel(ID),
}
DISCOVER, CALL, GET = DOINGS["discover"], DOINGS["call"], DOINGS["get"]
# What a modern server answers to each of them.
GOOD = dict(zip(DOINGS, [DISCOVERED, {"tools": []}, RESULT, wire(), {}, {}], strict=True))


def do(
    doing: Doing,
    answers: list[Any],
    *,
    known: bool = False,
    greet: bool = False,
    time: FakeClock | None = None,
) -> tuple[Any, Peer]:
    """The value, or the exception, and what was asked of the peer."""
    peer = Peer(answers)

    async def all_of_it() -> Any:
        try:
            return await doing(session_with(peer, time, known=known, greet=greet))
        except McptaskError as error:
            return error

    return asyncio.run(all_of_it()), peer


# ── the envelope ─────────────────────────────────────────────────────────────────────────────────


def a_request(name: str) -> Request:
    _, peer = do(DOINGS[name], [GOOD[name]], known=True)
    return peer.transport.requests[0]


@pytest.mark.parametrize("name", DOINGS)
def test_every_request_carries_version_capabilities_and_name_a2_1_a2_2(name: str) -> None:
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
def test_the_headers_follow_from_the_body_a3_2_a3_3(
    name: str, method: str, subject: str | None
) -> None:
    request = a_request(name)
    named = {} if subject is None else {"Mcp-Name": subject}
    expected = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, **named}
    assert dict(request.headers) == expected
    assert request.method == method


@pytest.mark.parametrize(
    ("task_id", "header"),
    [("a/b", "a/b"), (" x ", "=?base64?IHgg?="), ("tâche-1", "=?base64?dMOiY2hlLTE=?=")],
)
def test_an_id_that_no_header_can_hold_is_encoded_a3_5(task_id: str, header: str) -> None:
    _, peer = do(lambda session: session.get(task_id), [wire(taskId=task_id)], known=True)
    assert peer.transport.requests[0].headers["Mcp-Name"] == header
    assert peer.transport.requests[0].params["taskId"] == task_id


def test_annotated_arguments_are_mirrored_in_headers_a3_4() -> None:
    schema = {"properties": {"owner": {"type": "string", "x-mcp-header": "Owner"}}}
    _, peer = do(
        lambda session: session.call("reflow", {"owner": "ann"}, schema), [RESULT], known=True
    )
    assert peer.transport.requests[0].headers["Mcp-Param-Owner"] == "ann"


def test_every_request_has_a_new_id_a2_6() -> None:
    _, peer = do(GET, [BUSY, BUSY, wire()], known=True)
    assert [request.id for request in peer.transport.requests] == [1, 2, 3]


def test_a_message_that_is_no_answer_is_read_over_a5_4() -> None:
    progress = Whole(method="notifications/progress", params={})
    found, _ = do(GET, [[progress, wire()]], known=True)
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
    found, peer = do(DOINGS[name], [fault], known=True, time=time)
    assert isinstance(found, McptaskError)
    first = peer.methods[0]
    assert peer.methods.count(first) == 3
    assert time.slept[:2] == [0.25, 0.75]


@pytest.mark.parametrize("fault", [BUSY, refused(-32603, "oops")], ids=["transport", "server"])
def test_a_passing_fault_is_not_noticed_a4_3(fault: Any) -> None:
    found, _ = do(GET, [fault, fault, wire()], known=True)
    assert isinstance(found, Task)


def test_a_get_that_fails_for_the_servers_own_reasons_is_no_failed_task_s10() -> None:
    found, _ = do(GET, [refused(-32603, "oops")], known=True)
    assert isinstance(found, Unreachable)


@pytest.mark.parametrize(("asked", "slept"), [(0.1, [0.25]), (2.0, [2.0]), (5.0, [5.0])])
def test_a_short_retry_after_is_waited_out_a4_3(asked: float, slept: list[float]) -> None:
    time = FakeClock()
    do(GET, [Unreachable("429", retry_after=asked), wire()], known=True, time=time)
    assert time.slept == slept


def test_a_long_retry_after_is_for_the_caller_to_wait_out_a4_3() -> None:
    busy = Unreachable("429", retry_after=7.0)
    found, peer = do(GET, [busy], known=True)
    assert found is busy
    assert len(peer.methods) == 1


@pytest.mark.parametrize("error", [Unauthorized("401"), ProtocolError("html"), refused(-32602)])
def test_what_would_not_get_better_is_not_repeated_a4_3(error: Any) -> None:
    _, peer = do(GET, [error], known=True)
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
    found, peer = do(GET, [[]], known=True)
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


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_call_is_never_sent_again_s8(fault: Any, known: bool) -> None:
    found, peer = do(CALL, [fault, DISCOVERED], known=known)
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
    answers: list[Any], known: bool, greet: bool
) -> None:
    script = [*answers, RESULT]
    found, peer = do(CALL, script, known=known, greet=greet)
    assert isinstance(found, McptaskError | Immediate | Task) or hasattr(found, "requests")
    calls = [n for n, method in enumerate(peer.methods) if method == "tools/call"]
    assert len(calls) <= 2
    if len(calls) == 2:
        refusal = script[calls[0]]
        assert isinstance(refusal, Whole)
        assert refusal["error"]["code"] == -32022


@pytest.mark.parametrize("name", DOINGS)
@settings(max_examples=20)
@given(answers=anything, known=st.booleans(), greet=st.booleans())
def test_whatever_a_server_answers_is_a_value_or_an_error_of_ours(
    name: str, answers: list[Any], known: bool, greet: bool
) -> None:
    _, peer = do(DOINGS[name], answers, known=known, greet=greet)
    assert len(peer.methods) <= 70


@pytest.mark.parametrize("trouble", [BUSY, Unauthorized("401"), NOT_FOUND])
def test_the_answer_to_a_call_is_not_hidden_by_what_the_probe_after_it_meets_a4_5(
    trouble: McptaskError,
) -> None:
    """An `Unreachable` there would make a refused call one of unknown outcome."""
    found, _ = do(CALL, [refused(-32602, "no such tool"), trouble])
    assert isinstance(found, RpcError)
    assert found.message == "no such tool"


# ── which generation ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", DOINGS)
def test_over_http_a_modern_server_is_asked_nothing_beforehand_a1_2(name: str) -> None:
    _, peer = do(DOINGS[name], [GOOD[name]])
    assert len(peer.methods) == 1


def test_over_stdio_a_server_is_greeted_first_and_once_a1_2() -> None:
    async def twice(session: Session) -> None:
        await session.get(ID)
        await session.get(ID)

    found, peer = do(twice, [DISCOVERED, wire()], greet=True)
    assert (found, peer.methods) == (None, ["server/discover", "tasks/get", "tasks/get"])


def test_a_server_known_to_be_modern_is_not_greeted_a1_5() -> None:
    _, peer = do(GET, [wire()], greet=True, known=True)
    assert peer.methods == ["tasks/get"]


@pytest.mark.parametrize("greet", [False, True], ids=["http", "stdio"])
@pytest.mark.parametrize(
    "answer",
    [
        UNKNOWN_METHOD,
        NOT_INITIALIZED,
        refused(-32600, "Invalid Request"),
        Whole(error={"code": -32600, "message": "no"}, id=None),
        refused(-32602, "Invalid request parameters"),
        refused(-32001, "Session not found"),
        refused(-32004, "Unsupported protocol version", {"supported": ["2026-07-28"]}),
        HttpRefused("HTTP 400", status=400),
        NOT_FOUND,
        HttpRefused("HTTP 405", status=405),
    ],
    ids=str,
)
def test_an_older_server_is_named_with_its_revision_and_never_hangs_a1_3_a1_4(
    answer: Any, greet: bool
) -> None:
    answers = [answer, OLDER] if greet else [answer, answer, OLDER]
    found, peer = do(CALL, answers, greet=greet)
    asked = ["server/discover", "initialize"]
    assert peer.methods == (asked if greet else ["tools/call", *asked])
    assert isinstance(found, NoCommonVersion)
    assert found.exit_code == 9
    assert "MCP 2025-06-18" in found.message
    assert found.hint is not None


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"supportedVersions": ["2025-11-25", "2025-06-18"]}, "2025-11-25, 2025-06-18"),
        ({"supportedVersions": []}, "nothing that it names"),
        (refused(-32022, "no", {"supported": ["2025-11-25"]}), "2025-11-25"),
        (refused(-32022, "no", {"supported": ["2027-01-01"]}), "2027-01-01"),
    ],
)
def test_a_server_that_lists_other_revisions_is_refused_with_both_lists_a1_3(
    answer: Any, named: str
) -> None:
    found, peer = do(CALL, [answer], greet=True)
    assert isinstance(found, NoCommonVersion)
    assert found.message == f"the server speaks MCP {named}; mcptask speaks 2026-07-28"
    assert peer.methods == ["server/discover"]


@pytest.mark.parametrize("data", [None, {}, {"supported": "2026-07-28"}, {"supported": []}, [5]])
def test_a_version_refusal_without_a_list_is_an_older_server_a1_3(data: Any) -> None:
    for greet in (True, False):
        found, peer = do(CALL, [refused(-32022, "no", data), OLDER], greet=greet)
        assert isinstance(found, NoCommonVersion)
        assert peer.methods[1:] == ["initialize"]


def test_a_version_refusal_that_lists_ours_is_tried_once_more_a1_3() -> None:
    found, peer = do(GET, [OTHER_VERSION, DISCOVERED, wire()], greet=True)
    assert found.task_id == ID
    assert peer.methods == ["server/discover", "server/discover", "tasks/get"]


def test_a_probe_refused_for_its_version_again_and_again_ends_s9() -> None:
    found, peer = do(GET, [OTHER_VERSION], greet=True)
    assert isinstance(found, McptaskError)
    assert not isinstance(found, RpcError)
    assert len(peer.methods) < 8


@pytest.mark.parametrize("answer", [{}, {"supportedVersions": "x"}, Whole(result="hello")])
def test_a_probe_answered_with_something_else_is_an_older_server_a1_3(answer: Any) -> None:
    found, peer = do(CALL, [answer, OLDER], greet=True)
    assert isinstance(found, NoCommonVersion)
    assert "2025-06-18" in found.message
    assert peer.methods == ["server/discover", "initialize"]


@pytest.mark.parametrize("code", [-32020, -32021])
def test_a_refusal_that_only_a_modern_server_knows_is_no_sign_of_an_older_one_a1_3(
    code: int,
) -> None:
    found, peer = do(CALL, [refused(code)])
    assert (type(found), peer.methods) == (RpcError, ["tools/call"])
    found, peer = do(GET, [refused(code), wire()], greet=True)
    assert found.task_id == ID
    assert peer.methods == ["server/discover", "tasks/get"]


@pytest.mark.parametrize("status", [302, 406, 415, 418])
def test_other_refusals_of_http_are_no_sign_of_an_older_server_a1_3(status: int) -> None:
    refusal = HttpRefused(f"HTTP {status}", status=status)
    found, peer = do(CALL, [refusal])
    assert (found, peer.methods) == (refusal, ["tools/call"])
    found, peer = do(DISCOVER, [refusal])
    assert (found, peer.methods) == (refusal, ["server/discover"])


@pytest.mark.parametrize("error", [Unauthorized("401"), BUSY, Unreachable("refused", sent=False)])
def test_being_locked_out_or_out_of_reach_over_http_says_nothing_of_the_era_s9(
    error: McptaskError,
) -> None:
    for doing in (CALL, DISCOVER):
        found, peer = do(doing, [error])
        assert found is error
        assert "initialize" not in peer.methods


def test_an_address_where_nothing_speaks_mcp_is_told_as_http_told_it_a4_3() -> None:
    found, peer = do(CALL, [NOT_FOUND])
    assert found is NOT_FOUND
    assert peer.methods == ["tools/call", "server/discover", "initialize"]


def test_an_error_of_a_modern_server_met_for_the_first_time_is_its_own_error_a1_3() -> None:
    found, peer = do(CALL, [refused(-32602, "no such tool"), DISCOVERED])
    assert (found.code, found.message) == (-32602, "no such tool")
    assert peer.methods == ["tools/call", "server/discover"]
    found, _ = do(GET, [refused(-32602, "no such task"), DISCOVERED])
    assert isinstance(found, TaskLost)


def test_a_modern_server_is_doubted_once_a1_5() -> None:
    async def twice(session: Session) -> None:
        for _ in range(2):
            with pytest.raises(TaskLost):
                await session.get(ID)

    _, peer = do(twice, [refused(-32602), DISCOVERED, refused(-32602)])
    assert peer.methods == ["tasks/get", "server/discover", "tasks/get"]


def test_a_server_known_to_be_modern_is_not_doubted_a1_5() -> None:
    found, peer = do(GET, [NOT_FOUND], known=True)
    assert (found, peer.methods) == (NOT_FOUND, ["tasks/get"])


@pytest.mark.parametrize(
    ("answer", "spoken"),
    [
        (OLDER, "MCP 2025-06-18"),
        ({}, "MCP of an older revision"),
        (refused(-32603), "no revision that mcptask knows"),
        (Whole(result=5), "no revision that mcptask knows"),
        (BUSY, "no revision that mcptask knows"),
        (NOT_FOUND, "no revision that mcptask knows"),
    ],
)
def test_whatever_initialize_is_answered_with_the_message_is_plain_a1_8(
    answer: Any, spoken: str
) -> None:
    found, peer = do(CALL, [UNKNOWN_METHOD, UNKNOWN_METHOD, answer])
    assert isinstance(found, NoCommonVersion)
    assert found.message == (
        f"the server speaks {spoken}; mcptask needs MCP 2026-07-28 with the Tasks extension"
    )
    assert peer.methods == ["tools/call", "server/discover", "initialize"]


def test_initialize_is_a_request_of_the_older_wire_a1_8_a3_8() -> None:
    _, peer = do(CALL, [UNKNOWN_METHOD, OLDER], greet=True)
    request = peer.transport.requests[1]
    assert request.headers == {}
    assert "_meta" not in request.params
    validate_client_request("initialize", "2025-11-25", dict(request.params))


# ── stdio: silence and sudden ends ───────────────────────────────────────────────────────────────


def test_an_older_server_that_ignores_or_dies_of_the_probe_is_named_a1_3() -> None:
    found, peer = do(CALL, [BUSY, OLDER], greet=True)
    assert isinstance(found, NoCommonVersion)
    assert "2025-06-18" in found.message
    assert peer.methods == ["server/discover", "initialize"]


def test_a_command_that_is_no_server_is_out_of_reach_and_the_call_was_not_sent_a6_7() -> None:
    found, _ = do(CALL, [Unreachable("exited with 1")], greet=True)
    assert isinstance(found, Unreachable)
    assert (found.message, found.sent) == ("exited with 1", False)


def test_a_slow_starter_that_refuses_initialize_is_modern_after_all_a1_3() -> None:
    found, peer = do(GET, [BUSY, OTHER_VERSION, DISCOVERED, wire()], greet=True)
    assert found.task_id == ID
    assert peer.methods[1:] == ["initialize", "server/discover", "tasks/get"]
