"""JSON-RPC messages as every transport sees them: bytes in and out, and which message answers whom.

Pure: no socket, no clock. What a message means is the generations' business; here it only matters
whose it is.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from mcptask.errors import TooLarge, UsageError
from mcptask.protocol.transports.base import MESSAGE_BYTES, Limits, Message, Remark, Request
from mcptask.protocol.transports.excerpts import shortened

# Levels of arrays and objects in one message. Comparing, showing and storing a value takes a call or more
# for each of its levels, so what can just be parsed may still be too deep for everything after that.
DEEPEST = 128
_CONTAINERS = (dict, list)
_TOO_DEEP = f"the server sent a message nested more than {DEEPEST} levels deep"

# A message of a few bytes a value becomes thirty times its size in memory, so its values are counted before
# they are made: there may be one for so many bytes of the largest message. Arrays and objects take the most.
BYTES_A_VALUE, BYTES_A_CONTAINER = 40, 128
FEWEST = 1000  # may there be, however small the largest message is
# A text, for counting what is outside of them. It may lack its end, so that no byte is looked at twice.
_TEXTS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)

# Not JSON, but what Python's own writer makes of such numbers. NaN becomes what JavaScript's makes of it;
# an infinity is read as 1e999 is, which is JSON.
_DECODER = json.JSONDecoder(
    parse_constant={"NaN": None, "Infinity": math.inf, "-Infinity": -math.inf}.__getitem__
)


def dump(message: Message) -> bytes:
    """One line of ASCII JSON without its line end: no U+2028 that a reader could break at (A6.1).

    Raises UsageError where the value has no JSON form (NaN, an infinity, a set).
    """
    try:
        return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as exc:
        raise UsageError(f"the request cannot be written as JSON: {exc}") from exc


def parse(data: bytes, largest: int = MESSAGE_BYTES) -> Any:
    """The JSON value in `data`: UTF-8, a BOM dropped, broken bytes replaced. Raises ValueError.

    So it does for an integer that Python refuses to read (4300 digits). NaN is read as null, an infinity
    as a float (C2). TooLarge for what is nested more than DEEPEST levels deep, and for more values than a
    message of `largest` bytes may have.
    """
    refuse_many_values(data, largest)
    try:
        value = _DECODER.decode(data.decode("utf-8-sig", "replace"))
    except RecursionError as exc:
        raise TooLarge(_TOO_DEEP, hint=None) from exc
    # Most messages hold fewer brackets than that, and need no second look.
    if data.count(b"[") + data.count(b"{") > DEEPEST and too_deep(value):
        raise TooLarge(_TOO_DEEP, hint=None)
    return value


def refuse_many_values(data: bytes, largest: int = MESSAGE_BYTES) -> None:
    """TooLarge where JSON has more values than a message of `largest` bytes may; looks twice only at what is
    suspicious, for a text may be full of commas."""
    shares = {"values": BYTES_A_VALUE, "arrays and objects": BYTES_A_CONTAINER}
    bounds = {kind: max(FEWEST, largest // share) for kind, share in shares.items()}
    if any(count > bounds[kind] for kind, count in _counts(data).items()):
        _refuse_outside_of_texts(data, bounds)


def _refuse_outside_of_texts(data: bytes, bounds: Mapping[str, int]) -> None:
    """Piece by piece and no further than needed: the pieces of a hostile message are many."""
    seen: Counter[str] = Counter()
    ends = chain((found.span() for found in _TEXTS.finditer(data)), [(len(data), 0)])
    at = 0
    for start, end in ends:
        seen.update(_counts(data[at:start]))
        for kind, bound in bounds.items():
            if seen[kind] > bound:
                raise TooLarge(f"the server sent a message of over {bound} {kind}")
        at = end


def _counts(data: bytes) -> dict[str, int]:
    return {
        "values": data.count(b","),
        "arrays and objects": data.count(b"[") + data.count(b"{"),
    }


def rpc_messages(value: Any) -> list[Message]:
    """The JSON-RPC messages in a parsed value; older servers send arrays of them (A15.17)."""
    items = value if isinstance(value, list) else [value]
    return [item for item in items if _is_rpc(item)]


def is_response(message: Message) -> bool:
    return "method" not in message


def is_server_request(message: Message) -> bool:
    """A request *to* us. The id may be 0, so presence counts, not truth (A15.9)."""
    return "method" in message and message.get("id") is not None


def same_id(left: Any, right: Any) -> bool:
    """Ids are compared as text: servers answer "7" to 7 (A5.5)."""
    return _is_id(left) and _is_id(right) and str(left) == str(right)


def answers(message: Message, request: Request) -> bool:
    """Does `message`, met on the request's own stream, end it? An error may come without an id (A5.5)."""
    if not is_response(message):
        return False
    return same_id(message.get("id"), request.id) or is_orphan_error(message)


def is_orphan_error(message: Message) -> bool:
    """An error whose sender did not know which request it answers: id null or missing."""
    return is_response(message) and "error" in message and message.get("id") is None


def error_in(data: bytes) -> Message | None:
    """The JSON-RPC error in a body, whatever its id (A4.2); None where the body is something else."""
    try:
        found = rpc_messages(parse(data))
    except (ValueError, TooLarge):
        return None
    return next((m for m in found if is_response(m) and isinstance(m.get("error"), dict)), None)


class Sieve:
    """Keeps what belongs to one request and remarks on the rest; for a stream that is its own."""

    def __init__(self, request: Request, noise: "Noise") -> None:
        self._request = request
        self._noise = noise

    def own(self, value: Any) -> Iterator[Message]:
        """The messages of `value` to pass on: notifications, and the answer."""
        found = rpc_messages(value)
        if not found:
            self._noise.heard("the server sent something that is no JSON-RPC message: ignored")
        for message in found:
            if is_server_request(message):
                self._noise.server_request(message)
            elif is_response(message) and not answers(message, self._request):
                self._noise.heard("the server sent a response to another request: ignored")
            else:
                yield message


class Noise:
    """Survivable nonsense: told the first time for each kind, then only counted, so no log is flooded."""

    def __init__(self, remark: Remark) -> None:
        self._remark = remark
        self.counts: Counter[str] = Counter()

    def heard(self, kind: str, detail: str = "") -> None:
        self.counts[kind] += 1
        if self.counts[kind] == 1:
            self._remark(f"{kind}: {shortened(detail)}" if detail else kind)

    def server_request(self, message: Message) -> None:
        """Nobody may ask us anything on this wire, and we may not answer (A2.7)."""
        self.heard("the server sent a request of its own, which this revision forbids: ignored")

    def tell_totals(self) -> None:
        for kind, count in self.counts.items():
            if count > 1:
                self._remark(f"{kind} ({count} times in all)")
        self.counts.clear()


def patience(request: Request, limits: Limits) -> float | None:
    """How long this request may meet silence, in seconds; None for ever (A5.8)."""
    wait = limits.first_byte if request.wait is None else request.wait
    return None if math.isinf(wait) else wait


def too_deep(value: Any) -> bool:
    """Is it nested more than DEEPEST levels deep?"""
    level = [value]
    for _ in range(DEEPEST):
        inner = chain.from_iterable(map(_inside, level))
        level = [each for each in inner if isinstance(each, _CONTAINERS)]
    return bool(level)


def _inside(value: Any) -> Iterable[Any]:
    """The items of an array or the values of an object; nothing for what is neither."""
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_rpc(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    return isinstance(value.get("method"), str) or (
        "method" not in value and ("result" in value or "error" in value)
    )


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)
