"""The httpx client as this package wants it: quick to import and to make, no cookies, no surprises.

The one place that imports httpx; the other modules take it from here.
"""

import ssl
import sys
from collections.abc import Awaitable, Callable, Mapping
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.util import find_spec
from urllib.request import getproxies

from mcptask.errors import ConfigError, HttpRefused, UsageError
from mcptask.protocol.transports.excerpts import shortened
from mcptask.protocol.transports.headers import basic, checked_value, is_token
from mcptask.protocol.transports.proxies import Proxy, proxy_for, unreadable, with_the_systems
from mcptask.protocol.transports.redact import bare_url
from mcptask.protocol.transports.trust import Trust, context

# httpx imports its own command line where it finds click installed, and with it rich and pygments:
# 55 ms for nothing. A None here makes that import fail, which httpx expects and survives.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]

# httpcore asks for this package several times a request. Where it is not installed, each of them searches
# the whole path: half a millisecond a request, which the same None saves.
sys.modules.update({} if find_spec("sniffio") else {"sniffio": None})  # type: ignore[dict-item]

import httpx as httpx  # noqa: E402, PLC0414 (handed on)

# Servers drop an idle connection after 5 s (uvicorn, Node): leave it before they do, so that a poll
# does not run into a connection that is just being closed.
KEEPALIVE = 3.0


def endpoint(url: str) -> tuple[httpx.URL, dict[str, str]]:
    """The URL without its user and password, and the header that those stand for.

    Raises ConfigError where it is no http:// or https:// URL.
    """
    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, ValueError) as exc:  # ValueError: a host that only looks like IDNA
        raise ConfigError(f"not a URL: {bare_url(url)}: {exc}") from exc
    if parsed.scheme not in ("http", "https") or not host:
        raise ConfigError(f"not an http:// or https:// URL: {bare_url(url)}")
    if not parsed.userinfo:
        return parsed, {}
    login = basic(parsed.userinfo.decode("ascii"))
    return parsed.copy_with(userinfo=b""), {"authorization": login}


def way(url: httpx.URL, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy on the way to this URL. ConfigError for one that cannot be used."""
    return proxy_for(url.scheme, url.host, url.port, with_the_systems(environ, getproxies))


def via(url: httpx.URL, environ: Mapping[str, str]) -> tuple[str, list[str]]:
    """What to put behind the address of a server that is reached through a proxy; and what -v says of it."""
    proxy = way(url, environ)
    if proxy is None:
        return "", []
    said = [f"{url.host} is reached through the proxy {proxy.host} ({proxy.variable})"]
    if lost := unreadable(environ):
        said.append(f"entries of NO_PROXY that mean nothing, and were left out: {lost}")
    return f" (through the proxy {proxy.host} of {proxy.variable})", said


def make(
    url: httpx.URL,
    *heard: Callable[[httpx.Response], Awaitable[None]],
    environ: Mapping[str, str],
    trust: Trust = Trust(),  # noqa: B008 (frozen)
) -> httpx.AsyncClient:
    """A client for this one endpoint. `heard` gets the head of each answer first.

    `trust_env` is off: what of the environment counts is decided here, and a login in ~/.netrc, which nobody
    gave for this, is not sent. Raises ConfigError for TLS or proxy settings that cannot be used.
    """
    proxy = way(url, environ)
    try:
        return httpx.AsyncClient(
            # Without TLS no certificate is looked at, so the bundle of CAs (25 ms) stays unread; a redirect
            # to https is another origin and not followed.
            verify=url.scheme == "https" and context(trust, environ, _usual),
            trust_env=False,
            proxy=_through(proxy, environ) if proxy else None,
            limits=httpx.Limits(keepalive_expiry=KEEPALIVE),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            # Before httpx itself reads the Location, and stumbles over one that is no URL.
            event_hooks={"response": [*heard, _refuse_redirect]},
        )
    except (httpx.InvalidURL, OSError, ValueError, ImportError) as exc:
        # What httpx dislikes though it was looked at. Its words may hold a password: not repeated.
        name = proxy.variable if proxy else "of TLS"
        raise ConfigError(f"the setting {name} cannot be used: {type(exc).__name__}") from exc


def _usual() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


def _through(proxy: Proxy, environ: Mapping[str, str]) -> httpx.Proxy:
    """Who vouches for a server, or that nobody need, says nothing of a proxy."""
    over_tls = proxy.url.lower().startswith("https:")
    return httpx.Proxy(
        proxy.url, ssl_context=context(Trust(), environ, _usual) if over_tls else None
    )


def encoded(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as bytes. Raises UsageError for what is no header, naming it but not quoting its value."""
    pairs = []
    for name, value in headers.items():
        if not is_token(name):
            raise UsageError(f"not a header name: {name!r}")
        pairs.append((name.encode("ascii"), checked_value(name, value).encode("ascii")))
    return pairs


def redirect(response: httpx.Response) -> httpx.URL | None:
    """Where the request must go instead; None where this is no redirect.

    Only 307 and 308 keep a POST what it is, and credentials stay on their origin: anything else raises
    HttpRefused and shows the Location (A3.9).
    """
    if not 300 <= response.status_code < 400:
        return None
    location = response.headers.get("location", "")
    if response.status_code in (307, 308) and location:
        target = _join(response.url, location)
        if target is not None and _origin(target) == _origin(response.url):
            return target.copy_with(userinfo=b"")
    raise HttpRefused(
        f"HTTP {response.status_code} from {bare_url(str(response.url))}: not followed to "
        f"{shortened(bare_url(location), 1000) or 'nowhere: it has no Location'}",
        status=response.status_code,
        hint="if you trust the new address, use it as the server's URL",
    )


async def _refuse_redirect(response: httpx.Response) -> None:
    redirect(response)


def _join(base: httpx.URL, location: str) -> httpx.URL | None:
    try:
        return base.join(location)
    except (httpx.InvalidURL, ValueError):
        return None


def _origin(url: httpx.URL) -> tuple[str, bytes, int | None]:
    return url.scheme, url.raw_host, url.port  # httpx leaves out a port that is the scheme's own
