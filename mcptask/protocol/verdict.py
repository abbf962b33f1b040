"""What the outcome of a probe says of a server's generation (A1.3). Pure: values in, a verdict out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from mcptask.errors import (
    Garbled,
    HttpRefused,
    ProtocolError,
    RpcError,
    Unauthorized,
    Unreachable,
    WireError,
)
from mcptask.protocol.generations.base import Discovered
from mcptask.protocol.generations.jsonrpc import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    UNSUPPORTED_VERSION,
)

NEWEST_OLDER = "2025-11-25"

_REVISION = re.compile(r"\d{4}-\d{2}-\d{2}")


class Era(StrEnum):
    """The verdicts."""

    MODERN = "modern"  # it answered in our revision
    LISTED = "listed"  # it refused, and lists our revision all the same: ask once more
    REFUSED = "refused"  # it knows this wire, and something else is wrong
    OTHER = "other"  # it lists revisions, and ours is not among them
    OLDER = "older"  # it sounds older: `initialize` tells which revision
    UNKNOWN = "unknown"  # this says nothing


class Verdict(NamedTuple):
    """`versions`: what the server lists, where it does."""

    era: Era
    versions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a server speaks, and `why` that is known: a clause about "it". `silent`: it let a probe over
    stdio go unanswered."""

    version: str
    why: str
    older: bool = False
    silent: bool = False


# One row for each way not to answer the question: what it says over HTTP, and over stdio. The first that
# fits counts. `HttpRefused` and `RpcError` have tables of their own.
_FAULTS: tuple[tuple[type[WireError], tuple[Era, Era]], ...] = (
    (Unauthorized, (Era.UNKNOWN, Era.UNKNOWN)),
    # Busy, slow or out of reach; over stdio silence, or a process that ends on what it does not know.
    (Unreachable, (Era.UNKNOWN, Era.OLDER)),
    (Garbled, (Era.UNKNOWN, Era.UNKNOWN)),  # the page of a proxy
    (ProtocolError, (Era.OLDER, Era.OLDER)),  # an answer, but to another question
    (WireError, (Era.UNKNOWN, Era.UNKNOWN)),
)
_STATUSES: Mapping[int, Era] = dict.fromkeys((400, 404, 405), Era.OLDER)

# The codes with a meaning of their own here. Any other code is an older server's (A1.3, A4.6).
_CODES: Mapping[int, Era] = {
    HEADER_MISMATCH: Era.REFUSED,
    MISSING_CAPABILITY: Era.REFUSED,
}

# How a server took a probe that it did not answer as a modern one does: what stands before its name.
_TAKEN: tuple[tuple[type[WireError], str], ...] = (
    (RpcError, "refused"),
    (HttpRefused, "refused"),
    (Unreachable, "did not answer"),
    (WireError, "did not understand"),
)

# With these a modern server refuses every day: no reason to doubt one that was modern before (A1.5).
_EVERYDAY = frozenset({INVALID_PARAMS, INTERNAL_ERROR})


def judge(outcome: Discovered | WireError, version: str, *, stdio: bool) -> Verdict:
    """The verdict on the outcome of `server/discover`, sent in `version`."""
    match outcome:
        case Discovered(versions=versions):
            return _of_list(versions, version, Era.MODERN)
        case RpcError():
            return _of_refusal(outcome, version)
        case HttpRefused():
            return Verdict(_STATUSES.get(outcome.status, Era.UNKNOWN))
    http, over_stdio = next(eras for kind, eras in _FAULTS if isinstance(outcome, kind))
    return Verdict(over_stdio if stdio else http)


def is_doubtful(error: WireError, *, remembered: bool) -> bool:
    """Is this refusal of another request than a probe a reason to ask what the server speaks?

    `remembered`: it spoke our revision the last time, so that it takes more (A1.5).
    """
    if isinstance(error, HttpRefused):
        return error.status in _STATUSES
    if not isinstance(error, RpcError) or error.code in _CODES:
        return False
    return not (remembered and error.code in _EVERYDAY)


def how_taken(error: WireError) -> str:
    return next(words for kind, words in _TAKEN if isinstance(error, kind))


def listed_in(error: RpcError) -> tuple[str, ...]:
    """The versions that a refusal names; () where it names none."""
    named = error.data.get("supported") if isinstance(error.data, dict) else None
    return tuple(v for v in named if isinstance(v, str)) if isinstance(named, list) else ()


def is_older(version: str) -> bool:
    return _REVISION.fullmatch(version) is not None and version <= NEWEST_OLDER


def _of_refusal(error: RpcError, version: str) -> Verdict:
    """By the code; by the shape of its data where an earlier draft's code means nothing here (A4.6)."""
    if error.code in _CODES:
        return Verdict(_CODES[error.code])
    versions = listed_in(error)
    if error.code == UNSUPPORTED_VERSION or any(map(_REVISION.fullmatch, versions)):
        return _of_list(versions, version, Era.LISTED) if versions else Verdict(Era.OLDER)
    required = error.data.get("requiredCapabilities") if isinstance(error.data, dict) else None
    return Verdict(Era.REFUSED if isinstance(required, dict) else Era.OLDER)


def _of_list(versions: tuple[str, ...], version: str, ours: Era) -> Verdict:
    return Verdict(ours if version in versions else Era.OTHER, versions)
