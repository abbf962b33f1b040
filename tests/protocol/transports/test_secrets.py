"""Hiding what is known to be secret, also where it is cut off or spelled in another way; `Discreet`."""

import asyncio
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError, RpcError, Unauthorized
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.discreet import Discreet
from mcptask.protocol.transports.excerpts import excerpt
from mcptask.protocol.transports.memory import MemoryTransport
from mcptask.protocol.transports.secrets import SHORTEST, secrets_from, together

TOKEN = "tok-123456-abcdef"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"the token {TOKEN} is no good", "the token *** is no good"),
        (f"{TOKEN}{TOKEN}", "******"),
        ("the token tok-123456-ab…", "the token ***…"),
        ("the token tok-123", "the token ***"),
        ("tok-123\nnext line", "***\nnext line"),
        ("tok-123 is another", "tok-123 is another"),
        ("tok-1", "tok-1"),
        ("nothing here", "nothing here"),
    ],
)
def test_a_secret_is_hidden_whole_or_cut_off(text, shown):
    assert secrets_from([TOKEN]).hide(text) == shown


def test_the_longer_of_two_secrets_is_hidden_first():
    assert secrets_from(["secret-one", "secret-one-and-two"]).hide("secret-one-and-two") == "***"


def test_of_two_tokens_one_after_the_other_both_are_hidden():
    both = together(secrets_from(["secret-one"], ["X-A"]), secrets_from(["secret-one-b"], ["X-B"]))
    assert both.hide("secret-one and secret-one-b") == "*** and ***"
    assert both.headers == {"x-a", "x-b"}


def test_what_is_too_short_to_be_told_from_a_word_is_left():
    assert secrets_from(["the", ""]).values == ()


@pytest.mark.parametrize("spell", [str, quote, quote_plus, lambda s: json.dumps(s)[1:-1]])
def test_a_secret_is_known_in_the_spellings_of_a_server(spell):
    secret = 'p@ss "wörd"/…'
    assert secret not in secrets_from([secret]).hide(spell(secret))
    assert "rd" not in secrets_from([secret]).hide(spell(secret))


@given(st.text(min_size=SHORTEST), st.text(), st.text())
def test_no_secret_is_left_in_any_text(secret, before, after):
    shown = secrets_from([secret]).hide(before + secret + after)
    assert secret not in shown.replace("***", "\0") or secret in "***"


@given(st.integers(0, 300), st.integers(1, 300))
def test_no_start_of_a_token_outlives_an_excerpt(before, length):
    """An error quotes the first characters of a body, and the token in it is longer than that."""
    token = "".join(chr(ord("A") + i % 58) for i in range(256)).replace("\\", "/")
    shown = secrets_from([token]).hide(excerpt(b"." * before + token.encode(), length))
    assert token[:SHORTEST] not in shown


# ── what errors say ──


def exchanged(*steps):
    async def main():
        transport = Discreet(MemoryTransport([list(steps)]), lambda: secrets_from([TOKEN]))
        return [m async for m in transport.exchange(Request(1, "tools/list", {}))]

    return asyncio.run(main())


def test_an_error_of_the_server_does_not_repeat_a_token():
    data = {"got": [TOKEN], "code": 3}
    (message,) = exchanged({"error": {"code": -32603, "message": f"bad {TOKEN}", "data": data}})
    assert message["error"] == {
        "code": -32603,
        "message": "bad ***",
        "data": {"got": ["***"], "code": 3},
    }


def test_a_result_passes_untouched():
    (message,) = exchanged({"result": {"content": TOKEN}})
    assert message["result"] == {"content": TOKEN}


@pytest.mark.parametrize(
    "error",
    [
        Unauthorized(f"HTTP 401: {TOKEN}", data={"error": TOKEN}, hint=f"not {TOKEN}"),
        ProtocolError(f"not an answer: {TOKEN[:9]}…"),
        RpcError(-1, TOKEN, data=None),
    ],
)
def test_an_exception_of_the_transport_does_not_repeat_a_token(error):
    with pytest.raises(type(error)) as caught:
        exchanged(error)
    raised = caught.value
    assert TOKEN[:9] not in f"{raised} {raised.args} {raised.message} {raised.hint} {raised.data}"


def test_everything_else_is_the_transports_own(request_):
    async def main():
        inner = MemoryTransport([])
        transport = Discreet(inner, lambda: secrets_from([]))
        assert transport.preview(request_()) == inner.preview(request_())
        assert transport.life == inner.life
        assert await transport.announces_endpoint() == inner.has_endpoint_event
        await transport.close()
        assert inner.closed

    asyncio.run(main())
