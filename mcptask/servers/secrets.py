"""What must not be shown of a server, as far as its endpoint tells: whatever was put there to be secret.

Found here so that it can be hidden where it turns up unasked: in a trace, or in an error message of a server
that repeats a token.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from urllib.parse import parse_qsl, unquote, urlsplit

from mcptask.errors import UsageError
from mcptask.protocol.transports.proxies import values as proxies
from mcptask.protocol.transports.redact import concealed, is_secret_name, url_parts
from mcptask.protocol.transports.secrets import Secrets, secrets_from
from mcptask.servers.credentials import AUTHORIZATION, credentials
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.expansion import variables

# `Bearer abc`, `sid=abc; theme=dark`: a server repeats the token, hardly the whole value.
_PARTS = re.compile(r"[\s;,=\"']+")
_SCHEMES = frozenset({"basic", "bearer", "digest", "negotiate", "token"})
# A path, or words: `~/studio.db`, `production`, `Europe/Berlin`.
_WORD = "[A-Z]?[a-z]{1,15}"
_PLAIN = re.compile(
    rf"(~|\.{{0,2}}[/\\]|[A-Za-z]:[/\\]).*|{_WORD}([ /_.,:-]{_WORD}){{0,3}}", re.DOTALL
)


def secrets_of(endpoint: Endpoint, environ: Mapping[str, str]) -> Secrets:
    """Values of headers, of the URL's query and of variables, and what looks secret in a command.

    Never raises: what cannot be found out here is missed when the request is made.
    """
    headers: dict[str, str] = {}
    with suppress(UsageError):
        headers = credentials(endpoint, environ)
    names = {*endpoint.headers, *([AUTHORIZATION] if endpoint.bearer_env else [])}
    return secrets_from(
        (
            *(part for name, value in headers.items() for part in _of_header(name, value)),
            *_of_url(endpoint, environ),
            *_of_command(endpoint, environ),
            *_of_proxies(environ),
        ),
        headers=names,
    )


def _of_header(name: str, value: str) -> Iterator[str]:
    """A server repeats the token without its scheme, and `Bearer` alone must stay to be seen. Plain words are
    no secrets, as in a command, unless the header's name or a scheme says so."""
    scheme, _, rest = value.partition(" ")
    login = rest if scheme.lower() in _SCHEMES else ""
    if not login and not is_secret_name(name):
        if not _PLAIN.fullmatch(value):
            yield value
        return
    yield login or value
    for part in _PARTS.split(value):
        if part.lower() not in _SCHEMES:
            yield part
    yield from _of_basic(value)


def _of_basic(value: str) -> Iterator[str]:
    """The password that a `Basic` login holds, encoded."""
    scheme, _, encoded = value.partition(" ")
    if scheme.lower() == "basic":
        with suppress(binascii.Error, UnicodeDecodeError):
            login = base64.b64decode(encoded).decode()
            yield login
            yield login.partition(":")[2]


def _of_url(endpoint: Endpoint, environ: Mapping[str, str]) -> Iterator[str]:
    if endpoint.url is None:
        return
    query = urlsplit(endpoint.url).query
    yield from (pair.partition("=")[2] or pair for pair in query.split("&"))
    yield from (value for _, value in parse_qsl(query))
    if isinstance(endpoint.written, str):  # a path out of a variable is not shown either
        yield from _values(url_parts(endpoint.written)[1], environ)


def _of_proxies(environ: Mapping[str, str]) -> Iterator[str]:
    """A proxy may repeat the login that it was sent, and a server gets it from one that hands it on."""
    for value in proxies(environ):
        login, at, _ = value.rpartition("://")[2].rpartition("@")
        if at:
            yield unquote(login)
            yield login.partition(":")[2] or login


def _of_command(endpoint: Endpoint, environ: Mapping[str, str]) -> Iterator[str]:
    """Plain words, files and folders are no secrets unless their name says so: errors are full of them."""
    for secret in concealed(endpoint.command):
        yield secret
        yield from (part for part in _PARTS.split(secret) if part)
    for name, value in endpoint.env.items():
        if is_secret_name(name) or not _PLAIN.fullmatch(value):
            yield value
    if isinstance(endpoint.written, tuple):
        for word in endpoint.written:
            yield from (value for value in _values(word, environ) if not _PLAIN.fullmatch(value))


def _values(written: str, environ: Mapping[str, str]) -> Iterator[str]:
    return (environ[name] for name in variables(written) if name in environ)
