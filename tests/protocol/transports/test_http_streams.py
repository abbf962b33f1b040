"""Streamable HTTP: streams of events (A5), and the faults of the way."""

import asyncio
from contextlib import aclosing

import pytest

from mcptask.errors import (
    TooLarge,
    Unreachable,
)
from mcptask.protocol.transports.base import Limits
from mcptask.protocol.transports.http import HttpTransport

# ── streams ──


def test_an_event_stream_is_left_after_the_response__A5_5(http, request_, all_of):
    async def main():
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
        parts = [b": ping\r\n\r\n", b"id: 1\ndata:\n\n", b"event: ping\ndata: {}\n\n",
                 http.event(note), http.event(http.result(99)), http.event(http.result())]  # fmt: skip
        remarks = []
        async with http.peer(http.stream(*parts, then="hang")) as peer:
            transport = HttpTransport(peer.url, remark=remarks.append)
            assert await all_of(transport, request_()) == [note, http.result()]
            await gone(peer)
            await transport.close()
        assert len(remarks) == 2

    asyncio.run(main())


def test_an_event_of_another_type_is_no_message__A5_2(http, request_, all_of):
    async def main():
        ping = b"event: ping\n" + http.event(http.result(early=True))
        named = b"event: message\n" + http.event(http.result())
        remarks = []
        async with http.peer(http.stream(ping, ping, named)) as peer:
            transport = HttpTransport(peer.url, remark=remarks.append)
            assert await all_of(transport, request_()) == [http.result()]
            await transport.close()
        assert "another type" in remarks[0]
        assert "(2 times in all)" in remarks[1]

    asyncio.run(main())


def test_an_event_without_data_is_skipped_without_a_word__A5_3(http, request_, all_of):
    async def main():
        parts = [b"id: 1\ndata:\n\n", b"id: 2\n\n", b"retry: 1\n\n", http.event(http.result())]
        remarks = []
        async with http.peer(http.stream(*parts)) as peer:
            transport = HttpTransport(peer.url, remark=remarks.append)
            assert await all_of(transport, request_()) == [http.result()]
            await transport.close()
        assert remarks == []

    asyncio.run(main())


async def gone(peer):
    """The peer noticed that the client left."""
    async with asyncio.timeout(2):
        while not peer.gone:
            await asyncio.sleep(0.01)


def test_leaving_the_exchange_closes_the_stream_at_once__A5_10(http, request_):
    async def main():
        note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
        async with http.peer(http.stream(http.event(note), then="hang")) as peer:
            transport = HttpTransport(peer.url)
            async with aclosing(transport.exchange(request_())) as messages:
                assert await anext(messages) == note
            await gone(peer)
            await transport.close()

    asyncio.run(main())


def test_cancelling_the_reader_closes_the_stream_at_once__A5_10(http, request_, all_of):
    async def main():
        async with http.peer(http.stream(b": ping\n\n", then="hang")) as peer:
            transport = HttpTransport(peer.url)
            reader = asyncio.ensure_future(all_of(transport, request_(wait=float("inf"))))
            while not peer.seen:
                await asyncio.sleep(0.01)
            reader.cancel()
            await gone(peer)
            await asyncio.gather(reader, return_exceptions=True)
            await transport.close()

    asyncio.run(main())


def test_a_stream_that_ends_without_the_answer_is_unreachable__A5_6(failure, http):
    error = failure(Unreachable, http.stream(b": ping\n\n"))
    assert error.sent is True
    assert "stream ended" in error.message


def test_an_event_over_the_bound_is_a_protocol_error__A5_9(failure, http):
    answer = http.stream(b"data: " + b"x" * 2000, then="hang")
    failure(TooLarge, answer, limits=Limits(message_bytes=1000))


def test_an_event_that_is_no_json_is_skipped_with_a_remark__A5_7(ask, http):
    remarks = []
    answer = http.stream(b"data: {\n\ndata: \xed\xa0\x80\n\n", http.event(http.result()))
    assert ask(answer, remark=remarks.append)[0] == [http.result()]
    assert len(remarks) == 2


def test_keep_alive_comments_renew_the_patience__A5_8(ask, http, request_):
    async def slow(seen, reader, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        for _ in range(6):
            await asyncio.sleep(0.15)
            writer.write(b": ping\n\n")
        writer.write(http.event(http.result()))
        return False

    assert ask(slow, request=request_(wait=0.7))[0] == [http.result()]


# ── faults of the way ──


def test_a_refused_connection_was_not_sent(request_, all_of):
    async def main():
        server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        await all_of(HttpTransport(f"http://127.0.0.1:{port}/"), request_())

    with pytest.raises(Unreachable, match="connection refused") as caught:
        asyncio.run(main())
    assert caught.value.sent is False


def test_an_unknown_name_was_not_sent(request_, all_of, monkeypatch):
    for name in ("HTTP_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    async def main():
        transport = HttpTransport("http://no-such-host.invalid/")
        try:
            await all_of(transport, request_())
        finally:
            await transport.close()

    with pytest.raises(Unreachable, match="name not found") as caught:
        asyncio.run(main())
    assert caught.value.sent is False


def test_tls_to_a_server_without_it_was_not_sent(http, request_, all_of):
    async def hello(reader, writer):
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def main():
        server = await asyncio.start_server(hello, "127.0.0.1", 0)
        transport = HttpTransport(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/")
        try:
            await all_of(transport, request_())
        finally:
            await transport.close()
            server.close()
            await server.wait_closed()

    with pytest.raises(Unreachable, match="TLS: ") as caught:
        asyncio.run(main())
    assert caught.value.sent is False


def test_silence_is_bounded_by_the_limits__A5_8(failure, http):
    async def silent(seen, reader, writer):
        await reader.read(1)

    error = failure(Unreachable, silent, limits=Limits(first_byte=0.1))
    assert error.sent is True
    assert "no answer within 0.1 s" in error.message


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\ncontent-type: application/json\r\n\r\nhalf", b""],
)
def test_a_connection_lost_after_the_request_may_have_been_served(failure, answer):
    async def lost(seen, reader, writer):
        writer.write(answer)
        return False

    error = failure(Unreachable, lost)
    assert error.sent is True
    assert "connection lost" in error.message


def test_what_is_not_http_is_unreachable(failure):
    assert "connection lost" in failure(Unreachable, b"SSH-2.0-OpenSSH\r\n\r\n").message


def test_a_kept_connection_that_dies_under_a_request_is_not_resent__S8(http, request_, all_of):
    async def dies(seen, reader, writer):
        return False

    async def main():
        async with http.peer(http.response(body=http.result()), dies) as peer:
            transport = HttpTransport(peer.url)
            await all_of(transport, request_())
            with pytest.raises(Unreachable) as caught:
                await all_of(transport, request_("tools/call", id=2))
            await transport.close()
            assert [seen.connection for seen in peer.seen] == [1, 1]
            return caught.value

    assert asyncio.run(main()).sent is True


def test_the_transport_can_be_used_again_after_close(http, request_, all_of):
    async def main():
        async with http.peer(http.response(body=http.result())) as peer:
            transport = HttpTransport(peer.url)
            for _ in range(2):
                assert len(await all_of(transport, request_())) == 1
                await transport.close()

    asyncio.run(main())
