"""What a server may send when it is broken or means harm, and how to cut it into pieces."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from mcptask.protocol.transports.messages import DEEPEST
from tests.protocol.fakes import ID, NAMES, QUESTION, RESULT

T = TypeVar("T")
E = TypeVar("E", bound=Exception)

EFFORT = float(os.environ.get("MCPTASK_FUZZ", "1"))  # see conftest.py

# What is asked of a server's own words in a message of ours, in characters.
LONGEST_MESSAGE = 2000


def tries(count: int) -> settings:
    """How many examples, where nobody asked for more. Big examples are the point: not a health issue."""
    return settings(
        max_examples=max(1, int(count * EFFORT)),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def outcome(kind: type[E] | tuple[type[E], ...], act: Callable[..., T], *given: Any) -> T | E:
    """What the call gives, or what of this kind it raises. Anything else that is raised fails the test."""
    try:
        return act(*given)
    except kind as error:
        return error


# ── values ───────────────────────────────────────────────────────────────────────────────────────


def nested(depth: int, inner: Any = None) -> Any:
    """Arrays and objects in turn, `depth` levels of them."""
    for level in range(depth):
        inner = [inner] if level % 2 else {"task": inner}
    return inner


NUMBERS = [0, -1, 7, True, 2**53, 10**400, -(10**4200), 0.5, -0.0, 1e308, 5e-324]
BEYOND = [math.inf, -math.inf, math.nan]
WORDS = [ID, "", "x", "working", "completed", "failed", "input_required", "task", "complete"]
ODD_TEXTS = ["\ud800", "\udfff\ud800", "\x00", "\x1b[2J", "\u2028", "a\r\nb", "١٢", "x" * 5000]

TEXTS = st.sampled_from([*WORDS, *ODD_TEXTS]) | st.text(st.characters(), max_size=8)
LEAVES = st.none() | st.sampled_from([*NUMBERS, *BEYOND]) | TEXTS
# Half of what a message may hold in all: it stands inside one.
DEEP = st.integers(1, DEEPEST // 2).map(nested)
KEYS = st.sampled_from(NAMES) | TEXTS

VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES | DEEP,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=6)


# ── plausible answers, spoiled ───────────────────────────────────────────────────────────────────

TIMES = {"createdAt": "2026-09-12T09:00:00Z", "lastUpdatedAt": "2026-09-12T09:00:05Z"}
TASK: dict[str, Any] = {
    "resultType": "task",
    "taskId": ID,
    "status": "working",
    "statusMessage": "Reflowing 96 of 142 bookings",
    "ttlMs": 60_000,
    "pollIntervalMs": 500,
    **TIMES,
}
SNAPSHOTS: list[dict[str, Any]] = [
    {**TASK, "resultType": "complete"},
    {**TASK, "resultType": "complete", "status": "completed", "result": RESULT},
    {**TASK, "status": "failed", "error": {"code": -32603, "message": "no room", "data": [1]}},
    {**TASK, "status": "input_required", "inputRequests": {"room": QUESTION, "day": QUESTION}},
    {"taskId": ID, "status": "cancelled", "ttl": 1, "pollInterval": 2.5},
    {"task": {"taskId": ID, "status": "working"}},
]
SCHEMA = {
    "type": "object",
    "properties": {
        "month": {"type": "string", "x-mcp-header": "Month"},
        "room": {"type": "object", "properties": {"no": {"type": "integer", "x-mcp-header": "No"}}},
    },
    "required": ["month"],
    "$defs": {"day": {"enum": [1, 2]}},
}
TOOL = {"name": "reflow_month", "description": "Moves bookings", "inputSchema": SCHEMA}
CALL_ANSWERS: list[dict[str, Any]] = [
    TASK,
    {"resultType": "complete", **RESULT},
    {"resultType": "input_required", "inputRequests": {"room": QUESTION}, "requestState": "s1"},
    {"_meta": {"modelcontextprotocol.io/task": {"taskId": ID}}, "content": []},
    {"task": {"taskId": ID, "status": "working"}},
]
PAGES: list[dict[str, Any]] = [
    {"tools": [TOOL, {"name": "b"}], "nextCursor": "2", "ttlMs": 5000, "cacheScope": "public"},
    {"tools": [TOOL]},
    {"tools": [], "nextCursor": ""},
]
DISCOVERIES: list[dict[str, Any]] = [
    {"supportedVersions": ["2026-07-28"], "capabilities": {"extensions": {}}, "serverInfo": {}},
]
PLAUSIBLE = [*SNAPSHOTS, *CALL_ANSWERS, *PAGES, *DISCOVERIES]

Place = tuple[Any, Any]  # a dictionary or list, and a key or index of it
Spoil = Callable[[Any, Any, Any], None]


def _replace(holder: Any, key: Any, junk: Any) -> None:
    holder[key] = junk


def _remove(holder: Any, key: Any, junk: Any) -> None:
    del holder[key]


def _wrap(holder: Any, key: Any, junk: Any) -> None:
    holder[key] = [holder[key], junk]


def _repeat(holder: Any, key: Any, junk: Any) -> None:
    """The same value again: as another item, or under another name."""
    value = copy.deepcopy(holder[key])
    if isinstance(holder, list):
        holder.append(value)
    else:
        holder[junk if isinstance(junk, str) else "task"] = value


SPOILS: list[Spoil] = [_replace, _remove, _wrap, _repeat]


def _places(value: Any) -> Iterator[Place]:
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in parts:
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)


@st.composite
def spoiled(draw: st.DrawFn, samples: Sequence[Any]) -> Any:
    """One of the samples after a few edits, each of them somewhere in it."""
    value = copy.deepcopy(draw(st.sampled_from(samples)))
    for _ in range(draw(st.integers(0, 4))):
        if not (places := list(_places(value))):
            break
        holder, key = draw(st.sampled_from(places))
        draw(st.sampled_from(SPOILS))(holder, key, draw(VALUES))
    return value


def oddly(samples: Sequence[dict[str, Any]], names: Sequence[str]) -> st.SearchStrategy[Any]:
    """One of the samples where a single field, of these names, holds anything."""
    odd = st.dictionaries(st.sampled_from(names), LEAVES | OBJECTS, min_size=1, max_size=1)
    return st.builds(lambda sample, field: {**sample, **field}, st.sampled_from(samples), odd)


# ── bytes and pieces ─────────────────────────────────────────────────────────────────────────────

CUTS = st.lists(st.integers(0, 1_000_000), max_size=12)


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """The data in pieces, some of them empty."""
    places = [*places, *places[::2]]
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def scraps(*pieces: bytes) -> st.SearchStrategy[bytes]:
    """These pieces in any order, and bytes of any kind between them."""
    return st.lists(st.sampled_from(pieces) | st.binary(max_size=6), max_size=25).map(b"".join)
