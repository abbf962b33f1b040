"""The HTTP headers that mirror the body, checked against it (Streamable HTTP, "Request Metadata").

Pure: header values and the decoded body in, nothing or a -32020 that names the header out.
"""

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcptask.demo.jobs import Tools
from mcptask.demo.jsonrpc import (
    HEADER_MISMATCH,
    META_VERSION,
    VERSIONS,
    Json,
    RpcError,
    unsupported_version,
)

# Names in lower case → values as sent.
Headers = Mapping[str, str]

# method → the member of params that Mcp-Name repeats.
NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
SENTINEL = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
LEGAL_VALUE = re.compile(r"[\t\x20-\x7e]*")


def _mismatch(name: str, why: str) -> RpcError:
    return RpcError(HEADER_MISMATCH, f"Header mismatch: {name} {why}", {"header": name})


def _decoded(name: str, value: str) -> str:
    """The value behind the base64 sentinel, or as it is. Raises -32020 for what is neither."""
    if not LEGAL_VALUE.fullmatch(value):
        raise _mismatch(name, "has characters that a header may not have")
    wrapped = SENTINEL.fullmatch(value)
    if not wrapped:
        return value
    try:
        return a2b_base64(wrapped[1].encode(), strict_mode=True).decode()
    except (Base64Error, UnicodeDecodeError) as error:
        raise _mismatch(name, f"is not base64 of UTF-8: {error}") from error


def _present(headers: Headers, name: str) -> str:
    value = headers.get(name.lower())
    if value is None:
        raise _mismatch(name, "is missing")
    return value


def _same_integer(sent: str, value: Any) -> bool:
    """42.0 and 42 are one number; float() alone would take "nan" and "1_0" too, and int() fails
    on thousands of digits."""
    if not re.fullmatch(r"-?[0-9]{1,32}(\.0+)?", sent):
        return False
    return bool(int(sent.partition(".")[0]) == value)


COMPARE: dict[str, Callable[[str, Any], bool]] = {
    "string": lambda sent, value: sent == value,
    "boolean": lambda sent, value: sent == ("true" if value else "false"),
    "integer": _same_integer,
}


def _check_version(headers: Headers, body: Json) -> None:
    if "mcp-protocol-version" not in headers:
        # A legacy client's `initialize` has none, and can learn only here what it has met
        # (Versioning, "Backward Compatibility").
        spoken = ", ".join(VERSIONS)
        raise _mismatch("MCP-Protocol-Version", f"is missing (this server speaks {spoken} only)")
    sent = headers["mcp-protocol-version"]
    meta = body.get("params", {}).get("_meta")
    told = meta.get(META_VERSION) if isinstance(meta, dict) else None
    if isinstance(told, str) and told != sent:
        raise _mismatch("MCP-Protocol-Version", f"says '{sent}', the body '{told}'")
    if sent not in VERSIONS:
        raise unsupported_version(sent)


def _check_method(headers: Headers, body: Json) -> None:
    sent = _present(headers, "Mcp-Method")
    if sent != body["method"]:
        raise _mismatch("Mcp-Method", f"says '{sent}', the body '{body['method']}'")


def _check_name(headers: Headers, body: Json) -> None:
    member = NAMED_BY.get(body["method"])
    value = body.get("params", {}).get(member) if member else None
    if not isinstance(value, str):  # nothing to repeat; the method itself refuses the body
        return
    sent = _decoded("Mcp-Name", _present(headers, "Mcp-Name"))
    if sent != value:
        raise _mismatch("Mcp-Name", f"says '{sent}', the body '{value}'")


def annotated(schema: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(header name, path of the argument) for each `x-mcp-header`, by `properties` alone."""
    for key, member in schema.get("properties", {}).items():
        if "x-mcp-header" in member:
            yield f"Mcp-Param-{member['x-mcp-header']}", (*path, key)
        yield from annotated(member, (*path, key))


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "integer" if isinstance(value, int | float) else "string"


def _check_params(headers: Headers, body: Json, tools: Tools) -> None:
    params: Json = body.get("params", {})
    name = params.get("name")
    if body["method"] != "tools/call" or not isinstance(name, str) or name not in tools:
        return
    for header, path in annotated(tools[name].input_schema):
        value = _at(params.get("arguments"), path)
        if value is None and header.lower() in headers:
            raise _mismatch(header, f"is sent, and the body has no '{'.'.join(path)}'")
        if isinstance(value, str | int | float):
            sent = _decoded(header, _present(headers, header))
            if not COMPARE[_kind(value)](sent, value):
                raise _mismatch(header, f"says '{sent}', the body '{value}'")


def check_headers(headers: Headers, body: Json, tools: Tools) -> None:
    """Raises -32020 where a header is missing, malformed or differs from the body, and -32022 for
    another version: asked first, as its headers may be others."""
    _check_version(headers, body)
    _check_method(headers, body)
    _check_name(headers, body)
    _check_params(headers, body, tools)
