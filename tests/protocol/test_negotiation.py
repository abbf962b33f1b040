"""Finding out what a server speaks: what is asked, and what is made of the answers (A1.3)."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_types.methods import validate_client_request

from mcptask.errors import (
    HttpRefused,
    McptaskError,
    NoCommonVersion,
    RpcError,
    TaskLost,
    Unauthorized,
    Unreachable,
)
from mcptask.protocol.session import Session
from tests.protocol.fakes import ID, Peer, Whole, refused, wire
from tests.protocol.sessions import (
    BUSY,
    CALL,
    DISCOVER,
    DISCOVERED,
    DOINGS,
    GET,
    GOOD,
    MODERN,
    NOT_FOUND,
    NOT_INITIALIZED,
    OLDER,
    OTHER_VERSION,
    UNKNOWN_METHOD,
    Course,
    do,
)


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


def test_a_revision_that_was_forced_is_not_asked_about_a1_5() -> None:
    _, peer = do(GET, [wire()], greet=True, forced=True)
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
        refusal = refused(-32022, "no", data)
        found, peer = do(CALL, [refusal, *[refusal] * (not greet), OLDER], greet=greet)
        assert isinstance(found, NoCommonVersion)
        assert peer.methods == ["tools/call", "server/discover", "initialize"][greet:]


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


def test_a_revision_that_was_forced_is_not_doubted_a1_5() -> None:
    found, peer = do(GET, [NOT_FOUND], forced=True)
    assert (found, peer.methods) == (NOT_FOUND, ["tasks/get"])


def test_a_server_that_has_answered_in_this_run_is_not_doubted_a1_5() -> None:
    async def twice(session: Session) -> None:
        await session.get(ID)
        with pytest.raises(HttpRefused):
            await session.get(ID)

    for memory in (None, MODERN):
        _, peer = do(twice, [wire(), NOT_FOUND], memory=memory)
        assert peer.methods == ["tasks/get", "tasks/get"]


@pytest.mark.parametrize(
    ("answer", "spoken"),
    [
        (OLDER, "MCP 2025-06-18"),
        ({}, "MCP of an older revision"),
        (refused(-32603), "no revision that mcptask knows"),
        (Whole(result=5), "no revision that mcptask knows"),
        (BUSY, "no revision that it names: it did not answer initialize"),
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


def test_a_server_of_http_and_sse_is_named_by_its_endpoint_event_a1_3() -> None:
    refusal = HttpRefused("HTTP 405", status=405)
    peer = Peer([refusal])
    peer.transport.has_endpoint_event = True
    course = Course(CALL, peer)
    assert isinstance(course.found, NoCommonVersion)
    assert "MCP 2024-11-05" in course.found.message
    (learned,) = course.learned
    assert (learned.version, learned.older) == ("2024-11-05", True)


def test_a_draft_that_lists_our_revision_is_asked_once_more_a4_6() -> None:
    refusal = refused(-32004, "Unsupported protocol version", {"supported": ["2026-07-28"]})
    found, peer = do(GET, [refusal, DISCOVERED, wire()], greet=True)
    assert found.task_id == ID
    found, peer = do(CALL, [refusal], greet=True)
    assert isinstance(found, NoCommonVersion)
    assert (
        found.message == "the server refuses MCP 2026-07-28, and names no other revision to speak"
    )
    assert peer.methods == ["server/discover", "server/discover"]
