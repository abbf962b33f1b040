"""URLs of servers: checked, parted from the credentials in them, shown without secrets."""

import base64
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from mcptask.errors import UsageError

SCHEMES = ("http", "https")


@dataclass(frozen=True)
class Address:
    """A usable URL without user-info or fragment, and the Basic header that the user-info meant."""

    url: str = field(repr=False)
    host: str  # host[:port], IPv6 in brackets
    authorization: str | None = field(default=None, repr=False)


def is_url(text: str) -> bool:
    return "://" in text


def address(text: str, where: str, error: type[UsageError] = UsageError) -> Address:
    """Checks and takes apart. `where` names the place in an `error`; the URL is never repeated."""
    try:
        parts = urlsplit(text)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise error(f"{where}: not a valid URL: check the host and the port") from None
    for wrong, reason in (
        (not text.isprintable() or " " in text or "\\" in text, "has a character no URL can have"),
        (parts.scheme not in SCHEMES, "must start with http:// or https://"),
        (not host, "names no host"),
        (port == 0, "has the port 0, which nothing listens on"),
    ):
        if wrong:
            raise error(f"{where}: the URL {reason}")
    netloc = _host(parts)
    url = parts._replace(netloc=netloc, fragment="").geturl()
    return Address(url, netloc, _basic(parts))


def shown(url: str, written: str | None = None) -> str:
    """`url` without user-info, query and fragment. Never fails.

    `written` is the text before `${VAR}` was replaced: a path that came out of a variable, and so
    may be a secret, is shown as `/…`.
    """
    try:
        parts = urlsplit(url)
        path = parts.path
        if written is not None and urlsplit(written).path != path:
            path = "/…"
        return parts._replace(netloc=_host(parts), path=path, query="", fragment="").geturl()
    except ValueError:
        return "(a URL that cannot be read)"


def _host(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]


def _basic(parts: SplitResult) -> str | None:
    user_info, at, _ = parts.netloc.rpartition("@")
    if not at:
        return None
    user, _, password = user_info.partition(":")
    pair = unquote_to_bytes(user) + b":" + unquote_to_bytes(password)
    return "Basic " + base64.b64encode(pair).decode("ascii")
