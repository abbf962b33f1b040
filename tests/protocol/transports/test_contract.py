"""What every transport owes a session: the same suite over HTTP, stdio and the scripted peer."""

import asyncio
import json
import os
from contextlib import aclosing, asynccontextmanager
from types import SimpleNamespace

import pytest

from mcptask.errors import Unreachable
from mcptask.protocol.transports.base import Limits
from mcptask.protocol.transports.discreet import Discreet
from mcptask.protocol.transports.http import HttpTransport
from mcptask.protocol.transports.memory import MemoryTransport
from mcptask.protocol.transports.renewing import Renewing
from mcptask.protocol.transports.secrets import Secrets
from mcptask.protocol.transports.stdio import StdioTransport

# A script: for each request a list of steps. A dict is a message ("$id" stands for the request's id),
# "die" loses the connection, any other text is noise. After the last step the peer stays silent.
ANSWER = {"jsonrpc": "2.0", "id": "$id", "result": {"ok": True}}
PROGRESS = {
    "jsonrpc": "2.0",
    "method": "notifications/progress",
    "params": {"progressToken": "p", "progress": 1},
}
PARAMS = {"_meta": {"progressToken": "p"}}


@pytest.fixture(params=["memory", "discreet", "renewing", "http", "stdio"])
def wire(request, http, scripted_child):
    return {
        "memory": memory_wire,
        "discreet": discreet_wire,
        "renewing": renewing_wire,
        "http": lambda *script, **o: http_wire(http, *script, **o),
        "stdio": lambda *script, **o: stdio_wire(scripted_child, *script, **o),
    }[request.param]


@asynccontextmanager
async def closed_after(transport):
    try:
        yield transport
    finally:
        await transport.close()


@asynccontextmanager
async def memory_wire(*script, **options):
    lists = iter(script)

    def answer(request):
        for step in next(lists):
            if step == "die":
                return
            yield with_id(step, request.id) if isinstance(step, dict) else step
        yield asyncio.sleep(request.wait or 5)
        yield Unreachable("no answer in time")

    async with closed_after(MemoryTransport(answer, **options)) as transport:
        yield transport


@asynccontextmanager
async def discreet_wire(*script, **options):
    async with memory_wire(*script, **options) as transport:
        yield Discreet(transport, Secrets)


@asynccontextmanager
async def renewing_wire(*script, **options):
    async with memory_wire(*script, **options) as transport:
        yield Renewing(transport, dict, lambda refused: False)


@asynccontextmanager
async def http_wire(http, *script, **options):
    def answer(steps):
        async def play(seen, reader, writer):
            parts, then = [], "hang"
            for step in steps:
                if step == "die":
                    then = "close"
                    break
                value = with_id(step, seen.message["id"])
                parts.append(f"data: {step if step is value else json.dumps(value)}\n\n".encode())
            return await http.stream(*parts, then=then)(seen, reader, writer)

        return play

    async with (
        http.peer(*map(answer, script)) as peer,
        closed_after(HttpTransport(peer.url, **options)) as transport,
    ):
        yield transport


@asynccontextmanager
async def stdio_wire(scripted_child, *script, **options):
    command, _ = scripted_child(*script)
    async with closed_after(StdioTransport(command, environ=os.environ, **options)) as transport:
        yield transport


def with_id(step, id):
    if isinstance(step, dict):
        return {**step, "id": id} if step.get("id") == "$id" else dict(step)
    return step


def test_an_exchange_ends_with_its_response__A5_5(wire, request_, all_of):
    async def main():
        async with wire([ANSWER]) as transport:
            assert await all_of(transport, request_(id=7)) == [{**ANSWER, "id": 7}]

    asyncio.run(main())


def test_notifications_come_first_and_in_order__A5_4(wire, request_, all_of):
    second = {**PROGRESS, "params": {"progressToken": "p", "progress": 2}}

    async def main():
        async with wire([PROGRESS, second, ANSWER]) as transport:
            got = await all_of(transport, request_(params=PARAMS))
            assert got == [PROGRESS, second, {**ANSWER, "id": 1}]

    asyncio.run(main())


def test_a_json_rpc_error_is_a_message_like_any_other__A4_2(wire, request_, all_of):
    error = {"jsonrpc": "2.0", "id": "$id", "error": {"code": -32602, "message": "no"}}

    async def main():
        async with wire([error]) as transport:
            assert await all_of(transport, request_()) == [{**error, "id": 1}]

    asyncio.run(main())


def test_an_id_may_come_back_as_text__A5_5(wire, request_, all_of):
    async def main():
        async with wire([{**ANSWER, "id": "7"}]) as transport:
            assert await all_of(transport, request_(id=7)) == [{**ANSWER, "id": "7"}]

    asyncio.run(main())


def test_an_error_without_an_id_answers_the_only_request__A5_5(wire, request_, all_of):
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no"}}

    async def main():
        async with wire([error]) as transport:
            assert await all_of(transport, request_()) == [error]

    asyncio.run(main())


def test_a_response_to_someone_else_is_skipped_with_a_remark(wire, request_, all_of):
    remarks = []

    async def main():
        async with wire([{**ANSWER, "id": 99}, ANSWER], remark=remarks.append) as transport:
            assert await all_of(transport, request_()) == [{**ANSWER, "id": 1}]

    asyncio.run(main())
    assert len(remarks) == 1


def test_a_request_of_the_server_is_ignored_with_a_remark__A2_7_A15_9(wire, request_, all_of):
    remarks = []
    asked = {"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": {}}

    async def main():
        async with wire([asked, ANSWER], remark=remarks.append) as transport:
            assert await all_of(transport, request_()) == [{**ANSWER, "id": 1}]

    asyncio.run(main())
    assert "request of its own" in remarks[0]


