"""Which proxy a request goes through, as the environment has it. Pure.

Decided here and not by httpx: an entry of NO_PROXY that it cannot read ends it, and it does not say which
variable was to blame. No message repeats the value of a variable, for a password may stand in it.
"""

import ipaddress
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from urllib.parse import SplitResult, urlsplit

from mcptask.errors import ConfigError

# The proxies of a scheme, first to last. In small letters a variable wins, and one that is empty means none.
_VARIABLES = {"http": ("HTTP_PROXY", "ALL_PROXY"), "https": ("HTTPS_PROXY", "ALL_PROXY")}
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
_SCHEMES = ("http", "https", "socks5", "socks5h")
_PORTS = {"http": 80, "https": 443}

IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Proxy:
    """`variable` names it, `host` (and port) is all of it that may be shown."""

    variable: str
    host: str
    url: str = field(repr=False)


def proxy_for(scheme: str, host: str, port: int | None, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy for this origin; None where it is reached directly, as this machine always is.

    Raises ConfigError, which names the variable, for one that cannot be used.
    """
    if is_loopback(host):
        return None
    for variable in _VARIABLES[scheme]:
        name, value = _found(variable, environ)
        if value and not _bypassed(scheme, host, port or _PORTS[scheme], environ):
            return _proxy(name, value, host)
    return None


def with_the_systems(
    environ: Mapping[str, str],
    ask: Callable[[], Mapping[str, str]],
    platform: str = sys.platform,
) -> Mapping[str, str]:
    """macOS and Windows have settings for proxies, which count where no variable says anything. `ask` gets
    them, as `urllib.request.getproxies` does."""
    if platform not in ("darwin", "win32") or any(values(environ)):
        return environ
    found = {f"{scheme}_proxy": value for scheme, value in ask().items()}
    return {
        **environ,
        **{name: found[name] for name in found if name.upper() in (*NAMES, "NO_PROXY")},
    }


def values(environ: Mapping[str, str]) -> Iterator[str]:
    """What the variables for proxies hold, where they hold something."""
    found = (environ.get(spelled) for name in NAMES for spelled in (name, name.lower()))
    return (value for value in found if value)


def unreadable(environ: Mapping[str, str]) -> int:
    """How many entries of NO_PROXY mean nothing."""
    return sum(_entry(text) is None for text in _entries(environ))


def is_loopback(host: str) -> bool:
    """Is this machine meant? 127.0.0.0/8, ::1, the same written as IPv6, localhost and *.localhost."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address(name)
    return address is not None and address.is_loopback


def _found(variable: str, environ: Mapping[str, str]) -> tuple[str, str]:
    small = variable.lower()
    if small in environ:
        return small, environ[small].strip()
    # Where a web server starts us, a header `Proxy:` of whoever asks it becomes this variable.
    if variable == "HTTP_PROXY" and "REQUEST_METHOD" in environ:
        return variable, ""
    return variable, environ.get(variable, "").strip()


def _proxy(name: str, value: str, host: str) -> Proxy:
    url = value if "://" in value else f"http://{value}"
    parts = _split(url)
    if parts is None or not parts.hostname or not value.isprintable() or " " in value:
        raise _unusable(name, "is not the address of a proxy", host)
    if parts.scheme not in _SCHEMES:
        raise _unusable(name, f"names a proxy that is none of {', '.join(_SCHEMES)}", host)
    if parts.scheme.startswith("socks") and find_spec("socksio") is None:
        raise _unusable(name, "names a SOCKS proxy, and the package socksio is not installed", host)
    return Proxy(name, parts.netloc.rpartition("@")[2], url)


def _unusable(name: str, why: str, host: str) -> ConfigError:
    return ConfigError(
        f"the variable {name} {why}",
        hint=f"correct or unset {name}, or reach {host} directly: export NO_PROXY={host}",
    )


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.port != 0 else None
    except ValueError:
        return None


# ── NO_PROXY ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Entry:
    """`*` is every host. A name stands for all that ends with it, too."""

    name: str = ""
    network: IpNetwork | None = None
    scheme: str | None = None
    port: int | None = None

    def fits(self, scheme: str, host: str, port: int) -> bool:
        if self.scheme not in (None, "all", scheme) or self.port not in (None, port):
            return False
        if self.network is not None:
            address = _address(host)
            return address is not None and address in self.network
        return self.name in ("*", host) or host.endswith(f".{self.name}")


def _bypassed(scheme: str, host: str, port: int, environ: Mapping[str, str]) -> bool:
    name = host.lower().rstrip(".")
    entries = (_entry(text) for text in _entries(environ))
    return any(entry is not None and entry.fits(scheme, name, port) for entry in entries)


def _entries(environ: Mapping[str, str]) -> list[str]:
    return _found("NO_PROXY", environ)[1].replace(",", " ").split()


def _entry(text: str) -> _Entry | None:
    """`example.com`, `.example.com`, `*.example.com`, `host:8080`, `10.0.0.0/8`, `::1`, `https://host`."""
    scheme, mark, rest = text.lower().rpartition("://")
    network = _network(rest)
    if network is not None:
        return _Entry(network=network, scheme=scheme if mark else None)
    parts = _split(f"//{rest}")
    if "/" in rest or parts is None or not parts.hostname:
        return None
    name = parts.hostname.rstrip(".")
    return _Entry(
        name=name if name == "*" else name.removeprefix("*").removeprefix("."),
        network=_network(name),
        scheme=scheme if mark else None,
        port=parts.port,
    )


def _network(text: str) -> IpNetwork | None:
    try:
        return ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Also of an IPv4 address that is written as IPv6."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
