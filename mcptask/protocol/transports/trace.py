"""What a transport tells of the wire while it speaks, and how secrets are kept out of it. Pure.

A transport calls its `Trace` for everything that goes out or comes in; without one it costs nothing. Who
writes it where is not known here. An entry is `direction`, `kind` and the fields of that kind:

    out request        transport, message; over HTTP also method, url, headers, and a GET has no message
    out notification   transport, message
    out start          transport, command, childPid
    in  response       transport, status, reason, headers, to, ms       the head of an HTTP answer
    in  message        message, to
    in  noise          text, to                                         what was read and is no message
    in  stderr         text
    in  fault          text, to                                         why there was no answer

`to` is the number of the request's entry, None where it is not known. Texts are bounded; a message is as
large as messages may be (A5.9).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal, Protocol

from mcptask.errors import McptaskError, TooLarge
from mcptask.protocol.transports.base import Message
from mcptask.protocol.transports.excerpts import excerpt
from mcptask.protocol.transports.messages import parse, rpc_messages
from mcptask.protocol.transports.redact import MASK, bare_url, is_secret_name, masked
from mcptask.protocol.transports.secrets import Secrets, rewritten

Entry = Mapping[str, Any]

# How much of a text is kept, in characters: enough to tell what it was.
TEXT = 2000

# They sound secret and are a challenge, which explains a 401 or 407.
_CHALLENGES = frozenset({"proxy-authenticate", "www-authenticate"})
_ADDRESSES = frozenset({"content-location", "location", "referer"})
_STATE = "requestState"
_STATE_IN_TEXT = re.compile(rf'("{_STATE}"\s*:\s*")(?:[^"\\]|\\.)*')


class Trace(Protocol):
    def __call__(self, direction: Literal["out", "in"], kind: str, **fields: Any) -> int:
        """Take one entry, not masked yet; returns its number."""
        ...


def received(trace: Trace | None, data: bytes, to: int | None) -> None:
    """The body of an answer, or an event's data: message by message; what is none is noise."""
    if trace is None:
        return
    found: list[Message] = []
    with suppress(ValueError, TooLarge):
        found = rpc_messages(parse(data))
    for message in found:
        trace("in", "message", message=message, to=to)
    if not found and data.strip():
        trace("in", "noise", text=excerpt(data, TEXT), to=to)


@contextmanager
def faults(trace: Trace | None, to: int | None) -> Iterator[None]:
    """Whatever ends an exchange without an answer is told as a fault, and raised on."""
    try:
        yield
    except McptaskError as error:
        if trace is not None:
            trace("in", "fault", text=error.message[:TEXT], to=to)
        raise


# ── masking ──────────────────────────────────────────────────────────────────────────────────────


def masked_entry(entry: Entry, secrets: Secrets) -> dict[str, Any]:
    """The entry as it may be written: `***` for credentials, session ids, request state, the queries
    and user-info of URLs, and for every known secret wherever else it occurs.
    """
    safe = dict(entry)
    for name, mask in _MASKS.items():
        if name in safe:
            safe[name] = mask(safe[name], secrets)
    clean: dict[str, Any] = rewritten(safe, secrets.hide, _fields)
    return clean


def masked_url(url: str) -> str:
    """The URL without user and password, the values of its query hidden. Never fails."""
    address, mark, query = url.partition("#")[0].partition("?")
    pairs = (name + equals for name, equals, _ in (p.partition("=") for p in query.split("&")))
    # Without `=` the whole may be a token.
    hidden = "&".join(pair + MASK if pair.endswith("=") else MASK for pair in pairs)
    return bare_url(address) + (mark + hidden if query else "")


def _headers(headers: Mapping[str, str], secrets: Secrets) -> dict[str, str]:
    return {name: _header(name.lower(), value, secrets) for name, value in headers.items()}


def _header(name: str, value: str, secrets: Secrets) -> str:
    if name in secrets.headers or (is_secret_name(name) and name not in _CHALLENGES):
        return MASK
    return masked_url(value) if name in _ADDRESSES else value


def _fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of each object, however deep: the state, and the query of a URL that a question asks to open, for
    people log in by such queries."""
    if fields.get(_STATE) is not None:
        fields = {**fields, _STATE: MASK}
    if fields.get("mode") == "url" and isinstance(fields.get("url"), str):
        fields = {**fields, "url": masked_url(fields["url"])}
    return fields


_MASKS: Mapping[str, Callable[[Any, Secrets], Any]] = {
    "command": lambda command, _: masked(command),
    "headers": _headers,
    "text": lambda text, _: _STATE_IN_TEXT.sub(rf"\1{MASK}", text),
    "url": lambda url, _: masked_url(url),
}
