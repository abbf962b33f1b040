"""What to know of the address that a question asks to open, before anyone agrees (A12.13). Opens none."""

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

# What browsers and Python read differently, or drop: `https://good\@evil` has two hosts, a tab has none.
_UNSOUND = re.compile(r"[\x00-\x20\x7f-\xa0\\]|[\u2000-\u200f\u2028-\u202f\u2060-\u206f\ufeff]")
_SCHEMES = ("http", "https")


@dataclass(frozen=True)
class Address:
    """`host` is where it leads; `warnings` what a person could overlook; `refused` why nobody may agree."""

    host: str
    warnings: tuple[str, ...] = ()
    refused: str | None = None


def read_address(url: object) -> Address:
    if not isinstance(url, str) or not url:
        return Address("", refused="there is no address")
    if _UNSOUND.search(url):
        return Address(
            "", refused="the address holds a space, a backslash or an invisible character"
        )
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError as error:
        return Address("", refused=f"the address cannot be read: {error}")
    if parts.scheme not in _SCHEMES:
        return Address(
            host, refused=f"only http and https are opened, not {parts.scheme or 'this'}"
        )
    if not host:
        return Address("", refused="the address has no host")
    return Address(host, warnings=tuple(_warnings(parts, host)))


def _warnings(parts: SplitResult, host: str) -> list[str]:
    found = []
    if "@" in parts.netloc:
        before = parts.netloc.rpartition("@")[0]
        found.append(f"{before!r} before the @ is a user name, not where it leads")
    if not host.isascii():
        found.append(
            f"the host has letters beyond ASCII: it may only look like another ({_ascii(host)})"
        )
    elif any(label.startswith("xn--") for label in host.split(".")):
        found.append(
            f"the host is punycode: it may be shown as {_unicode(host)}, which may only look right"
        )
    return found


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return "it is no valid name"


def _unicode(host: str) -> str:
    try:
        return host.encode().decode("idna")
    except UnicodeError:
        return "other letters"
