"""HTTP header values of the modern wire: their encoding, the reserved names, `Mcp-Param-*`. Pure.

Headers always follow from the body; nothing here looks at what a user configured (A3, A7.2).
"""

import base64
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import unquote_to_bytes

from mcptask.errors import UsageError
from mcptask.protocol.transports.excerpts import shortened

S = TypeVar("S")
T = TypeVar("T")

ANNOTATION = "x-mcp-header"
PARAM_PREFIX = "Mcp-Param-"

# Integers beyond this are not the same number in every JSON parser, so none may steer a proxy (A3.6).
MAX_SAFE_INTEGER = 2**53 - 1

# What the wire sets itself. `Authorization` is not here: it belongs to whoever makes the user headers.
RESERVED = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "proxy-authorization",  # from the proxy's variable: never meant for the server
        "origin",  # a server must refuse an origin it does not expect, and we have none
        "transfer-encoding",
    }
)

_PLAIN = re.compile(r"[\x20-\x7e]*")
# Visible ASCII, spaces and tabs: what every client, proxy and server reads alike.
_VALUE = re.compile(r"[\t\x20-\x7e]*")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2
_SENTINEL = ("=?base64?", "?=")
_TYPES = ("integer", "string", "boolean")

# Keywords that hold data, where an `x-mcp-header` is a value like any other …
_DATA_KEYWORDS = frozenset({"const", "default", "enum", "example", "examples"})
# … and those that map names to schemas, where it is the name of something.
_NAME_MAPS = frozenset(
    {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)


def encode(value: str) -> str:
    """A header-safe form of `value`: itself, or Base64 of its UTF-8 between two markers (A3.5).

    Printable ASCII without outer spaces goes as it is, unless it looks like the encoded form.
    """
    if _PLAIN.fullmatch(value) and value == value.strip(" ") and not _looks_encoded(value):
        return value
    # A JSON string may hold half a surrogate pair: it has no UTF-8, and must still not be a crash.
    data = value.encode("utf-8", "surrogatepass")
    return base64.b64encode(data).decode("ascii").join(_SENTINEL)


def reserved(name: str) -> bool:
    """May a user header *not* have this name? The wire derives it from the body (A3.7)."""
    lowered = name.strip().lower()
    return lowered in RESERVED or lowered.startswith(PARAM_PREFIX.lower())


def is_token(name: str) -> bool:
    return _TOKEN.fullmatch(name) is not None


def checked_value(name: str, value: str) -> str:
    """`value` without outer space: a token read from a file ends in a newline.

    Raises UsageError, which does not quote it, where no header can carry it.
    """
    value = value.strip(" \t\r\n")
    if not _VALUE.fullmatch(value):
        raise UsageError(
            f"the value of the header {name} has a line break, a control or a non-ASCII character"
        )
    return value


def basic(user_info: str) -> str:
    """The `Authorization` that the `user:password` of a URL stands for."""
    user, _, password = user_info.partition(":")
    pair = unquote_to_bytes(user) + b":" + unquote_to_bytes(password)
    return "Basic " + base64.b64encode(pair).decode("ascii")


def param_headers(input_schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """`Mcp-Param-*` for every annotated argument that is there and not null (A3.4).

    A value that no header can carry (an object, a fraction) is left out: the server refuses the body
    anyway. Raises UsageError for an integer beyond ±(2^53 - 1) (A3.6). The schema must be one that
    `header_problem` finds no fault with.
    """
    headers = {}
    for path, schema in _annotated(input_schema):
        text = _text(path, _lookup(arguments, path), schema.get("type"))
        if text is not None:
            headers[PARAM_PREFIX + str(schema[ANNOTATION])] = encode(text)
    return headers


def header_problem(input_schema: Mapping[str, Any]) -> str | None:
    """Why the tool must be left out (A7.2), or None where its annotations are sound or absent."""
    proper = {id(schema) for _, schema in _annotated(input_schema)}
    seen: set[str] = set()
    for path, schema in _holders(input_schema):
        fault = (
            _fault(schema, seen) if id(schema) in proper else "is not reached by properties only"
        )
        if fault is not None:
            where = "".join(f"/{step}" for step in path) or "the root"
            return f"{ANNOTATION} at {shortened(where)} {fault}"
        seen.add(schema[ANNOTATION].lower())
    return None


def _fault(schema: Mapping[str, Any], seen: set[str]) -> str | None:
    name, kind = schema[ANNOTATION], schema.get("type")
    if not isinstance(name, str) or not is_token(name):
        return f"is no header name: {shortened(repr(name))}"
    if kind not in _TYPES:
        return f"needs the type integer, string or boolean, not {shortened(repr(kind))}"
    return f"repeats the name {shortened(repr(name))}" if name.lower() in seen else None


def _annotated(schema: Mapping[str, Any]) -> Iterator[tuple[list[str], Mapping[str, Any]]]:
    """Path and schema of each annotated property."""
    for path, current in _walk(schema, _properties):
        if path and ANNOTATION in current:
            yield path, current


def _properties(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        yield from ((name, each) for name, each in properties.items() if isinstance(each, dict))


def _holders(
    schema: Mapping[str, Any],
) -> Iterator[tuple[list[str | int], Mapping[str, Any]]]:
    """Path and value of each subschema that carries the annotation, wherever it is."""
    for path, (value, names) in _walk((schema, False), _parts):
        if isinstance(value, dict) and not names and ANNOTATION in value:
            yield path, value


def _parts(node: tuple[Any, bool]) -> Iterator[tuple[str | int, tuple[Any, bool]]]:
    """What is inside a value, and whether that maps names to schemas."""
    value, names = node
    if isinstance(value, list):
        yield from ((index, (item, False)) for index, item in enumerate(value))
    elif isinstance(value, dict):
        for key, item in value.items():
            if names or key not in _DATA_KEYWORDS:
                yield key, (item, not names and key in _NAME_MAPS)


def _walk(root: T, inside: Callable[[T], Iterator[tuple[S, T]]]) -> Iterator[tuple[list[S], T]]:
    """The root and all that is inside, each with its path: one list for all, good until the next step.

    No recursion, and nothing kept but the way down: depth, width and the length of names are the
    server's choice, and would multiply.
    """
    path: list[S] = []
    yield path, root
    under = [inside(root)]
    while under:
        found = next(under[-1], None)
        if found is None:
            under.pop()
            if path:
                path.pop()
            continue
        step, each = found
        path.append(step)
        yield path, each
        under.append(inside(each))


def _lookup(arguments: Mapping[str, Any], path: Sequence[str]) -> Any:
    value: Any = arguments
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _text(path: Sequence[str], value: Any, kind: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and kind == "integer" and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        if abs(value) > MAX_SAFE_INTEGER:
            raise UsageError(
                f"{shortened('.'.join(path))}: the server wants this integer in a header, "
                f"where it must lie within ±{MAX_SAFE_INTEGER}"
            )
        return str(value)
    return value if isinstance(value, str) else None


def _looks_encoded(value: str) -> bool:
    return value.startswith(_SENTINEL[0]) and value.endswith(_SENTINEL[1])
