"""Which proxy a request takes, by the environment alone; and what is said of a variable that is wrong."""

from __future__ import annotations

import asyncio
import ssl
import sys
from pathlib import Path

import httpx
import pytest

from mcptask.errors import ConfigError
from mcptask.protocol.transports import http_client, proxies
from mcptask.protocol.transports.proxies import (
    is_loopback,
    proxy_for,
    unreadable,
    with_the_systems,
)
from mcptask.protocol.transports.trust import Trust

CA = Path(__file__).parents[2] / "tls" / "ca.pem"
PROXY = "http://kai:canary-1234@proxy.example:3128"


def variable(scheme: str, host: str = "host.example", port: int | None = None, **environ: str):
    found = proxy_for(scheme, host, port, environ)
    return found and found.variable


# ── which variable ──


@pytest.mark.parametrize(
    ("scheme", "environ", "chosen"),
    [
        ("http", {"HTTP_PROXY": PROXY}, "HTTP_PROXY"),
        ("https", {"HTTP_PROXY": PROXY}, None),
        ("https", {"HTTPS_PROXY": PROXY, "ALL_PROXY": PROXY}, "HTTPS_PROXY"),
        ("https", {"ALL_PROXY": PROXY}, "ALL_PROXY"),
        ("http", {"http_proxy": PROXY, "HTTP_PROXY": "nonsense://"}, "http_proxy"),
        ("http", {"http_proxy": "", "HTTP_PROXY": PROXY}, None),
        ("http", {"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, None),
        ("http", {"http_proxy": PROXY, "REQUEST_METHOD": "GET"}, "http_proxy"),
        ("http", {"HTTP_PROXY": "proxy.example"}, "HTTP_PROXY"),
        ("http", {}, None),
    ],
)
def test_the_variable_of_the_scheme_comes_first_and_small_letters_win(scheme, environ, chosen):
    assert variable(scheme, **environ) == chosen


def test_only_host_and_port_of_a_proxy_can_be_shown_s14():
    found = proxy_for("http", "host.example", None, {"HTTP_PROXY": PROXY})
    assert found is not None
    assert (found.host, found.url) == ("proxy.example:3128", PROXY)
    assert "canary" not in repr(found)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("http://", "is not the address of a proxy"),
        ("http://canary-1:99999", "is not the address of a proxy"),
        ("http://canary-1@host:0", "is not the address of a proxy"),
        ("http://[canary-1", "is not the address of a proxy"),
        ("http://kai:canary 1@host", "is not the address of a proxy"),
        ("canary-1@host\n", None),
        ("ftp://kai:canary-1@host", "none of http, https, socks5, socks5h"),
        ("socks4://kai:canary-1@host", "none of http, https, socks5, socks5h"),
        ("socks5://kai:canary-1@host", "the package socksio is not installed"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named_and_not_quoted_s14(monkeypatch, value, said):
    monkeypatch.setitem(sys.modules, "socksio", None)
    if said is None:
        assert variable("https", HTTPS_PROXY=value) == "HTTPS_PROXY"
        return
    with pytest.raises(ConfigError) as caught:
        variable("https", HTTPS_PROXY=value)
    assert caught.value.message.startswith("the variable HTTPS_PROXY ")
    assert said in caught.value.message
    told = f"{caught.value.message} {caught.value.hint}"
    assert "canary" not in told
    assert "NO_PROXY=host.example" in told
    assert "\n" not in told


def test_a_socks_proxy_is_taken_where_its_package_is_there(monkeypatch):
    monkeypatch.setattr(proxies, "find_spec", lambda name: name)
    assert variable("http", ALL_PROXY="socks5://host:1080") == "ALL_PROXY"


# ── NO_PROXY ──


@pytest.mark.parametrize(
    ("entries", "host", "port", "direct"),
    [
        ("*", "host.example", None, True),
        ("a.example,*", "host.example", None, True),
        ("example", "host.example", None, True),
        ("host.example", "host.example", None, True),
        (".example", "host.example", None, True),
        ("*.example", "host.example", None, True),
        (" other , HOST.example. ", "host.example.", None, True),
        ("other host.example", "host.example", None, True),
        ("ost.example", "host.example", None, False),
        ("host.example:443", "host.example", None, True),
        ("host.example:443", "host.example", 8443, False),
        ("https://host.example", "host.example", None, True),
        ("http://host.example", "host.example", None, False),
        ("all://host.example", "host.example", None, True),
        ("10.0.0.0/8", "10.1.2.3", None, True),
        ("10.0.0.0/8", "::ffff:10.1.2.3", None, True),
        ("10.0.0.0/8", "11.1.2.3", None, False),
        ("10.0.0.0/8", "host.example", None, False),
        ("10.1.2.3:443", "10.1.2.3", None, True),
        ("fd00::/8", "fd00::1", None, True),
        ("[fd00::1]", "fd00::1", None, True),
        ("[fd00::1]:443", "fd00::1", None, True),
        ("[fd00::1]:8443", "fd00::1", None, False),
        ("", "host.example", None, False),
    ],
)
def test_no_proxy_is_read_as_curl_reads_it(entries, host, port, direct):
    chosen = variable("https", host, port, HTTPS_PROXY=PROXY, NO_PROXY=entries)
    assert (chosen is None) is direct


@pytest.mark.parametrize("odd", ["10.0.0.0/99", "host/path", "host:99999", "://", ":", "[x]:y"])
def test_an_entry_that_means_nothing_is_left_out_and_counted(odd):
    environ = {"https_proxy": PROXY, "no_proxy": f"{odd},direct.example"}
    assert variable("https", **environ) == "https_proxy"
    assert variable("https", "direct.example", **environ) is None
    assert unreadable(environ) == 1
    assert unreadable({}) == 0


# ── this machine ──


@pytest.mark.parametrize(
    ("host", "here"),
    [
        *((host, True) for host in ("localhost", "LOCALHOST.", "a.localhost", "127.0.0.1")),
        *((host, True) for host in ("127.8.9.1", "::1", "[::1]", "::ffff:127.0.0.1")),
        *((host, False) for host in ("localhost.example", "notlocalhost", "128.0.0.1", "::2")),
        *((host, False) for host in ("::ffff:10.0.0.1", "", "127.0.0.1.example")),
    ],
)
def test_this_machine_is_never_behind_a_proxy(host, here):
    assert is_loopback(host) is here
    assert (variable("http", host, HTTP_PROXY=PROXY) is None) is here


# ── the settings of the system ──


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_where_no_variable_says_anything_the_settings_of_the_system_count(platform):
    def ask() -> dict[str, str]:
        return {"https": PROXY, "ftp": "ftp://x", "no": "direct.example"}

    environ = with_the_systems({"HOME": "/x"}, ask, platform)
    assert environ == {"HOME": "/x", "https_proxy": PROXY, "no_proxy": "direct.example"}
    assert variable("https", **environ) == "https_proxy"
    given = {"HTTP_PROXY": PROXY}
    assert with_the_systems(given, ask, platform) is given


def test_elsewhere_the_system_has_none():
    assert with_the_systems({}, lambda: {"http": PROXY}, "linux") == {}


# ── the client that is made of it ──


def test_what_httpx_dislikes_of_a_proxy_is_named_and_not_quoted__S14(monkeypatch):
    def no_proxy(*args, **more):
        raise httpx.InvalidURL("canary-1")

    monkeypatch.setattr(httpx, "Proxy", no_proxy)
    with pytest.raises(ConfigError, match="the setting HTTP_PROXY cannot be used: InvalidURL"):
        http_client.make(httpx.URL("http://a.example/"), environ={"HTTP_PROXY": "proxy.example"})


def test_a_proxy_over_tls_is_believed_like_any_other_server_whatever_is_said_of_ours():
    environ = {"HTTPS_PROXY": "https://proxy.example", "SSL_CERT_FILE": str(CA)}

    async def main():
        url, trust = httpx.URL("https://a.example/"), Trust(insecure=True)
        client = http_client.make(url, environ=environ, trust=trust)
        pool = client._transport_for_url(url)._pool
        await client.aclose()
        return pool._proxy_ssl_context, pool._ssl_context

    of_the_proxy, of_the_server = asyncio.run(main())
    assert len(of_the_proxy.get_ca_certs()) == 1
    assert of_the_proxy.verify_mode is ssl.CERT_REQUIRED
    assert of_the_server.verify_mode is ssl.CERT_NONE


def test_a_proxy_is_told_with_the_address_and_by_the_words_of_v():
    environ = {"HTTP_PROXY": "http://kai:canary-1@proxy.example:3128", "NO_PROXY": ":"}
    shown, remarks = http_client.via(httpx.URL("http://a.example/"), environ)
    assert shown == " (through the proxy proxy.example:3128 of HTTP_PROXY)"
    assert len(remarks) == 2
    assert "canary" not in str(remarks)
    assert http_client.via(httpx.URL("http://127.0.0.1/"), environ) == ("", [])
