"""Where httpx begins and ends: import, TLS, proxies, and its exceptions (never seen outside)."""

import asyncio
import os
import socket
import ssl
import subprocess
import sys

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.errors import ConfigError, McptaskError, Unreachable, UsageError
from mcptask.protocol.transports import http_client
from mcptask.protocol.transports.base import Limits, Request
from mcptask.protocol.transports.http import HttpTransport
from mcptask.protocol.transports.http_faults import mapped

# Self-signed, for 127.0.0.1, until 2126. It protects nothing.
CERTIFICATE = """\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgwTGNxEckYhDKCRLJ
tw9vI4qYaEmBxqrqFTHug3eXQ7ehRANCAARLTuYC2GqkdYxHUJrCzYwv4n3o2jEE
nD+xROQ4vxPjEyHJJr5LWU3D9GF5wLREYZ3fObFqhjSWX3/yKlyW4nPV
-----END PRIVATE KEY-----
-----BEGIN CERTIFICATE-----
MIIBljCCATygAwIBAgIUHMgwWWTe6AJjI0SexabHm1VINdkwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMbWNwdGFzayB0ZXN0MCAXDTI2MTEzMDExMTI1NloYDzIxMjYx
MTA2MTExMjU2WjAXMRUwEwYDVQQDDAxtY3B0YXNrIHRlc3QwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAARLTuYC2GqkdYxHUJrCzYwv4n3o2jEEnD+xROQ4vxPjEyHJ
Jr5LWU3D9GF5wLREYZ3fObFqhjSWX3/yKlyW4nPVo2QwYjAdBgNVHQ4EFgQUKhWE
fCQ5k1M/aDOi1tToBnDPCqwwHwYDVR0jBBgwFoAUKhWEfCQ5k1M/aDOi1tToBnDP
CqwwDwYDVR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMC
A0gAMEUCIQDmZVmii1yhAUDQf2PXyjcgmbKgrWGFFWJ2INehL7CM8AIgYr/St0ED
093JHuQGDTemXUdUNIseO/FFgFG4WzXiqJI=
-----END CERTIFICATE-----
"""


def test_importing_does_not_load_the_command_line_of_httpx():
    code = (
        "import sys, mcptask.protocol.transports.http\n"
        "print(sorted({'click', 'rich', 'pygments', 'httpcore', 'anyio'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ── TLS ──


@pytest.fixture
def pem(tmp_path):
    path = tmp_path / "server.pem"
    path.write_text(CERTIFICATE)
    return str(path)


def over_tls(pem, request):
    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        body = b'{"jsonrpc":"2.0","id":1,"result":{}}'
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ")
        writer.write(b"%d\r\n\r\n%s" % (len(body), body))
        await writer.drain()
        writer.close()

    async def main():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem)
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        transport = HttpTransport(f"https://127.0.0.1:{port}/mcp", environ=os.environ)
        try:
            return [message async for message in transport.exchange(request)]
        finally:
            await transport.close()
            server.close()
            await server.wait_closed()

    return asyncio.run(main())


def test_a_certificate_nobody_vouches_for_is_refused_before_anything_is_sent(pem, request_):
    with pytest.raises(Unreachable, match="TLS: certificate not accepted: self") as caught:
        over_tls(pem, request_())
    assert caught.value.sent is False


