"""A task that its server does not know: lost and not failed, with the reason that its times make likely."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import ID, Scripted, completed, created, error, now

LOST = error(-32602, "Failed to retrieve task: not found")
UNKNOWN_HERE = "it was purged, the server was restarted, or you are someone else to it now"
SLOW = {"pollIntervalMs": 30_000}
MINUTE = {"ttlMs": 60_000}


def at(days: float) -> str:
    """What a server's clock says, that many days from now."""
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


def stored(cli: Cli) -> dict[str, Any]:
    (record,) = cli("list", "--json").listed["tasks"]
    return dict(record)


@pytest.mark.parametrize("command", ["watch 1", "get 1", "cancel 1", "list --refresh"])
def test_a_lost_task_stays_on_record_as_it_was_last_seen_a4_3_s10(
    on_server: Cli, server: Scripted, command: str
) -> None:
    on_server("call", "job", "month=x")
    for method in ("tasks/get", "tasks/cancel"):
        server.on(method, LOST)
    ran = on_server(*command.split())
    if "list" not in command:
        assert ran.code == 6
        assert f"{server.name} no longer knows task 1 ({ID}): {UNKNOWN_HERE}" in ran.err
        assert 'the last state seen was "working"' in ran.err
        assert "mcptask call job …" in ran.err
    assert "failed" not in ran.err + ran.out
    assert (stored(on_server)["status"], stored(on_server)["outcome"]) == ("working", "lost")
    server.on("tasks/get", completed())
    assert on_server("watch", "1").code == 0, "known again, as by the right token"
    assert stored(on_server)["status"] == "completed"


def test_the_document_of_a_lost_task_has_what_was_last_seen_of_it_a4_3(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tasks/get", now("working", statusMessage="Reflowing", **SLOW), LOST)
    told = on_server("call", "job", "month=x", "--wait", "--json").document
    assert (told["outcome"], told["error"]["kind"], told["result"]) == ("lost", "lost", None)
    assert told["task"]["statusMessage"] == "Reflowing"


@pytest.mark.parametrize("days", [0, -3, 3])
@pytest.mark.parametrize(
    ("times", "reason"),
    [
        (MINUTE, "its 1 m ran out"),
        ({"ttlMs": 86_400_000}, UNKNOWN_HERE),
        ({"ttlMs": None}, UNKNOWN_HERE),
        ({"ttlMs": "soon"}, UNKNOWN_HERE),
    ],
)
def test_the_time_of_a_task_that_was_made_here_counts_from_here_a14_4_a14_5(
    on_server: Cli, server: Scripted, days: float, times: dict[str, Any], reason: str
) -> None:
    """However wrong the server's clock is."""
    times = times | {"createdAt": at(days)} | SLOW
    server.on("tools/call", created(**times))
    working = now("working", **times)
    server.on("tasks/get", working, working, working, LOST)
    ran = on_server("call", "job", "month=x", "--wait")
    assert ran.code == 6
    assert reason in ran.err


@pytest.mark.parametrize(
    ("then", "reason"),
    [
        (MINUTE, "its 1 m ran out"),
        ({"ttlMs": 86_400_000}, UNKNOWN_HERE),
        ({"ttlMs": None}, UNKNOWN_HERE),
    ],
)
@pytest.mark.parametrize("first", [MINUTE, {"ttlMs": None}])
def test_of_several_times_to_live_the_latest_counts_a14_3(
    on_server: Cli, server: Scripted, first: dict[str, Any], then: dict[str, Any], reason: str
) -> None:
    made = {"createdAt": at(0)}
    server.on("tools/call", created(**first, **made))
    on_server("call", "job", "month=x")
    working = now("working", **then, **made, **SLOW)
    server.on("tasks/get", now("working", **first, **made), working, working, working, LOST)
    assert reason in on_server("watch", "1").err


def test_a_long_watch_tells_when_it_saw_the_task_last_and_not_when_it_began_a14_4(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=x")
    queued = now("queued", **SLOW)
    server.on("tasks/get", *[queued] * 10, LOST)
    assert 'the last state seen was "queued", 30 s ago' in on_server("watch", "1").err


@pytest.mark.parametrize("command", ["watch", "get"])
def test_an_id_that_is_not_stored_may_never_have_been_known_there_a4_3(
    on_server: Cli, server: Scripted, command: str
) -> None:
    server.on("tasks/get", LOST)
    ran = on_server(command, "tsk_by_hand", "-s", server.url)
    assert ran.code == 6
    said = f"{server.name} does not know task tsk_by_hand: it expired, or was never known there"
    assert said in ran.err
    assert "task 0" not in ran.err
    assert on_server("list", "--json").listed["tasks"] == []


def test_an_id_that_is_not_stored_and_was_seen_is_no_longer_known_a4_3(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tasks/get", now("working", "tsk_by_hand"), LOST)
    ran = on_server("watch", "tsk_by_hand", "-s", server.url)
    assert ran.code == 6
    assert f"{server.name} no longer knows task tsk_by_hand: {UNKNOWN_HERE}" in ran.err


@pytest.mark.parametrize(("interval", "asked"), [(100, 2), (30_000, 1)])
def test_only_a_task_that_is_younger_than_two_seconds_is_asked_for_once_more_a4_3_t23(
    on_server: Cli, server: Scripted, interval: int, asked: int
) -> None:
    server.on("tools/call", created(pollIntervalMs=interval))
    server.on("tasks/get", LOST)
    assert on_server("call", "job", "month=x", "--wait").code == 6
    assert len(server.got("tasks/get")) == asked
