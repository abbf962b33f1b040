"""Credentials go to the origin that they were given for: not along a redirect, not to a proxy, not to another
task's server; and what is not given is not sent."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.proxying import Proxy, proxying
from tests.e2e.running import Cli
from tests.e2e.scripted import Scripted, http, scripted

TLS = Path(__file__).parents[1] / "tls"
CA = str(TLS / "ca.pem")
CANARY = "canary-token-1f"
PASSWORD = "canary-proxy-2f"
LOGIN = base64.b64encode(f"kai:{PASSWORD}".encode()).decode()
BEARER = ("-H", f"Authorization: Bearer {CANARY}")


@pytest.fixture
def other() -> Iterator[Scripted]:
    with scripted() as script:
        yield script


# ── redirects ──


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(
    "location",
    [
        "http://{other}/mcp",  # another port
        "//{other}/mcp",
        "http://kai:pw@{other}/mcp",
        "http://{own}@{other}/mcp",
        "https://{own}/mcp",  # another scheme
        "http://localhost:{port}/mcp",  # another name for the same machine
    ],
)
def test_no_credential_follows_a_redirect_to_another_origin_a3_9(
    on_server: Cli, server: Scripted, other: Scripted, status: int, location: str
) -> None:
    port = server.name.rpartition(":")[2]
    target = location.format(own=server.name, other=other.name, port=port)
    server.always(http(status, Location=target))
    ran = on_server("tools", *BEARER)
    assert ran.code == 9
    assert "not followed" in ran.err
    assert other.requests == []
    assert "kai:pw" not in ran.err
    assert CANARY not in ran.err


def test_a_user_in_the_location_of_the_same_origin_replaces_no_login_a3_9(
    on_server: Cli, server: Scripted
) -> None:
    answered = server._plan["server/discover"][0]
    server.on(
        "server/discover", http(307, Location=f"http://mallory:pw@{server.name}/mcp"), answered
    )
    assert on_server("tools", *BEARER).code == 0
    assert {got.headers["authorization"] for got in server.requests} == {f"Bearer {CANARY}"}


def test_http_after_https_is_another_origin_a3_9(cli: Cli, other: Scripted) -> None:
    with scripted(certificate=TLS / "good.pem") as server:
        server.always(http(308, Location=other.url))
        ran = cli("tools", "-s", server.url, "--ca-cert", CA, *BEARER)
    assert (ran.code, other.requests) == (9, [])


# ── proxies ──


@pytest.fixture
def proxied(cli: Cli, server: Scripted) -> Iterator[Proxy]:
    """The variables name a proxy with a login; behind it every host is the scripted server."""
    with proxying(server) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY"):
            cli.environ[name] = f"http://kai:{PASSWORD}@{proxy.address}"
        yield proxy


def test_through_a_tunnel_the_proxy_sees_no_login_of_the_server_and_the_server_none_of_the_proxy(
    cli: Cli, tmp_path: Path
) -> None:
    trace = tmp_path / "trace.jsonl"
    with scripted(certificate=TLS / "elsewhere.pem") as server, proxying(server) as proxy:
        cli.environ["HTTPS_PROXY"] = f"http://kai:{PASSWORD}@{proxy.address}"
        words = ("tools", "-v", "-s", "https://elsewhere.example/mcp", "--ca-cert", CA)
        ran = cli(*words, "--trace", str(trace), *BEARER)
        assert ran.code == 0
        assert all(head.startswith("CONNECT elsewhere.example:443 ") for head in proxy.heads)
        assert all(f"basic {LOGIN}".lower() in head.lower() for head in proxy.heads)
        assert CANARY not in "".join(proxy.heads)
        for got in server.requests:
            assert got.headers["authorization"] == f"Bearer {CANARY}"
            assert not [name for name in got.headers if name.lower().startswith("proxy-")]
    told = f"elsewhere.example is reached through the proxy {proxy.address} (HTTPS_PROXY)"
    assert ran.err.count(told) == 1
    for text in (ran.out, ran.err, trace.read_text()):
        assert PASSWORD not in text
        assert LOGIN not in text
        assert "kai" not in text


def test_plain_http_goes_through_the_proxy_in_the_clear_and_is_warned_of(
    cli: Cli, proxied: Proxy, server: Scripted
) -> None:
    ran = cli("tools", "-s", "http://studio.example/mcp", *BEARER)
    assert ran.code == 0
    assert proxied.heads[0].startswith("POST http://studio.example/mcp ")
    assert len(server.got("tools/list")) == 1
    assert ran.err.count("warning: studio.example: credentials go over http:// in the clear") == 1
    assert PASSWORD not in ran.err


def test_a_server_on_this_machine_hears_nothing_of_the_proxy(
    cli: Cli, proxied: Proxy, server: Scripted
) -> None:
    port = server.name.rpartition(":")[2]
    for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]"):
        ran = cli("tools", "-v", "-s", f"http://{host}:{port}/mcp", *BEARER)
        assert ran.code == 0
        assert "proxy" not in ran.err
        assert "in the clear" not in ran.err
    assert proxied.heads == []
    assert not [n for got in server.requests for n in got.headers if n.lower().startswith("proxy-")]


@pytest.mark.parametrize("url", ["http://studio.example/mcp", "https://studio.example/mcp"])
def test_a_proxy_that_refuses_is_named_without_its_login(
    cli: Cli, proxied: Proxy, url: str
) -> None:
    said = f"Proxy says Basic {LOGIN} kai:{PASSWORD}"
    proxied.refusal = (
        f"HTTP/1.1 407 {said}\r\ncontent-length: {len(said)}\r\nconnection: close\r\n\r\n{said}"
    ).encode()
    ran = cli("tools", "-s", url, "-v")
    assert ran.code in (7, 9)
    assert "407" in ran.err
    assert PASSWORD not in ran.err
    assert LOGIN not in ran.err


def test_a_proxy_that_is_not_there_is_told_from_a_server_that_is_not(cli: Cli) -> None:
    proxy = f"http://kai:{PASSWORD}@127.0.0.1:1"
    ran = cli("tools", "-s", "http://studio.example/mcp", http_proxy=proxy)
    assert ran.code == 7
    assert "(through the proxy 127.0.0.1:1 of http_proxy): connection refused" in ran.err
    assert PASSWORD not in ran.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTPS_PROXY", f"nonsense://kai:{PASSWORD}@host"),
        ("ALL_PROXY", f"socks4://kai:{PASSWORD}@host"),
        ("https_proxy", f"http://kai:{PASSWORD}@host:99999"),
        ("SSL_CERT_FILE", "/no/such.pem"),
        ("SSL_CERT_DIR", "/no/such"),
    ],
)
@pytest.mark.parametrize("format", [[], ["--json"]])
def test_a_variable_that_breaks_the_client_is_named_in_one_line(
    cli: Cli, name: str, value: str, format: list[str]
) -> None:
    ran = cli("tools", "-s", "https://studio.example/mcp", *format, **{name: value})
    assert ran.code == 2
    (line,) = (
        line for line in (ran.out + ran.err).splitlines() if name in line and "hint" not in line
    )
    assert "cannot be used" in line or name in line
    assert PASSWORD not in ran.out + ran.err


def test_an_odd_entry_of_no_proxy_breaks_nothing_and_is_told(
    cli: Cli, proxied: Proxy, server: Scripted
) -> None:
    words = ("tools", "-s", "http://studio.example/mcp", "-v")
    ran = cli(*words, NO_PROXY="[::1],10.0.0.0/99,://")
    assert ran.code == 0
    assert "entries of NO_PROXY that mean nothing, and were left out: 2" in ran.err


# ── what nobody gave ──


def test_a_login_in_netrc_is_not_sent(
    on_server: Cli, server: Scripted, home: Path, cwd: Path
) -> None:
    for name in (".netrc", "_netrc"):
        path = home / name
        path.write_text(
            f"machine 127.0.0.1 login kai password {CANARY}\ndefault login a password b\n"
        )
        path.chmod(0o600)
    assert on_server("tools", NETRC=str(home / ".netrc")).code == 0
    assert not [got for got in server.requests if "authorization" in map(str.lower, got.headers)]


def test_the_proxys_login_cannot_be_given_as_a_header_that_the_server_would_get(cli: Cli) -> None:
    ran = cli("tools", "-s", "http://127.0.0.1:9/mcp", "-H", f"Proxy-Authorization: {CANARY}")
    assert (ran.code, CANARY in ran.err) == (2, False)


# ── http:// to others ──


@pytest.mark.parametrize(
    ("words", "warned"),
    [
        (["-s", "http://a.invalid/mcp", *BEARER], True),
        (["-s", "http://a.invalid/mcp", "-H", "X-Api-Key: abc"], True),
        (["-s", "http://kai:pw@a.invalid/mcp"], True),
        (["-s", "http://a.invalid/mcp?api_key=abc"], True),
        (["-s", "http://a.invalid/mcp", "--bearer-env", "TOKEN"], True),
        (["-s", "http://a.invalid/mcp"], False),
        (["-s", "http://a.invalid/mcp", "-H", "X-Room: north"], False),
        (["-s", "https://a.invalid/mcp", *BEARER], False),
        (["-s", "http://a.localhost/mcp", *BEARER], False),
        (["-s", "http://[::1]/mcp", *BEARER], False),
    ],
)
def test_a_credential_over_plain_http_to_another_machine_is_warned_of_once(
    cli: Cli, words: list[str], warned: bool
) -> None:
    ran = cli("call", "job", "--dry-run", *words, "--json", TOKEN=CANARY)
    assert ran.code == 0
    told = [text for text in ran.dry_run["warnings"] if "in the clear" in text]
    assert len(told) == warned
    assert ran.err.count("in the clear") == warned


# ── several tasks ──


@pytest.mark.parametrize("command", ["watch", "cancel"])
def test_a_token_for_one_server_is_not_sent_to_two(
    cli: Cli, server: Scripted, other: Scripted, command: str
) -> None:
    for each in (server, other):
        assert cli("call", "job", "month=x", "-s", each.url).code == 0
        each.requests.clear()
    ran = cli(command, "1", "2", *BEARER)
    assert ran.code == 2
    assert "go to one server, and these tasks are on several" in ran.err
    assert server.requests == other.requests == []
