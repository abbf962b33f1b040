"""What a session makes of what was found out earlier, and what it finds out itself (A1.5)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcptask.errors import (
    HttpRefused,
    NoCommonVersion,
    TaskLost,
    Unauthorized,
)
from mcptask.protocol.session import Session
from tests.protocol.fakes import ID, Peer, refused, wire
from tests.protocol.sessions import (
    BUSY,
    CALL,
    DISCOVERED,
    DOINGS,
    GET,
    GOOD,
    MODERN,
    NOT_INITIALIZED,
    OLDER,
    UNKNOWN_METHOD,
    WAS_OLDER,
    Course,
    by_method,
    do,
    late,
    never,
)


@pytest.mark.parametrize("name", DOINGS)
def test_what_answered_says_that_the_server_speaks_our_revision_a1_5(name: str) -> None:
    course = Course(DOINGS[name], Peer([GOOD[name]]))
    (learned,) = course.learned
    assert (learned.version, learned.older) == ("2026-07-28", False)
    assert learned.why == f"it answered {course.peer.methods[0]}"


def test_a_server_that_was_older_the_last_time_is_asked_first_a1_5() -> None:
    found, peer = do(CALL, [UNKNOWN_METHOD, OLDER], memory=WAS_OLDER)
    assert isinstance(found, NoCommonVersion)
    assert peer.methods == ["server/discover", "initialize"]


def test_a_server_that_was_upgraded_meanwhile_is_used_a1_5() -> None:
    course = Course(GET, Peer([DISCOVERED, wire()]), memory=WAS_OLDER)
    assert course.found.task_id == ID
    assert course.peer.methods == ["server/discover", "tasks/get"]
    assert [learned.version for learned in course.learned] == ["2026-07-28"]


def test_a_server_that_was_older_and_is_out_of_reach_now_is_out_of_reach_a1_5() -> None:
    for trouble in (BUSY, Unauthorized("401")):
        course = Course(CALL, Peer([trouble]), memory=WAS_OLDER)
        assert course.found is trouble
        assert course.learned == []
        assert "tools/call" not in course.peer.methods
    assert BUSY.sent is False  # of the call itself


@pytest.mark.parametrize(
    "odd",
    [
        refused(-32022),
        UNKNOWN_METHOD,
        NOT_INITIALIZED,
        *(HttpRefused(f"HTTP {status}", status=status) for status in (400, 404, 405)),
    ],
    ids=str,
)
def test_an_odd_answer_of_a_server_that_is_only_remembered_is_looked_into_a1_5(odd: Any) -> None:
    course = Course(CALL, Peer([odd, UNKNOWN_METHOD, OLDER]), memory=MODERN)
    assert isinstance(course.found, NoCommonVersion)
    assert course.peer.methods == ["tools/call", "server/discover", "initialize"]
    assert [learned.version for learned in course.learned] == ["2025-06-18"]

    still_modern = Course(CALL, Peer([odd, DISCOVERED]), memory=MODERN)
    assert not isinstance(still_modern.found, NoCommonVersion)
    assert still_modern.peer.methods == ["tools/call", "server/discover"]


@pytest.mark.parametrize("code", [-32602, -32603])
def test_an_everyday_refusal_of_a_server_that_is_remembered_costs_no_probe_a1_5(code: int) -> None:
    found, peer = do(CALL, [refused(code)], memory=MODERN)
    assert (found.code, peer.methods) == (code, ["tools/call"])


def test_an_everyday_refusal_of_a_server_that_was_older_is_looked_into_a1_5() -> None:
    def by_another_process() -> Any:
        peer.transport.life += 1
        return refused(-32602)

    peer = by_method(tasks_get=[by_another_process], server_discover=[DISCOVERED])
    found = Course(GET, peer, memory=WAS_OLDER, greet=True).found
    assert isinstance(found, TaskLost)
    assert peer.methods == ["server/discover", "tasks/get", "server/discover"]


def test_many_requests_at_once_are_followed_by_one_probe_a1_5() -> None:
    async def many(session: Session) -> None:
        gets = (session.get(ID) for _ in range(8))
        for found in await asyncio.gather(*gets, return_exceptions=True):
            assert isinstance(found, TaskLost)

    peer = by_method(tasks_get=[refused(-32602)], server_discover=[late(DISCOVERED)])
    assert Course(many, peer).found is None
    assert peer.methods.count("server/discover") == 1


@pytest.mark.parametrize("greet", [False, True], ids=["http", "stdio"])
def test_an_older_server_is_found_out_once_in_a_run_a1_5(greet: bool) -> None:
    async def many(session: Session) -> None:
        for _ in range(2):
            gets = (session.get(ID) for _ in range(8))
            for found in await asyncio.gather(*gets, return_exceptions=True):
                assert isinstance(found, NoCommonVersion)
                assert "2025-06-18" in found.message

    peer = by_method(
        tasks_get=[late(UNKNOWN_METHOD)], server_discover=[UNKNOWN_METHOD], initialize=[OLDER]
    )
    assert Course(many, peer, greet=greet).found is None
    asked = ["server/discover", "initialize"]
    assert peer.methods == [*["tasks/get"] * 8 * (not greet), *asked]


def test_a_process_that_takes_the_place_of_an_older_one_is_asked_anew_a6_7() -> None:
    async def twice(session: Session) -> None:
        with pytest.raises(NoCommonVersion):
            await session.get(ID)
        peer.transport.life += 1
        await session.get(ID)

    peer = Peer([UNKNOWN_METHOD, OLDER, DISCOVERED, wire()])
    assert Course(twice, peer, greet=True).found is None
    assert peer.methods == ["server/discover", "initialize", "server/discover", "tasks/get"]


def test_many_requests_at_once_are_preceded_by_one_greeting_a1_2() -> None:
    async def many(session: Session) -> None:
        await asyncio.gather(*(session.get(ID) for _ in range(8)))

    slow = late(DISCOVERED)
    peer = by_method(tasks_get=[wire()], server_discover=[slow], initialize=[never])
    assert Course(many, peer, greet=True).found is None
    assert peer.methods == ["server/discover", "initialize", *["tasks/get"] * 8]


@pytest.mark.parametrize(
    ("listed", "remembered"),
    [
        (["2025-06-18", "2025-11-25"], ["2025-11-25"]),
        (["2099-01-01"], []),
        (["2099-01-01", "2025-11-25"], []),
        ([], []),
    ],
)
def test_a_list_of_older_revisions_alone_makes_an_older_server_a1_3(
    listed: list[str], remembered: list[str]
) -> None:
    for answer in ({"supportedVersions": listed}, refused(-32022, "no", {"supported": listed})):
        course = Course(CALL, Peer([answer, UNKNOWN_METHOD]), greet=True)
        assert isinstance(course.found, NoCommonVersion)
        assert [learned.version for learned in course.learned] == remembered
        assert all(learned.older for learned in course.learned)


def test_a_version_that_is_refused_in_the_middle_of_things_ends_there_if_others_are_listed_a1_9() -> (
    None
):
    async def later(session: Session) -> None:
        await session.get(ID)
        await session.get(ID)

    refusal = refused(-32022, "no", {"supported": ["2099-01-01"]})
    found, peer = do(later, [wire(), refusal])
    assert isinstance(found, NoCommonVersion)
    assert "2099-01-01" in found.message
    assert "2026-07-28" in found.message
    assert peer.methods == ["tasks/get", "tasks/get"]
