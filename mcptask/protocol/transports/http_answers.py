"""What an HTTP status means when no message of the protocol says it better. Pure (A4.3).

Text of the server goes into messages as it is, only shortened: the renderer cleans it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from mcptask.errors import Garbled, HttpRefused, ProtocolError, Unauthorized, Unreachable, WireError
from mcptask.protocol.transports.base import Message
from mcptask.protocol.transports.excerpts import excerpt, shortened

# Too early, too slow, too many: the same request may do better later. All of 5xx counts as well.
BUSY = frozenset({408, 425, 429})

# An absurd `Retry-After` must stay a finite number; the follower caps it to what is sensible.
LONGEST_RETRY_AFTER = 366 * 86400.0

# Where a status alone says what to look at.
_ADDRESS = "check the URL: nothing answers there that speaks MCP"
_HEADERS = "something between here and the server changes the Accept or the Content-Type header"
_HINTS: Mapping[int, str] = {404: _ADDRESS, 405: _ADDRESS, 406: _HEADERS, 415: _HEADERS}

_CHALLENGE = re.compile(
    r'(error|error_description|scope|resource_metadata)\s*=\s*("[^"]*"|[^\s,]+)'
)
_TOLD = ("error", "scope", "error_description")  # what says something to a person


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP response that was read; `url` is already fit to be shown, header names ignore case."""

    url: str
    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def line(self) -> str:
        return f"HTTP {self.status} {shortened(self.reason)}".rstrip() + f" from {self.url}"

    @property
    def described(self) -> str:
        """Status, type and the first bytes (A4.1)."""
        kind = shortened(self.headers.get("content-type", "")) or "no content type"
        return f"{self.line} ({kind}): {excerpt(self.body) or 'empty body'}"


def outranks_its_body(answer: Answer) -> bool:
    """Does the status say what a JSON-RPC error cannot: log in, or wait this long?

    Anything else that comes with a JSON-RPC error is read as that error (A4.2). These are the word of
    whoever guards the server, must not pass for evidence of an older revision (A1.3) and carry a
    challenge or a time that the body lacks.
    """
    return answer.status in (401, 403, 429) or (
        answer.status == 503 and "retry-after" in answer.headers
    )


def refusal(answer: Answer, error: Message | None, wall: datetime) -> WireError:
    """The exception for a status of 400 and above. `error` is a JSON-RPC error in the body, if any."""
    said = _said(error)
    if answer.status in (401, 403):
        return _unauthorized(answer, said)
    if answer.status in BUSY or answer.status >= 500:
        wait = retry_after(answer.headers, wall)
        # These two say themselves that the request was turned away at the door.
        untouched = answer.status == 429 or (answer.status == 503 and wait is not None)
        return Unreachable(answer.line + said, sent=not untouched, busy=untouched, retry_after=wait)
    return HttpRefused(answer.described, status=answer.status, hint=_HINTS.get(answer.status))


def unusable(answer: Answer) -> ProtocolError:
    """The exception for a success that holds no answer."""
    if answer.status == 202:
        return ProtocolError(
            f"{answer.line}: the server took the request for a notification, so no answer will come"
        )
    return Garbled(f"not an MCP answer: {answer.described}")


def retry_after(headers: Mapping[str, str], wall: datetime) -> float | None:
    """`Retry-After` in seconds from now, both forms; a date counts from the server's own `Date`."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return min(float(value), LONGEST_RETRY_AFTER)
    until = _date(value)
    if until is None:
        return None
    seconds = (until - (_date(headers.get("date", "")) or wall)).total_seconds()
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def _date(value: str) -> datetime | None:
    if not value:
        return None
    from email.utils import parsedate_to_datetime  # 10 ms that few runs need

    try:
        parsed = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _unauthorized(answer: Answer, said: str) -> Unauthorized:
    whole = answer.headers.get("www-authenticate", "")
    found = _CHALLENGE.findall(whole)
    challenge = {name: shortened(value.strip('"'), 1000) for name, value in found}
    told = [f"{name}={challenge[name]}" for name in _TOLD if name in challenge]
    named = ", ".join(told) or shortened(whole)
    text = answer.line + (f" ({named})" if named else "") + said
    return Unauthorized(text, data={"status": answer.status, **challenge})


def _said(error: Message | None) -> str:
    body = error["error"] if error else {}
    return f": {shortened(str(body['message']))}" if body.get("message") else ""
