"""JSON-RPC: the error codes that mean something to us, and what one response message says.

Codes from -32000 to -32019 carry no meaning between servers (A4.6), so none of them is named here.
"""

from collections.abc import Mapping
from typing import Any

from mcptask.errors import ProtocolError, RpcError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022


def result_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """The result object of a response. Raises `RpcError` for an error, `ProtocolError` for neither.

    Some servers write `"error": null` beside a result: that is no error.
    """
    if message.get("error") is not None:
        raise _error_of(message["error"])
    result = message.get("result")
    if not isinstance(result, dict):
        raise ProtocolError("the answer has neither a result object nor an error")
    return result


def _error_of(error: Any) -> RpcError:
    # A broken error object is still an error: keep what it says rather than judge it.
    if not isinstance(error, dict):
        return RpcError(INTERNAL_ERROR, str(error))
    code = error.get("code")
    usable = isinstance(code, int) and not isinstance(code, bool)
    return RpcError(
        code if usable else INTERNAL_ERROR,  # type: ignore[arg-type]
        str(error.get("message") or "the server gave no reason"),
        data=error.get("data"),
    )
