"""The headers of one POST held against its body, with a decoder of the test's own (A3).

Over HTTP a server, or a proxy in front of it, may go by the headers alone: what they say must be what the
body says.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.oracle.messages import META_VERSION, Json

Headers = Mapping[str, str]

# Which member of `params` a request's `Mcp-Name` repeats (A3.3).
SUBJECTS = {
    "tools/call": "name",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
MODERN = ("mcp-protocol-version", "mcp-method", "mcp-name")
# Of older revisions, or of browsers: on no request of this wire (A3.7, A3.8).
FORBIDDEN = ("mcp-session-id", "last-event-id", "origin")
TYPES = {"application/json", "text/event-stream"}
ENCODED = re.compile(r"=\?base64\?(?P<data>[A-Za-z0-9+/]*={0,2})\?=")
TEXT = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?|")


def violations(headers: Headers, message: Json) -> Iterator[str]:
    """`headers` as they were sent, names in any case."""
    lowered = {name.lower(): value for name, value in headers.items()}
    if len(lowered) != len(headers):
        yield "a header is there twice"
    yield from _media_types(lowered)
    yield from (f"{name} is not for this wire" for name in FORBIDDEN if name in lowered)
    if message["method"] == "initialize":
        modern = [n for n in lowered if n in MODERN or n.startswith("mcp-param-")]
        yield from (f"{name} is not for the older wire" for name in modern)
    else:
        yield from wire_violations(lowered, message)


def wire_violations(headers: Headers, message: Json) -> Iterator[str]:
    """Only those that the wire itself derives from the body; names in any case."""
    lowered = {name.lower(): value for name, value in headers.items()}
    params = message["params"]
    subject = SUBJECTS.get(message["method"])
    said = {
        "mcp-protocol-version": params["_meta"][META_VERSION],
        "mcp-method": message["method"],
        "mcp-name": params[subject] if subject else None,
    }
    for name, expected in said.items():
        value = lowered.get(name)
        if decoded(value) != expected:
            yield f"{name} is {value!r}, where the body has {expected!r}"
    leaves = set(_leaves(params.get("arguments", {})))
    for name, value in lowered.items():
        if name.startswith("mcp-param-") and decoded(value) not in leaves:
            yield f"{name} is {value!r}, which no argument is"


def decoded(value: str | None) -> str | None:
    """The text that a header's value stands for; None for no header, ValueError for no legal one (A3.5)."""
    if value is None:
        return None
    if not TEXT.fullmatch(value):
        raise ValueError(f"{value!r} may not stand in a header")
    if not (encoded := ENCODED.fullmatch(value)):
        return value
    # A JSON string may hold half of a surrogate pair, which has no strict UTF-8.
    return base64.b64decode(encoded["data"], validate=True).decode("utf-8", "surrogatepass")


def _media_types(headers: Headers) -> Iterator[str]:
    if headers.get("content-type") != "application/json":
        yield f"content-type is {headers.get('content-type')!r}"
    accepted = {part.partition(";")[0].strip() for part in headers.get("accept", "").split(",")}
    if not accepted >= TYPES:
        yield f"accept names {sorted(accepted)}, and has to name both types"


def _leaves(value: Any) -> Iterator[str]:
    """The text of each plain value of the arguments, as a header would have it."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, float) and value.is_integer():
        yield str(int(value))
    elif value is not None:
        yield json.dumps(value)