def test_a_ca_file_of_the_environment_lets_it_pass(pem, request_, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", pem)
    assert len(over_tls(pem, request_())) == 1


def test_a_ca_file_that_is_not_there_is_a_config_error(pem, request_, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", "/no/such/file.pem")
    with pytest.raises(ConfigError, match="SSL_CERT_FILE"):
        over_tls(pem, request_())


def test_without_tls_no_bundle_of_certificates_is_read(monkeypatch):
    monkeypatch.setattr(ssl, "create_default_context", None)
    asyncio.run(http_client.make(httpx.URL("http://127.0.0.1/"), environ={}).aclose())


# ── proxies ──


@pytest.mark.parametrize(
    ("host", "uses"),
    [("localhost", False), ("a.localhost", False), ("127.8.9.1", False), ("[::1]", False),
     ("example.com", True), ("10.0.0.1", True), ("localhost.example.com", True)],
)  # fmt: skip
def test_only_this_machine_is_reached_without_the_proxy(monkeypatch, host, uses):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    monkeypatch.setenv("NO_PROXY", "")

    async def main():
        client = http_client.make(httpx.URL(f"http://{host}/"), environ=os.environ)
        proxied = client._transport_for_url(httpx.URL(f"http://{host}/")) is not client._transport
        await client.aclose()
        return proxied

    assert asyncio.run(main()) is uses


@pytest.mark.parametrize("proxy", ["nonsense://x", "socks5://127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_a_config_error(monkeypatch, proxy):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setenv("NO_PROXY", "")
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(ConfigError, match="HTTP_PROXY"):
        http_client.make(httpx.URL("http://example.com/"), environ=os.environ)


# ── exceptions ──


def became(error, cause=None):
    error.__cause__ = cause
    with pytest.raises(McptaskError) as caught, mapped("http://h/", 30.0, 60.0):
        raise error
    assert caught.value.__cause__ is error
    return caught.value


def group(*errors):
    outer = OSError("All connection attempts failed")
    outer.__cause__ = ExceptionGroup("several", list(errors))
    return outer


@pytest.mark.parametrize(
    ("error", "cause", "said"),
    [
        (httpx.ConnectTimeout(""), None, "no connection within 30 s"),
        (httpx.PoolTimeout(""), None, "no connection within 30 s"),
        (httpx.ProxyError("407 Proxy Authentication Required"), None, "the proxy refused: 407"),
        (httpx.ConnectError("x"), ConnectionRefusedError(), "connection refused"),
        (httpx.ConnectError("x"), group(ConnectionRefusedError(), OSError()), "refused"),
        (httpx.ConnectError("x"), socket.gaierror(-2, "unknown"), "name not found"),
        (httpx.ConnectError("x"), ssl.SSLError(1, "wrong version"), "TLS: "),
        (httpx.ConnectError("x"), OSError(113, "No route to host"), "no route to host"),
        (httpx.ConnectError("All attempts failed"), OSError(), "all attempts failed"),
        (httpx.ConnectError(""), None, "connecterror"),
    ],
)
def test_before_the_connection_stands_nothing_was_sent(error, cause, said):
    fault = became(error, cause)
    assert isinstance(fault, Unreachable)
    assert fault.sent is False
    assert said in fault.message


@pytest.mark.parametrize(
    ("error", "cause", "said"),
    [
        (httpx.ReadTimeout(""), None, "no answer within 60 s"),
        (httpx.WriteTimeout(""), None, "stopped reading"),
        (httpx.ReadError(""), ConnectionResetError(), "reset by the server"),
        (httpx.WriteError(""), BrokenPipeError(), "reset by the server"),
        (httpx.RemoteProtocolError("Server disconnected"), None, "server disconnected"),
        (httpx.RemoteProtocolError("illegal request line"), None, "the answer is no HTTP"),
    ],
)
def test_once_it_stands_nobody_knows_what_the_server_did(error, cause, said):
    fault = became(error, cause)
    assert isinstance(fault, Unreachable)
    assert fault.sent is True
    assert said in fault.message


def test_a_request_that_is_no_http_is_refused_without_quoting_it__S14():
    fault = became(httpx.LocalProtocolError("Illegal header value b'secret'"))
    assert isinstance(fault, UsageError)
    assert "secret" not in fault.message


def test_a_chain_of_exceptions_that_bites_its_tail_ends():
    first, second = OSError(), OSError()
    first.__cause__, second.__cause__ = second, first
    assert "connection lost" in became(httpx.ReadError(""), first).message


@pytest.mark.parametrize("host", ["a" * 70, "a..b", "é" * 70 + ".example", "-", "xn--", "a_b"])
def test_an_odd_host_name_is_an_error_of_ours(host):
    async def main():
        transport = HttpTransport(f"http://{host}.invalid/", limits=Limits(connect=2))
        try:
            async for _ in transport.exchange(Request(1, "m", {})):
                pass
        finally:
            await transport.close()

    with pytest.raises(McptaskError):
        asyncio.run(main())


# ── arbitrary answers ──

HEAD = st.sampled_from([b"HTTP/1.1 ", b"HTTP/1.0 ", b""])
STATUS = st.sampled_from([200, 202, 204, 301, 304, 307, 308, 400, 401, 404, 429, 503, 700])
FIELDS = st.lists(
    st.tuples(
        st.sampled_from(
            [b"location", b"content-type", b"content-encoding", b"content-length", b"retry-after",
             b"www-authenticate", b"transfer-encoding", b"date", b"set-cookie"]
        ),
        st.binary(max_size=20)
        | st.sampled_from([b"application/json", b"text/event-stream", b"gzip", b"chunked", b"5",
                           b"http://[", b"//", b"http://a:99999/", b"/x"]),
    ),
    max_size=4,
)  # fmt: skip


@settings(max_examples=50, deadline=None)
@given(HEAD, STATUS, FIELDS, st.binary(max_size=60) | st.just(b'{"jsonrpc":"2.0","error":{}}'))
def test_any_answer_is_a_message_or_an_error_of_ours(head, status, fields, body):
    async def answer(reader, writer):
        try:
            await reader.readuntil(b"\r\n\r\n")
            lines = b"".join(b"%s: %s\r\n" % field for field in fields)
            writer.write(b"%s%d Odd\r\n%s\r\n%s" % (head, status, lines, body))
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        writer.close()

    async def main():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        transport = HttpTransport(url, limits=Limits(first_byte=2))
        try:
            return [message async for message in transport.exchange(Request(1, "m", {}))]
        except McptaskError:
            return []
        finally:
            await transport.close()
            server.close()
            await server.wait_closed()

    for message in asyncio.run(main()):
        assert message["jsonrpc"] == "2.0"
