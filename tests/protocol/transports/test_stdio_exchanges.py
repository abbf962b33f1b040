"""Several exchanges over one child: who gets what, and leaving early, a new child after it
died (A6.5, A6.7, A6.8).
"""

import asyncio
import os
import sys
from contextlib import aclosing, asynccontextmanager

import pytest

from mcptask.env import Clock
from mcptask.errors import Unreachable
from mcptask.protocol.transports import stdio
from mcptask.protocol.transports.stdio import StdioTransport

ANSWER = {"jsonrpc": "2.0", "id": "$id", "result": {}}
SILENT = []


def child(code):
    """A child that runs this Python."""
    return [sys.executable, "-I", "-S", "-c", code]


@asynccontextmanager
async def started(command, **options):
    transport = StdioTransport(command, environ=os.environ, **options)
    try:
        yield transport
    finally:
        await transport.close()


# ── who gets what ──


def note(**params):
    return {"jsonrpc": "2.0", "method": "notifications/x", "params": params}


def test_notifications_go_to_the_exchange_that_they_name__A6_8(request_, all_of, scripted_child):
    subscribed = note(_meta={"io.modelcontextprotocol/subscriptionId": "1"})
    foreign = note(_meta={"io.modelcontextprotocol/subscriptionId": "9", "x": 1})
    progress = note(progressToken="p", progress=1)
    loose = [note(), {"jsonrpc": "2.0", "method": "notifications/y", "params": [1]}, foreign,
             note(progressToken="q"), note(progressToken=None), note(_meta="text")]  # fmt: skip
    command, _ = scripted_child([], [progress, subscribed, *loose, ANSWER, {**ANSWER, "id": 1}])
    remarks = []

    async def main():
        async with started(command, remark=remarks.append) as transport:
            listening = asyncio.ensure_future(all_of(transport, request_(id=1)))
            await asyncio.sleep(0)
            calling = request_(id=2, params={"_meta": {"progressToken": "p"}})
            assert await all_of(transport, calling) == [progress, {**ANSWER, "id": 2}]
            assert await listening == [subscribed, {**ANSWER, "id": 1}]

    asyncio.run(main())
    assert "(6 times in all)" in remarks[1]


def test_an_error_without_an_id_is_nobodys_where_two_wait(request_, all_of, scripted_child):
    orphan = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "?"}}
    command, _ = scripted_child([], [orphan, ANSWER, {**ANSWER, "id": 1}])
    remarks = []

    async def main():
        async with started(command, remark=remarks.append) as transport:
            got = await asyncio.gather(*(all_of(transport, request_(id=i)) for i in (1, 2)))
            assert [len(messages) for messages in got] == [1, 1]

    asyncio.run(main())
    assert "not open" in remarks[0]


def test_a_flood_of_notifications_is_dropped_not_piled_up(request_, monkeypatch, scripted_child):
    monkeypatch.setattr(stdio, "MAX_WAITING", 3)
    flood = [note(progressToken="p", progress=i) for i in range(10)]
    command, _ = scripted_child([*flood, ANSWER])
    remarks = []

    async def main():
        async with started(command, remark=remarks.append) as transport:
            asking = request_(params={"_meta": {"progressToken": "p"}})
            async with aclosing(transport.exchange(asking)) as messages:
                got = [await anext(messages)]
                async with asyncio.timeout(5):
                    while not remarks:
                        await asyncio.sleep(0.01)
                got += [message async for message in messages]
            assert got[-1]["result"] == {}
            assert 2 <= len(got) < 11

    asyncio.run(main())
    assert "faster than they were read" in remarks[0]


# ── leaving ──


@pytest.mark.parametrize(
    ("method", "told"),
    [("tools/call", [{"requestId": 1}]), ("server/discover", []), ("initialize", [])],
)
def test_leaving_early_cancels_the_request_but_not_a_probe__A6_5(
    request_, all_of, scripted_child, method, told
):
    command, sent = scripted_child(SILENT)

    async def main():
        async with started(command) as transport:
            with pytest.raises(Unreachable):
                await all_of(transport, request_(method, wait=0.3))

    asyncio.run(main())
    notices = [m for m in sent() if "id" not in m]
    assert [m["params"] for m in notices] == told
    assert all(m["method"] == "notifications/cancelled" for m in notices)


def test_a_late_answer_to_a_cancelled_request_is_no_noise__A6_5(request_, all_of, scripted_child):
    command, _ = scripted_child(SILENT, [{**ANSWER, "id": 1}, ANSWER])
    remarks = []

    async def main():
        async with started(command, remark=remarks.append) as transport:
            with pytest.raises(Unreachable, match=r"no answer to \S+ within 0\.2 s"):
                await all_of(transport, request_(wait=0.2))
            assert len(await all_of(transport, request_(id=2))) == 1

    asyncio.run(main())
    assert remarks == []


