"""What every modern request carries in `params._meta`, and what follows from it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from mcptask.demo.jsonrpc import (
    META_CAPABILITIES,
    META_VERSION,
    TASKS,
    VERSIONS,
    Json,
    invalid,
    missing_capability,
    unsupported_version,
)

TASKS_CAPABILITY: Json = {"extensions": {TASKS: {}}}
ELICITATION: Json = {"elicitation": {"form": {}}}
SAMPLING: Json = {"sampling": {}}
ROOTS: Json = {"roots": {}}
URL_ELICITATION: Json = {"elicitation": {"url": {}}}


class Request(NamedTuple):
    """A request whose envelope is right. `capabilities` is this request's ClientCapabilities:
    what an earlier request declared does not count."""

    id: str | int
    method: str
    params: Json
    capabilities: Json


def open_envelope(message: Json) -> Request:
    """Raises -32602 for a missing or malformed field of `_meta`, -32022 for another version
    (Basic, "_meta"; Versioning)."""
    params: Json = message.get("params", {})
    meta = params.get("_meta")
    if not isinstance(meta, dict):
        raise invalid("params._meta is missing or not an object")
    version = meta.get(META_VERSION)
    if not isinstance(version, str):
        raise invalid(f"params._meta['{META_VERSION}'] is missing or not a string")
    if version not in VERSIONS:
        raise unsupported_version(version)
    capabilities = meta.get(META_CAPABILITIES)
    if not isinstance(capabilities, dict):
        raise invalid(f"params._meta['{META_CAPABILITIES}'] is missing or not an object")
    return Request(message["id"], message["method"], params, capabilities)


def _child(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def declares_tasks(request: Request) -> bool:
    return isinstance(_child(request.capabilities.get("extensions"), TASKS), dict)


def declares(capabilities: Json, required: Json) -> bool:
    """True if every object of `required` has its like in `capabilities`. `elicitation: {}` means
    form mode (Elicitation, "Capabilities")."""
    if required == ELICITATION and capabilities.get("elicitation") == {}:
        return True
    return all(
        isinstance(capabilities.get(key), dict) and declares(capabilities[key], wanted)
        for key, wanted in required.items()
    )


def demand(request: Request, required: Json) -> None:
    """Raises -32021 unless the request declares the capabilities."""
    if not declares(request.capabilities, required):
        names = capability_names(required)
        raise missing_capability(required, f"Missing required client capability: {names}")


def capability_names(required: Json) -> str:
    """As they are written: `elicitation.url`, `sampling`."""
    return ", ".join(_names(required))


def _names(required: Json, prefix: str = "") -> Iterable[str]:
    for key, value in required.items():
        nested = isinstance(value, dict) and value
        yield from _names(value, f"{prefix}{key}.") if nested else [prefix + key]


def demand_tasks(request: Request) -> None:
    """Raises -32021 unless this very request declares the Tasks extension."""
    demand(request, TASKS_CAPABILITY)


def capability_for(input_request: Json) -> Json:
    """The client capability that this request to the client needs."""
    if _child(input_request.get("params"), "mode") == "url":
        return URL_ELICITATION
    needs = {
        "elicitation/create": ELICITATION,
        "sampling/createMessage": SAMPLING,
        "roots/list": ROOTS,
    }
    return needs[input_request["method"]]
