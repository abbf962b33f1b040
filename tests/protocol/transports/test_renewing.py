"""Credentials that run out in the middle of things: once more with newer ones, if there are any."""

import asyncio

import pytest

from mcptask.errors import Unauthorized
from mcptask.protocol.transports.memory import MemoryTransport
from mcptask.protocol.transports.renewing import Renewing

ANSWER = {"result": {}}
OLD, NEW, NEWER = ({"Authorization": f"Bearer {name}"} for name in ("old", "new", "newer"))


def refused(status=401, **challenge):
    return Unauthorized(f"HTTP {status}", data={"status": status, **challenge})


class Source:
    """The first of `tokens` goes out; a refusal brings the next one, if there is any."""

    def __init__(self, *tokens):
        self.tokens = list(tokens)
        self.asked = []

    def now(self):
        return self.tokens[0]

    def renewed(self, refused):
        self.asked.append(refused)
        if len(self.tokens) > 1:
            self.tokens.pop(0)
        return self.tokens[0] != refused


def asked(answers, source, requests):
    """What each of these requests, one after the other, ended with, and all that went out."""
    transport = MemoryTransport(answers)
    renewing = Renewing(transport, source.now, source.renewed)

    async def main():
        ends = []
        for request in requests:
            try:
                ends.append([m["result"] async for m in renewing.exchange(request)])
            except Unauthorized as error:
                ends.append(error)
        return ends

    return asyncio.run(main()), transport.requests


@pytest.mark.parametrize("method", ["tasks/get", "tools/call"])
@pytest.mark.parametrize("refusal", [refused(), refused(403, error="invalid_token")])
def test_a_request_whose_token_ran_out_goes_out_once_more_with_the_new_one_a16_1_s8(
    request_, refusal, method
):
    source = Source(OLD, NEW)
    (end,), sent = asked([refusal, ANSWER], source, [request_(method)])
    assert end == [{}]
    assert sent == [request_(method)] * 2
    assert source.asked == [OLD]


def test_without_a_newer_token_nothing_is_sent_again_a16_1(request_):
    (end,), sent = asked([refused(), ANSWER], Source(OLD), [request_()])
    assert end.message == "HTTP 401"
    assert len(sent) == 1


@pytest.mark.parametrize("refusal", [refused(403), refused(403, error="insufficient_scope")])
def test_what_is_forbidden_is_no_matter_of_a_newer_token_a16_1(request_, refusal):
    source = Source(OLD, NEW)
    (end,), sent = asked([refusal, ANSWER], source, [request_()])
    assert isinstance(end, Unauthorized)
    assert (len(sent), source.asked) == (1, [])


def test_a_newer_token_that_is_refused_as_well_is_the_end_of_it_a16_1_s9(request_):
    source = Source(OLD, NEW, NEWER)
    (end,), sent = asked([refused(), refused(), ANSWER], source, [request_()])
    assert "these refused as well" in end.message
    assert (len(sent), source.asked) == (2, [OLD])


def test_a_token_that_was_renewed_may_run_out_again_a16_1(request_):
    answers = [refused(), ANSWER, refused(), ANSWER]
    ends, sent = asked(answers, Source(OLD, NEW, NEWER), [request_(id=1), request_(id=2)])
    assert ends == [[{}], [{}]]
    assert [request.id for request in sent] == [1, 1, 2, 2]


def test_everything_else_is_the_transports_own(request_):
    async def main():
        inner = MemoryTransport([])
        transport = Renewing(inner, dict, lambda refused: False)
        assert transport.preview(request_()) == inner.preview(request_())
        assert transport.life == inner.life
        assert await transport.announces_endpoint() == inner.has_endpoint_event
        await transport.close()
        assert inner.closed

    asyncio.run(main())
