"""Where httpx's exceptions end: each becomes one of ours here, in a few words a person knows."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from mcptask.errors import McptaskError, Unreachable, UsageError
from mcptask.protocol.transports.excerpts import shortened
from mcptask.protocol.transports.http_client import httpx


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
        return Unreachable(f"{url}: {reason(exc)}", sent=False)
    if isinstance(exc, httpx.ProxyError):
        return Unreachable(f"{url}: the proxy refused: {exc}", sent=False)
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
            return f"TLS: certificate not accepted: {error.verify_message}"
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
