"""A subscription over a real connection and a real child: who gets what, and what leaving does (A11)."""

import asyncio
import os
from contextlib import asynccontextmanager

import pytest

from mcptask.env import Clock
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.push import Mode, Push
from mcptask.protocol.session import Session
from mcptask.protocol.transports.http import HttpTransport
from mcptask.protocol.transports.stdio import StdioTransport

ID, OTHER = "tsk_1", "tsk_2"
YES = Mode(True, "it acknowledged a subscription")
ANSWER = {"jsonrpc": "2.0", "id": "$id", "result": {}}


def note(method, id=None, **params):
    tag = {} if id is None else {"_meta": {"io.modelcontextprotocol/subscriptionId": id}}
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": {**params, **tag}}


def ack(id=None):
    return note("subscriptions/acknowledged", id, notifications={"taskIds": [ID, OTHER]})


def tells(id=None, task_id=ID, status="working"):
    return note("tasks", id, taskId=task_id, status=status, ttlMs=None)


async def at_once(seconds):
    """No pause of ours takes any time."""
    await asyncio.sleep(0)


@asynccontextmanager
async def pushing(transport, learned):
    """The stream of this transport; all that follow are its two tasks."""
    session = Session(transport, V20260728(), clock=Clock(sleep=at_once), forced=True)
    push = Push(session, [ID, OTHER], Clock(sleep=at_once), learned=learned.append, ack_wait=20)
    running = asyncio.ensure_future(push.run())
    push.want()
    try:
        async with asyncio.timeout(30):
            yield push
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await transport.close()


def over_http(http, *answers, heard, learned):
    async def main():
        async with http.peer(*answers) as peer:
            async with pushing(HttpTransport(peer.url), learned) as push:
                await heard(push)
            for _ in range(100):
                await asyncio.sleep(0.01)
                if peer.gone:
                    break
            return peer

    return asyncio.run(main())


def test_over_http_it_is_one_post_whose_stream_stays_open_a11_2_a3_2(http):
    async def heard(push):
        assert await push.inbox(ID).get() == await push.inbox(OTHER).get() == YES
        assert (await push.inbox(OTHER).get()).task.status == "completed"
        assert (await push.inbox(ID).get()).task.status == "working"

    parts = [b": hello\n\n", *map(http.event, [ack(), tells(), tells(None, OTHER, "completed")])]
    peer = over_http(http, http.stream(*parts, then="hang"), heard=heard, learned=[])
    (seen,) = peer.seen
    assert seen.headers["mcp-method"] == seen.message["method"] == "subscriptions/listen"
    assert "mcp-name" not in seen.headers


def test_over_http_leaving_closes_the_connection_a11_11(http):
    async def heard(push):
        assert await push.inbox(ID).get() == YES

    stays = http.stream(http.event(ack()), then="hang")
    assert over_http(http, stays, heard=heard, learned=[]).gone == 1


def test_over_http_a_stream_that_breaks_off_is_opened_again_a11_8(http):
    async def heard(push):
        inbox = push.inbox(ID)
        assert await inbox.get() == YES
        lost = await inbox.get()
        assert not lost.push
        assert "lost" in lost.why
        assert await inbox.get() == YES

    first = http.stream(http.event(ack()))
    peer = over_http(
        http, first, http.stream(http.event(ack()), then="hang"), heard=heard, learned=[]
    )
    assert len({seen.message["id"] for seen in peer.seen}) == 2


@pytest.mark.parametrize(
    ("status", "body", "kind", "why"),
    [
        (
            404,
            {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "?"}},
            None,
            "offer",
        ),
        (
            200,
            {"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "?"}},
            None,
            "offer",
        ),
        (404, b"<h1>Not Found</h1>", "text/html", "HTTP 404"),
        (405, b"", "text/html", "HTTP 405"),
    ],
)
def test_over_http_the_method_may_be_missing_in_many_ways_a11_1(http, status, body, kind, why):
    learned = []

    async def heard(push):
        assert why in (await push.inbox(ID).get()).why

    over_http(
        http, http.response(status, body, kind or "application/json"), learned=learned, heard=heard
    )
    assert len(learned) == 1


