"""What the errors of the exchange itself mean: those that say nothing about what was asked for. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcptask.errors import RpcError
from mcptask.protocol.generations.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)

Capabilities = Mapping[str, Any]

_HEADER = re.compile(r"\bmcp-[a-z0-9-]+", re.IGNORECASE)
_HEADERS = "MCP-Protocol-Version, Mcp-Method, Mcp-Name or an Mcp-Param-…"


def meaning(error: RpcError, declared: Capabilities) -> str | None:
    """In words, without the server's own; None for an error about what was asked for.

    `declared` are the capabilities that the request declared.
    """
    words = BREACHES.get(error.code)
    return words(error, declared) if words else None


def _headers(error: RpcError, declared: Capabilities) -> str:
    """Its data has no form that the specification gives, so the header is looked for in the message."""
    named = {name.lower(): name for name in _HEADER.findall(error.message[:1000])}
    told = ", ".join(named.values()) or _HEADERS
    return f"something between here and the server rewrites headers ({told})"


def _capabilities(error: RpcError, declared: Capabilities) -> str:
    data = error.data if isinstance(error.data, dict) else {}
    required = list(_names(data.get("requiredCapabilities")))
    if not required:
        return "the server did not see the capabilities that were declared"
    if missing := [name for name in required if name not in set(_names(declared))]:
        return f"the server wants a client with {', '.join(missing)}, which mcptask has not"
    return f"something between here and the server drops what is declared ({', '.join(required)})"


def _names(capabilities: Any) -> Iterator[str]:
    """Those of a capabilities object, each extension under its own name."""
    for name, value in capabilities.items() if isinstance(capabilities, Mapping) else ():
        yield from (value if name == "extensions" and isinstance(value, Mapping) else (name,))


def _plainly(text: str) -> Callable[[RpcError, Capabilities], str]:
    return lambda error, declared: text


# Asking again cannot help with these, and they say nothing about a task.
BREACHES: Mapping[int, Callable[[RpcError, Capabilities], str]] = {
    PARSE_ERROR: _plainly("the server could not read the request"),
    INVALID_REQUEST: _plainly("the server does not take the request for one"),
    HEADER_MISMATCH: _headers,
    MISSING_CAPABILITY: _capabilities,
    UNSUPPORTED_VERSION: _plainly("the server no longer speaks this revision"),
}
