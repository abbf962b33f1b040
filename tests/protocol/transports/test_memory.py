"""The scripted peer, beyond what the contract asks of it."""

import asyncio
from contextlib import aclosing

import pytest

from mcptask.errors import ProtocolError, Unreachable
from mcptask.protocol.transports.memory import MemoryTransport

RESULT = {"jsonrpc": "2.0", "id": 1, "result": {}}


def run(transport, *requests):
    async def main():
        return [[m async for m in transport.exchange(r)] for r in requests]

    return asyncio.run(main())


def test_answers_come_in_order_and_requests_are_kept(request_):
    transport = MemoryTransport([{"result": {}}, [{"method": "n"}, {"error": {"code": 1}}]])
    first, second = request_(id=1), request_(id=2)
    assert run(transport, first, second) == [
        [RESULT],
        [{"jsonrpc": "2.0", "method": "n"}, {"jsonrpc": "2.0", "id": 2, "error": {"code": 1}}],
    ]
    assert transport.requests == [first, second]
    assert transport.left == []


def test_a_script_may_be_a_function_of_the_request(request_):
    transport = MemoryTransport(lambda request: {"result": {"method": request.method}})
    assert run(transport, request_("a/b"))[0][0]["result"] == {"method": "a/b"}


def test_an_exception_is_raised_where_it_stands(request_):
    transport = MemoryTransport([[{"method": "n"}, Unreachable("gone")], Unreachable("again")])
    with pytest.raises(Unreachable, match="gone"):
        run(transport, request_())
    with pytest.raises(Unreachable, match="again"):
        run(transport, request_())


def test_an_awaitable_is_awaited_in_its_place(request_):
    async def main():
        gate = asyncio.Event()
        transport = MemoryTransport(lambda request: [gate.wait(), {"result": {}}])
        asyncio.get_running_loop().call_later(0.01, gate.set)
        assert [m async for m in transport.exchange(request_())] == [RESULT]

    asyncio.run(main())


def test_text_is_read_as_the_wire_would_read_it(request_):
    remarks = []
    transport = MemoryTransport(
        [["{", '{"jsonrpc":"2.0","id":1,"result":{}}']], remark=remarks.append
    )
    assert run(transport, request_()) == [[RESULT]]
    assert len(remarks) == 1
    with pytest.raises(Unreachable):
        run(MemoryTransport(["noise"]), request_())


def test_a_script_at_its_end_is_a_protocol_error(request_):
    with pytest.raises(ProtocolError, match="tools/list"):
        run(MemoryTransport([]), request_())


def test_leaving_after_the_response_is_not_leaving_early(request_):
    async def main(transport):
        async with aclosing(transport.exchange(request_())) as messages:
            await anext(messages)
        await transport.close()
        return transport

    assert asyncio.run(main(MemoryTransport([{"result": {}}]))).left == []
    early = asyncio.run(main(MemoryTransport([[{"method": "n"}, {"result": {}}]])))
    assert early.left == early.requests
    assert early.closed
