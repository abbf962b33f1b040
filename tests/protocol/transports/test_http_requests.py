"""Streamable HTTP: what goes out (A3)."""

import asyncio

import pytest

from mcptask.errors import (
    ConfigError,
    HttpRefused,
    ProtocolError,
    UsageError,
)
from mcptask.protocol.transports.http import HttpTransport
from mcptask.protocol.transports.redact import bare_url

# ── the request ──


def test_one_post_a_request_with_both_types_accepted__A3_1(ask, http, request_):
    sent = request_("tools/call", params={"name": "é"}, headers={"Mcp-Name": "é".encode().hex()})
    _, peer = ask(http.response(body=http.result()), request=sent)
    (seen,) = peer.seen
    assert (seen.verb, seen.path) == ("POST", "/mcp")
    assert seen.message == sent.message()
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["accept"] == "application/json, text/event-stream"
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.headers["mcp-name"] == "c3a9"
    assert seen.headers["user-agent"].startswith("mcptask/")
    assert not {"origin", "cookie", "authorization"} & seen.headers.keys()


def test_headers_are_asked_for_anew_each_time__A16_1(http, request_, all_of):
    tokens = iter(["one", "two\n"])

    async def main():
        async with http.peer(http.response(body=http.result())) as peer:
            transport = HttpTransport(
                peer.url, headers=lambda: {"Authorization": f"Bearer {next(tokens)}"}
            )
            await all_of(transport, request_())
            await all_of(transport, request_())
            await transport.close()
            return [seen.headers["authorization"] for seen in peer.seen]

    assert asyncio.run(main()) == ["Bearer one", "Bearer two"]


def test_user_headers_do_not_override_the_wires_own__A3_7_S12(ask, http, request_):
    remarks = []
    mine = {"Mcp-Method": "evil", "content-type": "text/plain", "X-Mine": "e", "USER-AGENT": "me"}
    _, peer = ask(
        http.response(body=http.result()),
        request=request_(headers={"Mcp-Method": "tools/list"}),
        headers=lambda: mine,
        remark=remarks.append,
    )
    headers = peer.seen[0].headers
    assert headers["mcp-method"] == "tools/list"
    assert headers["content-type"] == "application/json"
    assert headers["x-mine"] == "e"
    assert headers["user-agent"] == "me"
    assert len(remarks) == 2
    assert "Mcp-Method" in remarks[0]


@pytest.mark.parametrize(
    "bad",
    [
        {"X-Key": "secret\r\nEvil: 1"},
        {"X Key": "secret"},
        {"X-Key": "secret\x00"},
        {"X-Key": "secreté"},
    ],
)
def test_what_is_no_header_is_refused_without_its_value__S14(failure, http, bad):
    error = failure(UsageError, http.response(body=http.result()), headers=lambda: bad)
    assert "secret" not in error.message


def test_a_value_without_a_json_form_is_refused_before_it_is_sent(failure, http, request_):
    nan = request_(params={"x": float("nan")})
    assert "JSON" in failure(UsageError, http.response(), request=nan).message


def test_user_and_password_of_the_url_become_a_header_and_are_never_shown__S14(
    http, request_, all_of
):
    async def main():
        async with http.peer(http.response(404, b"")) as peer:
            url = peer.url.replace("//", "//me:secret@") + "?key=hidden"
            transport = HttpTransport(url)
            with pytest.raises(HttpRefused) as caught:
                await all_of(transport, request_())
            await transport.close()
            return peer.seen[0], caught.value.message

    seen, message = asyncio.run(main())
    assert seen.headers["authorization"] == "Basic bWU6c2VjcmV0"
    assert seen.path == "/mcp?key=hidden"
    assert "secret" not in message
    assert "hidden" not in message


@pytest.mark.parametrize(
    "url", ["", "localhost:80", "ftp://host/", "http://", "http://[::1", "http://h:port/", "/mcp"]
)
def test_an_unusable_url_is_a_config_error(url):
    with pytest.raises(ConfigError):
        HttpTransport(url)


def test_cookies_are_not_kept(http, request_, all_of):
    async def main():
        async with http.peer(http.response(body=http.result(), set_cookie="a=b; Path=/")) as peer:
            transport = HttpTransport(peer.url)
            await all_of(transport, request_())
            await all_of(transport, request_())
            await transport.close()
            assert [seen.connection for seen in peer.seen] == [1, 1]
            return peer.seen[1].headers

    assert "cookie" not in asyncio.run(main())


def test_a_proxy_is_not_used_for_this_machine(ask, http):
    environ = dict.fromkeys(("HTTP_PROXY", "ALL_PROXY"), "http://127.0.0.1:9")
    messages, _ = ask(http.response(body=http.result()), environ=environ)
    assert len(messages) == 1


# ── redirects ──


@pytest.mark.parametrize("status", [307, 308])
def test_307_and_308_are_followed_on_the_same_origin__A3_9(ask, http, status):
    messages, peer = ask(
        http.response(status, location="/other?x=1"), http.response(body=http.result())
    )
    assert messages == [http.result()]
    assert [seen.path for seen in peer.seen] == ["/mcp", "/other?x=1"]
    assert peer.seen[0].message == peer.seen[1].message
    assert peer.seen[1].verb == "POST"


def test_five_redirects_are_the_most__A3_9(ask, http):
    with pytest.raises(ProtocolError, match="5 redirects"):
        ask(http.response(307, location="/again"))


@pytest.mark.parametrize(
    ("status", "location"),
    [
        (301, "/x"), (302, "/x"), (303, "/x"), (304, ""), (307, ""),
        (307, "https://me:secret@other.example/x?token=secret"),
        (308, "http://127.0.0.1:1/x"),
        (307, "http://[broken"), (307, "http://xn--/"), (307, "http://h:x/"),
        (307, "http://host:secret@[broken?token=secret"),
    ],
)  # fmt: skip
def test_other_redirects_are_an_error_that_shows_where_to__A3_9(failure, http, status, location):
    headers = {"location": location} if location else {}
    error = failure(HttpRefused, http.response(status, **headers))
    assert error.status == status
    assert "secret" not in error.message
    assert (bare_url(location) or "no Location") in error.message
