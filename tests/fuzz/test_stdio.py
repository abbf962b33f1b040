"""Whatever a child writes: each message finds its request, the rest is remarked on, nothing breaks."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError, Unreachable, WireError
from mcptask.protocol.transports import stdio
from mcptask.protocol.transports.base import Limits, Message, Request
from mcptask.protocol.transports.messages import is_response, same_id
from mcptask.protocol.transports.process import Child
from mcptask.protocol.transports.stdio import MAX_WAITING, StdioTransport
from tests.fuzz.conftest import Peak
from tests.fuzz.hostile import CUTS, LONGEST_MESSAGE, cut, spoiled, tries
from tests.fuzz.test_messages import BYTES, MESSAGES

LIMIT = 3000
# The second asks for progress, so that notifications find it.
REQUESTS = [
    Request(7, "tasks/get", {"taskId": "a"}),
    Request(8, "tools/call", {"_meta": {"progressToken": 7}}),
]
LINES = BYTES | spoiled(MESSAGES).map(lambda message: json.dumps(message).encode())
OUTPUT = st.lists(LINES | st.just(b"x" * (LIMIT + 2)) | st.sampled_from([b"", b"\r"]), max_size=8)


class Puppet(Child):
    """A child without a process: what it writes is put in its mouth."""

    pid = 1
    made: list[Puppet]

    async def start(self, *args: Any) -> None:
        self.heard: list[bytes] = []
        self.made.append(self)

    def write(self, line: bytes) -> None:
        self.heard.append(line)

    def how_it_ended(self) -> str:
        return "the server exited"

    async def stop(self, grace: float) -> None:
        self.ended = True

    def says(self, *chunks: bytes) -> None:
        for chunk in chunks:
            self.pipe_data_received(1, chunk)


class Talk:
    """Two requests under way at one child, and what came of them."""

    def __init__(self) -> None:
        self.remarks: list[str] = []
        self.got: dict[int | str, list[Message]] = {request.id: [] for request in REQUESTS}
        self.errors: dict[int | str, WireError] = {}
        self.counts: dict[str, int] = {}

    async def _ask(self, transport: StdioTransport, request: Request) -> None:
        try:
            async for message in transport.exchange(request):
                self.got[request.id].append(message)
        except WireError as error:
            self.errors[request.id] = error

    async def hold(self, *chunks: bytes, then: bytes) -> Talk:
        Puppet.made = []
        transport = StdioTransport(
            [sys.executable], environ={}, limits=Limits(message_bytes=LIMIT), remark=self.remarks.append
        )  # fmt: skip
        with mock.patch.object(stdio, "Child", Puppet):
            asking = [asyncio.ensure_future(self._ask(transport, each)) for each in REQUESTS]
            while not Puppet.made or len(Puppet.made[0].heard) < len(REQUESTS):
                await asyncio.sleep(0)
            (child,) = Puppet.made
            child.says(*chunks)
            child.says(then)
            child.pipe_connection_lost(1, None)
            child.connection_lost(None)
            await asyncio.gather(*asking)
        await transport.close()
        return self


def answer_to(request: Request) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request.id, "result": {"last": True}}).encode()


def held(*chunks: bytes, then: bytes) -> Talk:
    return asyncio.run(Talk().hold(*chunks, then=then))


@tries(80)
@given(OUTPUT, st.sampled_from([b"\n", b"\r\n"]), CUTS, st.booleans())
def test_any_output_gives_each_request_its_own_messages_and_one_end_a6_8_a5_9(
    output: list[bytes], end: bytes, cuts: list[int], answered: bool
) -> None:
    data = end.join(output)
    then = end.join([b"", *map(answer_to, REQUESTS), b""]) if answered else b""
    talk = held(*cut(data, cuts), then=then)
    too_long = any(len(line) > LIMIT + 1 for line in data.split(b"\n"))
    for request in REQUESTS:
        messages, error = talk.got[request.id], talk.errors.get(request.id)
        ends = [message for message in messages if is_response(message)]
        assert len(ends) == (0 if error else 1)
        assert ends == messages[-1:] or error
        for last in ends:
            assert same_id(last.get("id"), request.id)
        assert isinstance(error, ProtocolError | Unreachable | None)
        assert too_long or not isinstance(error, ProtocolError)
        assert not (answered and isinstance(error, Unreachable)), "an answer that came was lost"
    assert all(len(remark) < LONGEST_MESSAGE for remark in talk.remarks)


@tries(30)
@given(OUTPUT, CUTS)
def test_any_output_is_read_alike_in_any_chunking_a6_1(
    output: list[bytes], cuts: list[int]
) -> None:
    data = b"\n".join(output)
    whole, pieces = held(data, then=b""), held(*cut(data, cuts), then=b"")
    assert pieces.got == whole.got
    assert pieces.remarks == whole.remarks
    assert pieces.errors.keys() == whole.errors.keys()


def test_a_flood_of_notifications_does_not_pile_up_a5_9(peak: Peak) -> None:
    progress = {"jsonrpc": "2.0", "method": "p", "params": {"progressToken": 7, "n": "x" * 100}}
    flood = (json.dumps(progress) + "\n").encode() * 100
    talk = held(*[flood] * 50, then=b"\n".join([*map(answer_to, REQUESTS), b""]))
    assert len(talk.got[8]) == MAX_WAITING + 1
    assert any("faster than they were read" in remark for remark in talk.remarks)
    assert peak() < 4_000_000


def test_a_flood_of_answers_to_one_request_does_not_pile_up_a5_9(peak: Peak) -> None:
    flood = (answer_to(REQUESTS[0]) + b"\n") * 100
    talk = held(*[flood] * 100, then=answer_to(REQUESTS[1]))
    assert [len(talk.got[request.id]) for request in REQUESTS] == [1, 1]
    assert peak() < 4_000_000
