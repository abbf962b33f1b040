"""Where httpx's exceptions end: each becomes one of ours here, in a few words a person knows."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from mcptask.errors import McptaskError, Unreachable, UsageError
from mcptask.protocol.transports.excerpts import shortened
from mcptask.protocol.transports.http_client import httpx

# What a certificate was refused for, by OpenSSL's number (x509_vfy.h): what it means, and what to do.
_RENEW = "whoever runs the server has to renew it; if the clock of this machine is wrong, set it"
_VOUCH = "if it is right, have the certificate of its CA in a file: --ca-cert FILE (ca_cert in the config)"
_NAME = "use the name that the certificate is for; a wrong one may be somebody in between"
_REFUSED: Mapping[int, tuple[str, str]] = {
    9: ("it is not valid yet", _RENEW),
    10: ("it has expired", _RENEW),
    18: ("self-signed, and nobody vouches for it", _VOUCH),
    19: ("self-signed CA, which nobody vouches for", _VOUCH),
    20: ("it is of a CA that is not known here", _VOUCH),
    21: ("it is of a CA that is not known here", _VOUCH),
    62: ("it is for another host", _NAME),
    64: ("it is for another host", _NAME),
}
# How OpenSSL calls an answer that is no TLS.
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
# What h11 says of an answer that begins with a control byte, as an alert of TLS does.
_NO_HTTP = "illegal request line"


@contextmanager
def mapped(url: str, connect: float, wait: float | None) -> Iterator[None]:
    """Map what httpx raises inside. `url` is fit to be shown; the others are the seconds allowed."""
    try:
        yield
    except httpx.HTTPError as exc:
        raise _fault(exc, url, connect, wait) from exc


def _fault(exc: httpx.HTTPError, url: str, connect: float, wait: float | None) -> McptaskError:
    # Before the connection stands nothing was sent; after that nobody knows what the server did.
    if isinstance(exc, httpx.ConnectTimeout | httpx.PoolTimeout):
        return Unreachable(f"{url}: no connection within {connect:g} s", sent=False)
    if isinstance(exc, httpx.ConnectError):
        return Unreachable(f"{url}: {reason(exc)}", sent=False, hint=_way_out(exc))
    if isinstance(exc, httpx.ProxyError):
        return Unreachable(f"{url}: the proxy refused: {shortened(str(exc))}", sent=False)
    if isinstance(exc, httpx.RemoteProtocolError) and _NO_HTTP in str(exc):
        return Unreachable(
            f"{url}: the answer is no HTTP", hint="if the server speaks TLS there: https://"
        )
    if isinstance(exc, httpx.LocalProtocolError | httpx.UnsupportedProtocol):
        # h11 quotes the header value it dislikes, which may be a credential: not repeated.
        return UsageError(f"{url}: the request is no valid HTTP")
    if isinstance(exc, httpx.ReadTimeout):
        return Unreachable(f"{url}: no answer within {wait:g} s")
    if isinstance(exc, httpx.WriteTimeout):
        return Unreachable(f"{url}: the server stopped reading the request")
    return Unreachable(f"{url}: connection lost: {reason(exc)}")


def reason(exc: BaseException) -> str:
    """The root of a chain of exceptions, said shortly."""
    found = [e for e in _roots(exc) if isinstance(e, OSError)]
    for error in found:
        if isinstance(error, ssl.SSLCertVerificationError):
            why, _ = _REFUSED.get(error.verify_code, (shortened(error.verify_message), ""))
            return f"TLS: certificate not accepted: {why}"
        if _no_tls(error):
            return "TLS: the server does not speak it there"
        if isinstance(error, ssl.SSLError):
            return f"TLS: {getattr(error, 'reason', None) or error}"
        if isinstance(error, socket.gaierror):
            return "name not found"
        if isinstance(error, ConnectionRefusedError):
            return "connection refused"
        if isinstance(error, ConnectionResetError | BrokenPipeError):
            return "reset by the server"
    named = next((e.strerror for e in found if e.strerror), None)
    return shortened(
        named or str(exc) or type(exc).__name__
    ).lower()  # h11 quotes what it cannot read


def _way_out(exc: BaseException) -> str | None:
    """What to do about TLS that did not come about."""
    for error in _roots(exc):
        if isinstance(error, ssl.SSLCertVerificationError):
            return _REFUSED.get(error.verify_code, ("", None))[1]
        if _no_tls(error):
            return "if the way to it is safe without TLS, give the URL with http://"
    return None


def _no_tls(error: BaseException) -> bool:
    return isinstance(error, ssl.SSLError) and getattr(error, "reason", None) in _NO_TLS


def _roots(exc: BaseException) -> Iterator[BaseException]:
    """The exception and everything behind it: causes, contexts, and members of groups (one an address)."""
    stack: list[BaseException | None] = [exc]
    seen: set[int] = set()
    while stack:
        current = stack.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        stack += [current.__cause__, current.__context__]
        if isinstance(current, BaseExceptionGroup):
            stack += current.exceptions
