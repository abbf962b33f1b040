"""URLs of servers: checked, parted from the credentials in them, shown without secrets."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from mcptask.errors import UsageError
from mcptask.protocol.transports.headers import basic
from mcptask.protocol.transports.redact import url_parts

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
    user_info, at, netloc = parts.netloc.rpartition("@")
    url = parts._replace(netloc=netloc, fragment="").geturl()
    return Address(url, netloc, basic(user_info) if at else None)


def shown(url: str, written: str | None = None) -> str:
    """`url` without user-info, query and fragment. Never fails.

    `written` is the text before `${VAR}` was replaced: a path that came out of a variable, and so
    may be a secret, is shown as `/…`.
    """
    origin, path = url_parts(url)
    hidden = written is not None and url_parts(written)[1] != path
    return origin + ("/…" if hidden else path)