def test_a_request_of_the_server_gets_no_response__A2_7_S19(request_, all_of, scripted_child):
    asked = [{"jsonrpc": "2.0", "id": id, "method": method, "params": {}}
             for id, method in enumerate(("ping", "roots/list", "elicitation/create"))]  # fmt: skip
    command, sent = scripted_child([*asked, ANSWER], [ANSWER])

    async def main():
        async with started(command) as transport:
            for id in (5, 6):
                await all_of(transport, request_(id=id))

    asyncio.run(main())
    assert [(message["id"], "method" in message) for message in sent()] == [(5, True), (6, True)]


def test_closing_ends_the_open_exchanges(request_, all_of, scripted_child):
    command, _ = scripted_child(SILENT)

    async def main():
        async with started(command) as transport:
            waiting = asyncio.ensure_future(all_of(transport, request_()))
            await asyncio.sleep(0.1)
            await transport.close()
            with pytest.raises(Unreachable, match="closed"):
                await waiting

    asyncio.run(main())


def test_leaving_an_exchange_of_a_dead_server_is_quiet(request_, scripted_child):
    command, _ = scripted_child([note(progressToken="p"), "die"])

    async def main():
        async with started(command) as transport:
            asking = request_(params={"_meta": {"progressToken": "p"}})
            async with aclosing(transport.exchange(asking)) as messages:
                await anext(messages)
                while not transport._child.ended:
                    await asyncio.sleep(0.01)

    asyncio.run(main())


# ── starting again ──


def test_a_dead_server_is_started_again_with_a_remark__A6_7(request_, all_of, scripted_child):
    command, _ = scripted_child(["die"])
    again, _ = scripted_child([ANSWER])
    remarks = []

    async def main():
        async with started(command, remark=remarks.append) as transport:
            with pytest.raises(Unreachable):
                await all_of(transport, request_())
            transport._command = again
            assert len(await all_of(transport, request_(id=2))) == 1

    asyncio.run(main())
    assert "starting it again" in remarks[0]
    assert "dying" in remarks[0]


class Hours:
    """A clock that only moves when it is told to."""

    def __init__(self):
        self.time = 0.0
        self.clock = Clock(now=lambda: self.time)


async def tried(transport, request, all_of):
    """None where the request was answered, else the Unreachable that it ended with."""
    try:
        await all_of(transport, request)
    except Unreachable as error:
        return error
    return None


def test_a_server_that_always_dies_is_started_less_and_less_often__A6_7(request_, all_of):
    hours, waits = Hours(), []

    async def main():
        async with started(child("import sys; sys.exit(5)"), clock=hours.clock) as transport:
            for i in range(15):
                error = await tried(transport, request_(id=i), all_of)
                assert "exited with code 5" in error.message
                if error.retry_after is not None:
                    assert error.sent is False
                    waits.append(error.retry_after)
                    hours.time += error.retry_after
                    assert transport._child is None

    asyncio.run(main())
    assert waits == [1, 2, 4, 8, 16, 30, 30]


def test_a_server_that_has_answered_in_between_is_started_again_at_once_for_days__A6_7(
    request_, all_of, scripted_child
):
    command, _ = scripted_child([ANSWER], ["die"])

    async def main():
        async with started(command, clock=Hours().clock) as transport:
            ends = [await tried(transport, request_(id=i), all_of) for i in range(16)]
            assert [end is None for end in ends] == [True, False] * 8
            assert all(end.retry_after is None for end in ends if end)

    asyncio.run(main())


def test_a_server_that_only_answers_greetings_has_not_answered__A6_7(
    request_, all_of, scripted_child
):
    command, _ = scripted_child([ANSWER], ["die"])
    hours = Hours()

    async def main():
        async with started(command, clock=hours.clock) as transport:
            for wait in (None, 1, 2):
                if wait is not None:
                    early = await tried(transport, request_("server/discover"), all_of)
                    assert early.retry_after == wait
                    hours.time += wait
                assert await tried(transport, request_("server/discover"), all_of) is None
                assert await tried(transport, request_("tasks/get", id=2), all_of) is not None
                if wait is None:  # the first start after a death does not wait
                    assert await tried(transport, request_("server/discover"), all_of) is None
                    assert await tried(transport, request_("tasks/get", id=2), all_of) is not None

    asyncio.run(main())


def test_the_wait_counts_from_the_death_and_not_from_the_next_question__A6_7(request_, all_of):
    hours = Hours()

    async def main():
        async with started(child("import sys; sys.exit(5)"), clock=hours.clock) as transport:
            for _ in range(2):
                assert (await tried(transport, request_(), all_of)).retry_after is None
            hours.time += 0.75
            assert (await tried(transport, request_(), all_of)).retry_after == 0.25

    asyncio.run(main())


def test_a_server_that_died_during_its_start_is_not_waited_for(request_, all_of, monkeypatch):
    async def main():
        async with started(child("pass")) as transport:
            running = transport._running

            async def and_then_it_dies():
                process = await running()
                while not process.ended:
                    await asyncio.sleep(0.01)
                return process

            monkeypatch.setattr(transport, "_running", and_then_it_dies)
            with pytest.raises(Unreachable, match="code 0") as caught:
                await all_of(transport, request_())
            assert caught.value.sent is False

    asyncio.run(main())