@pytest.mark.parametrize(
    "noise", ['{"type": "heartbeat"}', '"text"', "[]", '{"jsonrpc": "2.0", "id": 1}']
)
def test_what_is_no_message_is_skipped_with_one_remark__A5_7(wire, request_, all_of, noise):
    remarks = []

    async def main():
        async with wire([noise, noise, ANSWER], remark=remarks.append) as transport:
            assert await all_of(transport, request_()) == [{**ANSWER, "id": 1}]
            assert len(remarks) == 1

    asyncio.run(main())
    assert "(2 times in all)" in remarks[1]


def test_a_connection_lost_before_the_answer_is_unreachable__A5_6(wire, request_, all_of):
    async def main():
        async with wire(["die"]) as transport:
            with pytest.raises(Unreachable) as caught:
                await all_of(transport, request_())
            assert caught.value.sent is True

    asyncio.run(main())


def test_silence_is_bounded_by_the_wait_of_the_request__A5_8(wire, request_, all_of):
    async def main():
        async with wire([PROGRESS]) as transport:
            with pytest.raises(Unreachable) as caught:
                await all_of(transport, request_(params=PARAMS, wait=0.2))
            assert caught.value.sent is True

    asyncio.run(main())


def test_several_exchanges_run_at_once_and_get_their_own_answers(wire, request_, all_of):
    async def main():
        async with wire([ANSWER], [ANSWER], [ANSWER]) as transport:
            got = await asyncio.gather(*(all_of(transport, request_(id=i)) for i in (1, 2, 3)))
            assert [[m["id"] for m in messages] for messages in got] == [[1], [2], [3]]

    asyncio.run(main())


def test_an_exchange_left_early_does_not_disturb_the_next__A5_10(wire, request_, all_of):
    async def main():
        async with wire([PROGRESS], [ANSWER]) as transport:
            async with aclosing(transport.exchange(request_(params=PARAMS))) as messages:
                assert await anext(messages) == PROGRESS
            assert await all_of(transport, request_(id=2)) == [{**ANSWER, "id": 2}]

    asyncio.run(main())


def test_cancelling_the_reader_ends_the_exchange_promptly(wire, request_, all_of):
    async def main():
        async with wire([PROGRESS], [ANSWER]) as transport:
            under_way = asyncio.Event()

            async def read():
                async with aclosing(transport.exchange(request_(params=PARAMS))) as messages:
                    async for _ in messages:
                        under_way.set()

            reader = asyncio.ensure_future(read())
            await under_way.wait()
            reader.cancel()
            async with asyncio.timeout(0.5):
                assert await asyncio.gather(reader, return_exceptions=True) != []
            assert reader.cancelled()
            assert len(await all_of(transport, request_(id=2))) == 1

    asyncio.run(main())


def test_the_limits_and_infinity_are_accepted_as_waits(wire, request_, all_of):
    assert Limits().first_byte == 60.0

    async def main():
        async with wire([ANSWER]) as transport:
            assert len(await all_of(transport, request_(wait=float("inf")))) == 1

    asyncio.run(main())


def test_closing_twice_is_closing_once(wire, request_, all_of):
    async def main():
        async with wire([ANSWER]) as transport:
            await all_of(transport, request_())
            await transport.close()

    asyncio.run(main())


# ── the trace: what the transports that differ in everything else tell alike ──


@pytest.fixture
def traced():
    """A trace, and its entries without what is HTTP's or a child's alone."""
    entries = []

    def trace(direction, kind, **fields):
        entries.append({"seq": len(entries) + 1, "direction": direction, "kind": kind, **fields})
        return len(entries)

    def told():
        alike = [e for e in entries if e["kind"] not in ("response", "start", "stderr")]
        return [(e["direction"], e["kind"], e.get("message", e.get("text"))) for e in alike]

    return SimpleNamespace(trace=trace, told=told, entries=entries)


def test_the_trace_has_every_message_both_ways_and_what_is_none__A5_7(
    wire, request_, all_of, traced
):
    request = request_(id=7, params=PARAMS)

    async def main():
        async with wire([PROGRESS, '"heartbeat"', ANSWER], trace=traced.trace) as transport:
            await all_of(transport, request)

    asyncio.run(main())
    assert traced.told() == [
        ("out", "request", request.message()),
        ("in", "message", PROGRESS),
        ("in", "noise", '"heartbeat"'),
        ("in", "message", {**ANSWER, "id": 7}),
    ]
    sent = next(e for e in traced.entries if e["kind"] == "request")
    assert traced.entries[-1]["to"] == sent["seq"]


def test_the_trace_tells_why_there_was_no_answer__A5_6(wire, request_, all_of, traced):
    async def main():
        async with wire(["die"], trace=traced.trace) as transport:
            with pytest.raises(Unreachable) as caught:
                await all_of(transport, request_())
            return caught.value.message

    text = asyncio.run(main())
    assert traced.told()[-1] == ("in", "fault", text)
    assert traced.entries[-1]["to"] == next(
        e["seq"] for e in traced.entries if e["kind"] == "request"
    )


def test_what_is_previewed_is_what_is_sent(wire, request_, all_of, traced):
    """Byte for byte over HTTP, where the trace has the request that went out."""
    request = request_("tools/call", headers={"Mcp-Method": "tools/call"}, params={"name": "é"})

    async def main():
        async with wire([ANSWER], trace=traced.trace) as transport:
            preview = transport.preview(request)
            assert traced.entries == []
            await all_of(transport, request)
            return preview

    preview = asyncio.run(main())
    sent = next(e for e in traced.entries if e["kind"] == "request")
    assert sent == {"seq": sent["seq"], "direction": "out", "kind": "request", **preview}
