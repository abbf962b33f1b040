"""JSON-RPC 2.0 as MCP 2026-07-28 narrows it: shapes, codes, and the one error that is raised here.

Nothing in this module knows about tasks, transports or the store.
"""

import json
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

VERSIONS = ("2026-07-28",)
TASKS = "io.modelcontextprotocol/tasks"
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


class RpcError(Exception):
    """What a peer did wrong (or, with -32603, what we did), as JSON-RPC tells it."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


def invalid(message: str) -> RpcError:
    return RpcError(INVALID_PARAMS, message)


def missing_capability(required: Json, why: str) -> RpcError:
    """-32021 with `data.requiredCapabilities` in the shape of ClientCapabilities."""
    return RpcError(MISSING_CAPABILITY, why, {"requiredCapabilities": required})


def unsupported_version(requested: object) -> RpcError:
    """-32022 (Versioning, "Protocol Version Negotiation")."""
    data = {"supported": list(VERSIONS), "requested": requested}
    return RpcError(
        UNSUPPORTED_VERSION, f"Unsupported protocol version; supported: {', '.join(VERSIONS)}", data
    )


def error_body(error: RpcError) -> Json:
    body: Json = {"code": error.code, "message": error.message}
    return body if error.data is None else body | {"data": error.data}


def error_response(request_id: object, error: RpcError) -> Json:
    """With no `id` at all where there is none to answer under: a null is no id here."""
    answered = {} if request_id is None else {"id": request_id}
    return {"jsonrpc": "2.0", **answered, "error": error_body(error)}


def result_response(request_id: object, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def notification(method: str, params: Json) -> Json:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def encode(message: Json) -> bytes:
    """One message as UTF-8 JSON without a newline in it: fit for a stdio line and an SSE field."""
    # surrogates cannot be UTF-8; ASCII escapes carry whatever a client sent back to it.
    return json.dumps(message, separators=(",", ":")).encode()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def decode(raw: bytes) -> Any:
    """The JSON value in `raw`. Raises RpcError -32700."""
    try:
        return json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"Not JSON: {error}") from error


def readable_id(message: object) -> object:
    """The id to answer under, or None where the message has none that is legal."""
    request_id = message.get("id") if isinstance(message, dict) else None
    legal = isinstance(request_id, str | int) and not isinstance(request_id, bool)
    return request_id if legal else None


def is_response(message: object) -> bool:
    return isinstance(message, dict) and "method" not in message and _any_of(message)


def _any_of(message: Iterable[str]) -> bool:
    return "result" in message or "error" in message


def check_shape(message: object) -> Json:
    """A request or a notification (one without `id`). Raises RpcError -32600."""
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "A message is one JSON object; there are no batches")
    if message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'jsonrpc must be "2.0"')
    if not isinstance(message.get("method"), str):
        raise RpcError(INVALID_REQUEST, "method must be a string")
    if "id" in message and readable_id(message) is None:
        raise RpcError(INVALID_REQUEST, "id must be a string or an integer")
    if not isinstance(message.get("params", {}), dict):
        raise RpcError(INVALID_REQUEST, "params must be an object")
    return message
