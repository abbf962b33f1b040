"""Trouble on the way to a server and with it: ridden out or left for later, never called a failed task."""

import socket
import struct
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    Got,
    Reply,
    Scripted,
    completed,
    dies,
    error,
    http,
    now,
    result,
    scripted,
    task,
)

JSON = "application/json"
WORKING = now("working", statusMessage="Reflowing")
RESUME = "mcptask watch 1"


def hangs_up(handler: Any, got: Got) -> None:
    """The end of the connection in place of an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def resets(handler: Any, got: Got) -> None:
    """The same, so that the client hears of a reset."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.rfile.close()
    handler.wfile.close()
    handler.connection.close()
    handler.close_connection = True


PASSING: dict[str, Reply] = {
    "half an answer": dies,
    "no answer": hangs_up,
    "a reset": resets,
    "408": http(408),
    "425": http(425),
    "429": http(429),
    "500": http(500, "<h1>Oops</h1>"),
    "502 with the page of a proxy": http(502, "<html><h1>502 Bad Gateway</h1><hr>nginx</html>"),
    "503": http(503),
    "504": http(504),
    "200 with the page of a proxy": http(200, "<html><h1>We are back soon</h1></html>"),
    "200 and nothing": http(200, b"", JSON),
    "204": http(204),
    "garbage": http(200, '{"jsonrpc": "2.0", "resu', JSON),
    "a stream that ends too early": http(200, ": hi\n\n", "text/event-stream"),
    "an internal error": error(-32603, "the database is locked"),
    "an internal error with 500": error(-32603, "the database is locked", 500),
    "an error without a meaning": error(-32000, "eh"),
}


@pytest.fixture
def one_task(on_server: Cli) -> Cli:
    """Task 1 is stored, and was working when it was last seen."""
    on_server("call", "job", "month=x")
    return on_server


def stored(cli: Cli) -> dict[str, Any]:
    (record,) = cli("list", "--json").listed["tasks"]
    return dict(record)


def still_there(cli: Cli) -> bool:
    """Does the stored task go on, as if nobody had seen any trouble?"""
    record = stored(cli)
    return (record["status"], record["outcome"]) == ("working", None)


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_ridden_out_and_the_watch_goes_on_a4_3_t17(
    one_task: Cli, server: Scripted, name: str
) -> None:
    server.on("tasks/get", WORKING, PASSING[name], PASSING[name], completed())
    ran = one_task("watch", "1")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    kind = {"429": "asks for fewer requests", "204": "does not answer"}
    http_error = name[0] in "45"  # it did answer, and is not said to be silent
    what = kind.get(name[:3], "answers HTTP" if http_error else "does not answer")
    assert f"{server.name} {what}" in ran.err
    assert "answers again" in ran.err
    assert "failed" not in ran.err


@pytest.mark.parametrize("name", PASSING)
def test_what_does_not_pass_ends_in_exit_7_and_the_task_is_as_it_was_a10_6_s10(
    one_task: Cli, server: Scripted, name: str
) -> None:
    server.on("tasks/get", WORKING, PASSING[name])
    ran = one_task("watch", "1", "--json")
    told = ran.document
    assert (ran.code, told["outcome"]) == (7, "unreachable")
    assert "no contact for 5" in told["error"]["message"]
    assert "the task was working and may go on" in told["error"]["message"]
    assert RESUME in told["error"]["hint"]
    assert told["task"]["status"] == "working"
    assert still_there(one_task)
    text = one_task("watch", "1", "--give-up-after", "20s")
    assert (text.code, text.out) == (7, "")
    assert RESUME in text.err


