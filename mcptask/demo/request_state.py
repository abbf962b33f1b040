"""requestState of multi round-trip requests: sealed, so that a client can only hand it back.

The seal covers the tool, its arguments and an expiry (Multi Round-Trip Requests, "Server
Requirements"): a state does not work for another call, and not for ever.
"""

import json
from typing import Any

from mcptask.demo.jsonrpc import Json, invalid

STATE_TTL_S = 15 * 60


def _seal(secret: bytes, text: str) -> str:
    import hmac

    return hmac.new(secret, text.encode(), "sha256").hexdigest()


def seal(secret: bytes, call: Any, state: Json, now: float) -> str:
    """`call` is any JSON value that tells this call from others (name and arguments)."""
    body = json.dumps({"call": call, "state": state, "until": now + STATE_TTL_S}, sort_keys=True)
    return f"{_seal(secret, body)}.{body.encode().hex()}"


def unseal(secret: bytes, call: Any, sealed: object, now: float) -> Json:
    """The state again. Raises -32602 for one that is not ours, of another call, or too old."""
    import hmac

    signature, _, packed = sealed.partition(".") if isinstance(sealed, str) else ("", "", "")
    try:
        body = bytes.fromhex(packed).decode()
    except ValueError:
        body = ""
    expected = _seal(secret, body)
    if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "replace")):
        raise invalid("requestState was not made by this server")
    content = json.loads(body)
    if json.dumps(content["call"], sort_keys=True) != json.dumps(call, sort_keys=True):
        raise invalid("requestState belongs to another call")
    if content["until"] < now:
        raise invalid("requestState has expired; make the call again")
    state: Json = content["state"]
    return state
