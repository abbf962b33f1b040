"""What the errors of the exchange itself mean: those that say nothing about what was asked for. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from mcptask.errors import RpcError
from mcptask.protocol.generations.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
)


class Declared(NamedTuple):
    """The capabilities that a request declared; and of others, what would make us serve them."""

    capabilities: Mapping[str, Any]
    offers: Mapping[str, str]


_HEADER = re.compile(r"\bmcp-[a-z0-9-]+", re.IGNORECASE)
_LONGEST_QUOTE = 500  # characters
_HEADERS = "MCP-Protocol-Version, Mcp-Method, Mcp-Name or an Mcp-Param-…"


def meaning(error: RpcError, declared: Declared) -> str | None:
    """In words, without the server's own; None for an error about what was asked for."""
    words = BREACHES.get(error.code)
    return words(error, declared) if words else None


def quoted(message: str) -> str:
    """What a server says, as part of what we say."""
    return message if len(message) <= _LONGEST_QUOTE else f"{message[:_LONGEST_QUOTE]}…"


def _headers(error: RpcError, declared: Declared) -> str:
    """Its data has no form that the specification gives, so the header is looked for in the message."""
    named = {name.lower(): name for name in _HEADER.findall(error.message[:1000])}
    told = ", ".join(named.values()) or _HEADERS
    return f"something between here and the server rewrites headers ({told})"


def _capabilities(error: RpcError, declared: Declared) -> str:
    data = error.data if isinstance(error.data, dict) else {}
    required = list(_names(data.get("requiredCapabilities")))
    if not required:
        return "the server did not see the capabilities that were declared"
    missing = [name for name in required if name not in set(_names(declared.capabilities))]
    if not missing:
        dropped = ", ".join(required)
        return f"something between here and the server drops what is declared ({dropped})"
    wants = f"the server wants a client with {', '.join(missing)}"
    if lacking := [name for name in missing if name not in declared.offers]:
        return f"the server wants a client with {', '.join(lacking)}, which mcptask has not"
    return f"{wants}: {' and '.join(declared.offers[name] for name in missing)} would serve that"


def _names(capabilities: Any) -> Iterator[str]:
    """Those of a capabilities object and of their parts (`sampling.tools`), each extension under its own."""
    for name, value in capabilities.items() if isinstance(capabilities, Mapping) else ():
        parts = value if isinstance(value, Mapping) else {}
        if name == "extensions":
            yield from parts
        else:
            yield from (name, *(f"{name}.{part}" for part in parts))


def _plainly(text: str) -> Callable[[RpcError, Declared], str]:
    return lambda error, declared: text


# Asking again cannot help with these, and they say nothing about a task.
BREACHES: Mapping[int, Callable[[RpcError, Declared], str]] = {
    PARSE_ERROR: _plainly("the server could not read the request"),
    INVALID_REQUEST: _plainly("the server does not take the request for one"),
    HEADER_MISMATCH: _headers,
    MISSING_CAPABILITY: _capabilities,
    UNSUPPORTED_VERSION: _plainly("the server no longer speaks this revision"),
}
