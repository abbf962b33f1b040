"""A server over stdio: silent, slow, dying of the probe, or started anew in the middle."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mcptask.errors import (
    NoCommonVersion,
    Unreachable,
)
from mcptask.protocol.session import Session
from mcptask.protocol.verdict import Spoken
from tests.protocol.fakes import ID, RESULT, Peer, wire
from tests.protocol.sessions import (
    BUSY,
    CALL,
    DISCOVERED,
    GET,
    OLDER,
    OTHER_VERSION,
    UNKNOWN_METHOD,
    Course,
    by_method,
    do,
    late,
    never,
)


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


def test_a_silent_server_is_sent_initialize_beside_the_probe_and_named_a1_3() -> None:
    course = Course(CALL, by_method(server_discover=[never], initialize=[OLDER]), greet=True)
    assert isinstance(course.found, NoCommonVersion)
    assert "MCP 2025-06-18" in course.found.message
    assert course.peer.methods == ["server/discover", "initialize"]
    assert course.time.slept == [5.0]
    (learned,) = course.learned
    assert (learned.version, learned.older, learned.silent) == ("2025-06-18", True, True)
    assert learned.why == "it answered initialize, and did not answer server/discover"


def test_a_server_that_was_silent_the_last_time_is_waited_for_a_second_a1_5() -> None:
    memory = Spoken(version="2025-06-18", why="", older=True, silent=True)
    peer = by_method(server_discover=[never], initialize=[OLDER])
    course = Course(CALL, peer, greet=True, memory=memory, probe_wait=7.0)
    assert course.time.slept == [1.0]


def test_how_long_a_silent_server_is_waited_for_can_be_set_a5_8() -> None:
    peer = by_method(server_discover=[never], initialize=[OLDER])
    assert Course(CALL, peer, greet=True, probe_wait=7.0).time.slept == [7.0]


def test_a_modern_server_that_starts_slowly_is_modern_whatever_it_says_to_initialize_a1_3() -> None:
    for said in (OTHER_VERSION, UNKNOWN_METHOD, OLDER):
        peer = by_method(
            server_discover=[late(DISCOVERED, 20)],
            initialize=[late(said, 40)],
            tasks_get=[wire()],
        )
        course = Course(GET, peer, greet=True)
        assert course.found.task_id == ID
        assert course.peer.methods == ["server/discover", "initialize", "tasks/get"]


def test_a_slow_modern_server_that_refuses_initialize_at_once_is_waited_for_a1_3() -> None:
    peer = by_method(
        server_discover=[late(DISCOVERED)], initialize=[UNKNOWN_METHOD], tasks_get=[wire()]
    )
    course = Course(GET, peer, greet=True)
    assert course.found.task_id == ID
    assert course.peer.methods == ["server/discover", "initialize", "tasks/get"]


def test_a_server_that_is_silent_to_both_is_out_of_reach_a1_3() -> None:
    silence = [late(Unreachable("no answer within 60 s"))]
    peer = by_method(server_discover=silence, initialize=silence)
    course = Course(CALL, peer, greet=True)
    assert isinstance(course.found, Unreachable)
    assert course.found.sent is False
    assert course.peer.methods == ["server/discover", "initialize"]


def test_a_server_that_takes_its_time_to_die_of_the_probe_is_started_anew_a1_3() -> None:
    def dies() -> list[Any]:
        async def dying() -> None:
            for _ in range(20):
                await asyncio.sleep(0)
            peer.transport.life = 1

        return [dying(), Unreachable("the server exited with code 1")]

    peer = by_method(server_discover=[dies], initialize=[dies, OLDER])
    course = Course(CALL, peer, greet=True)
    assert isinstance(course.found, NoCommonVersion)
    assert "2025-06-18" in course.found.message
    assert course.peer.methods == ["server/discover", "initialize", "initialize"]
    assert course.learned[0].silent is False


def test_leaving_during_the_probe_leaves_no_request_behind_a6_5() -> None:
    async def given_up(session: Session) -> None:
        greeting = asyncio.ensure_future(session.greet())
        while "initialize" not in peer.methods:
            await asyncio.sleep(0)
        greeting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await greeting

    peer = by_method(server_discover=[never], initialize=[never])
    do_quietly = Course(given_up, peer, greet=True)
    assert do_quietly.found is None
    assert [request.method for request in peer.transport.left] == ["server/discover", "initialize"]


# ── a server that was started anew ───────────────────────────────────────────────────────────────


def test_a_process_that_was_started_anew_is_greeted_before_the_next_request_a6_7() -> None:
    async def over_a_restart(session: Session) -> None:
        await session.get(ID)
        peer.transport.life += 1
        await session.get(ID)
        await session.get(ID)

    peer = Peer([DISCOVERED, wire(), DISCOVERED, wire()])
    assert Course(over_a_restart, peer, greet=True).found is None
    asked = ["server/discover", "tasks/get"]
    assert peer.methods == [*asked, *asked, "tasks/get"]


def test_a_request_that_is_repeated_after_a_restart_is_preceded_by_a_greeting_a6_7() -> None:
    def dies() -> Unreachable:
        peer.transport.life += 1
        return Unreachable("the server exited with code 1")

    peer = by_method(server_discover=[DISCOVERED], tasks_get=[dies, wire()])
    assert Course(GET, peer, greet=True).found.task_id == ID
    assert peer.methods == ["server/discover", "tasks/get"] * 2


def test_a_call_whose_server_died_is_not_sent_to_the_next_process_s8() -> None:
    def dies() -> Unreachable:
        peer.transport.life += 1
        return Unreachable("the server exited with code 1")

    peer = by_method(server_discover=[DISCOVERED], tools_call=[dies, RESULT])
    found = Course(CALL, peer, greet=True).found
    assert isinstance(found, Unreachable)
    assert found.sent is True
    assert peer.methods == ["server/discover", "tools/call"]