def test_over_http_a_plain_answer_is_an_end_at_once_and_two_are_enough_a11_8(http):
    async def answer(seen, reader, writer):
        writer.write(http.response(body={"jsonrpc": "2.0", "id": seen.message["id"], "result": {}}))
        return True

    learned = []

    async def heard(push):
        inbox = push.inbox(ID)
        assert [(await inbox.get()).why for _ in range(2)] == [
            "it ended the subscription",
            "it ends each subscription at once",
        ]

    over_http(http, answer, learned=learned, heard=heard)
    assert learned == ["it ends each subscription at once"]


def over_stdio(scripted_child, *script, heard):
    command, log = scripted_child(*script)

    async def main():
        transport = StdioTransport(command, environ=os.environ, grace=0.5)
        async with pushing(transport, []) as push:
            await heard(push, transport)

    asyncio.run(main())
    return log()


@pytest.mark.parametrize("id", ["subscriptions/listen-1", None], ids=["tagged", "untagged"])
def test_over_stdio_what_is_told_finds_its_subscription_tagged_or_not_a11_6_a6_8(
    scripted_child, id
):
    async def heard(push, transport):
        assert await push.inbox(ID).get() == YES
        assert (await push.inbox(ID).get()).task.status == "working"

    over_stdio(scripted_child, [ack(id), tells(id)], heard=heard)


def test_over_stdio_leaving_cancels_the_request_a11_11(scripted_child):
    async def heard(push, transport):
        assert await push.inbox(ID).get() == YES

    listen, cancelled = over_stdio(scripted_child, [ack()], heard=heard)
    assert (listen["method"], cancelled["method"]) == (
        "subscriptions/listen",
        "notifications/cancelled",
    )
    assert listen["id"] == cancelled["params"]["requestId"] == "subscriptions/listen-1"


def test_over_stdio_what_is_told_to_others_is_not_ours_a6_8(scripted_child):
    async def heard(push, transport):
        assert await push.inbox(ID).get() == YES
        assert (await push.inbox(ID).get()).task.status == "completed"

    ours = "subscriptions/listen-1"
    others = [
        tells("subscriptions/listen-9", status="failed"),
        note("cancelled", requestId="subscriptions/listen-9"),
        note("cancelled"),
        note("tools/list_changed"),
        {"jsonrpc": "2.0", "method": "notifications/tasks", "params": [ID]},
    ]
    over_stdio(scripted_child, [ack(ours), *others, tells(ours, status="completed")], heard=heard)


def test_over_stdio_the_server_ends_it_with_a_notification_a11_8(scripted_child):
    async def heard(push, transport):
        assert await push.inbox(ID).get() == YES
        assert await push.inbox(ID).get() == Mode(False, "it ended the subscription")

    ours = "subscriptions/listen-1"
    over_stdio(scripted_child, [ack(ours), note("cancelled", requestId=ours)], [], heard=heard)


def test_over_stdio_another_process_gets_a_subscription_of_its_own_a11_9(scripted_child):
    async def heard(push, transport):
        inbox = push.inbox(ID)
        assert await inbox.get() == YES
        assert "exited with code 3" in (await inbox.get()).why
        assert await inbox.get() == YES
        assert transport.life == 1

    log = over_stdio(scripted_child, [ack(), "die"], heard=heard)
    listens = [message["id"] for message in log if message["method"] == "subscriptions/listen"]
    assert listens[:2] == ["subscriptions/listen-1", "subscriptions/listen-2"]


def test_over_stdio_an_answer_and_a_subscription_do_not_get_in_each_others_way_a6_8(
    scripted_child, request_, all_of
):
    async def heard(push, transport):
        assert await push.inbox(ID).get() == YES
        assert await all_of(transport, request_("tasks/get", id=7)) == [{**ANSWER, "id": 7}]
        assert (await push.inbox(ID).get()).task.status == "working"

    over_stdio(scripted_child, [ack()], [tells(), ANSWER], heard=heard)