ENDS: dict[str, tuple[Reply, str]] = {
    # What says that there is no use in going on, and what is told of it.
    "no such method": (error(-32601, "Method not found", 404), "Method not found"),
    "an address that takes no such request": (http(405, "<!doctype html>"), "405"),
    "an answer about another task": (completed("tsk_other"), "tsk_other"),
    "no status": (result(**(task() | {"status": None})), "status"),
    "a redirect to elsewhere": (http(302, Location="https://elsewhere.example/"), "elsewhere"),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_breach_in_the_middle_ends_the_watch_and_the_task_is_as_it_was_a4_3_a9_1_s10(
    one_task: Cli, server: Scripted, name: str
) -> None:
    reply, said = ENDS[name]
    server.on("tasks/get", WORKING, reply)
    ran = one_task("watch", "1")
    assert ran.code == 9
    assert said in ran.err
    assert "failed" not in ran.err
    assert still_there(one_task)
    again = one_task("watch", "1", "--json").document
    assert (again["outcome"], again["error"]["kind"]) == ("protocol", "protocol")
    server.on("tasks/get", completed())
    assert one_task("watch", "1").code == 0


ODD: dict[str, tuple[list[Reply], int, str]] = {
    # Snapshots that break the rules: how the watch ends, and what is warned of.
    "working after completed": (
        [now("completed"), WORKING],
        0,
        "the server says working after completed; completed is final",
    ),
    "completed without a result": ([now("completed")], 0, "without sending what belongs to it"),
    "a result that comes late": ([now("completed"), completed()], 0, ""),
    "failed without an error": ([now("failed", statusMessage="disk full")], 4, "disk full"),
    "a failure that is taken back": (
        [now("failed", statusMessage="disk full"), completed()],
        4,
        "the server says completed after failed; failed is final",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_the_first_end_of_a_task_counts_whatever_comes_later_a9_7_a14_1(
    one_task: Cli, server: Scripted, name: str
) -> None:
    replies, code, said = ODD[name]
    server.on("tasks/get", WORKING, *replies)
    ran = one_task("watch", "1")
    assert ran.code == code
    assert said in ran.err
    assert stored(one_task)["status"] == ("failed" if code else "completed")


def test_a_status_that_nobody_knows_is_shown_and_has_ten_minutes_a9_2(
    one_task: Cli, server: Scripted
) -> None:
    server.on("tasks/get", now("queued", pollIntervalMs=60_000))
    ran = one_task("watch", "1")
    assert ran.code == 9
    assert "'queued' for 10 min" in ran.err
    assert 10 <= len(server.got("tasks/get")) <= 12
    assert (stored(one_task)["status"], stored(one_task)["outcome"]) == ("queued", None)
    server.on("tasks/get", now("queued"), completed())
    assert one_task("watch", "1").code == 0


# ── how long it is waited for ────────────────────────────────────────────────────────────────────


def busy_until_a_date(seconds: float, skew: timedelta) -> Reply:
    """429 from a server whose clock is wrong: the dates in it fit each other, and nothing else."""

    def reply(handler: Any, got: Got) -> None:
        its_now = datetime.now(UTC).replace(microsecond=0) + skew
        handler.send_response_only(429)
        handler.send_header("Date", format_datetime(its_now, usegmt=True))
        until = its_now + timedelta(seconds=seconds)
        handler.send_header("Retry-After", format_datetime(until, usegmt=True))
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


@pytest.mark.parametrize(
    "busy",
    [
        http(429, Retry_After="40"),
        http(503, Retry_After="40"),
        busy_until_a_date(40, timedelta(0)),
        busy_until_a_date(40, timedelta(days=-3)),
        busy_until_a_date(40, timedelta(days=3)),
    ],
)
def test_retry_after_is_waited_out_in_both_forms_a4_4(
    one_task: Cli, server: Scripted, busy: Reply
) -> None:
    server.on("tasks/get", WORKING, busy, completed())
    assert one_task("watch", "1").code == 0
    assert one_task.time.gaps("tasks/get")[-1] == pytest.approx(40, abs=1)


TEN_MINUTES = 600.0


def away(cli: Cli, back: Callable[[], object]) -> Clock:
    """The clock of a run that does `back` ten minutes after this moment."""
    begun, returned = cli.time.now(), []

    async def sleep(seconds: float) -> None:
        await cli.time.sleep(seconds)
        if not returned and cli.time.now() - begun >= TEN_MINUTES:
            returned.append(back())

    return Clock(now=cli.time.now, wall=cli.time.wall, sleep=sleep)


def test_a_server_that_is_away_for_ten_minutes_is_waited_for_where_that_is_allowed_a10_6(
    cli: Cli,
) -> None:
    with scripted() as before:
        cli("call", "job", "month=x", "-s", before.url)
        port = int(before.name.rpartition(":")[2])
    ran = cli("watch", "1")
    assert ran.code == 7
    assert "no contact for 5 min" in ran.err
    assert "connection refused" in ran.err
    assert RESUME in ran.err
    assert still_there(cli)
    with ExitStack() as stack:
        clock = away(cli, lambda: stack.enter_context(scripted(port)))
        ran = cli("watch", "1", "--give-up-after", "15m", clock=clock)
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert "answers again" in ran.err


def test_a_name_that_is_not_found_any_more_is_waited_for_like_a_server_a10_6(
    cli: Cli, server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("call", "job", "month=x", "-s", server.url.replace("127.0.0.1", "localhost"))

    def gone(*more: object, **named: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", gone)
        ran = cli("watch", "1")
        assert ran.code == 7
        assert "name not found" in ran.err
        assert RESUME in ran.err
        assert still_there(cli)
        ran = cli("watch", "1", "--give-up-after", "15m", clock=away(cli, patch.undo))
    assert ran.code == 0
    assert "answers again" in ran.err
