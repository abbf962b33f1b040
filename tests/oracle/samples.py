"""Messages as they should be, for the tests that then break them."""

import copy
from collections.abc import Callable
from typing import Any

from tests.oracle.messages import (
    LEGACY,
    META_CAPABILITIES,
    META_CLIENT,
    META_VERSION,
    TASKS,
    VERSION,
)

META = {
    META_VERSION: VERSION,
    META_CLIENT: {"name": "mcptask", "version": "1"},
    META_CAPABILITIES: {"extensions": {TASKS: {}}, "elicitation": {"form": {}, "url": {}}},
}
ANSWERED = {"size": {"action": "accept", "content": {"rooms": 3, "names": ["a"], "sure": True}}}
SAMPLED = {
    "ask": {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "a"}]},
    "where": {"roots": [{"uri": "file:///a"}]},
}
INITIALIZE = {
    "protocolVersion": LEGACY,
    "capabilities": {},
    "clientInfo": {"name": "mcptask", "version": "1"},
}


def request(method: str, **params: Any) -> dict[str, Any]:
    enveloped = {**params, "_meta": META}
    return copy.deepcopy({"jsonrpc": "2.0", "id": 7, "method": method, "params": enveloped})


GOOD: dict[str, dict[str, Any]] = {
    "discover": request("server/discover"),
    "list": request("tools/list", cursor=""),
    "call": request("tools/call", name="t", arguments={"a": {"b": [1, 2.5, None]}}),
    "another round": request(
        "tools/call", name="t", arguments={}, inputResponses=ANSWERED, requestState="s"
    ),
    "get": request("tasks/get", taskId="1"),
    "update": request("tasks/update", taskId="1", inputResponses=ANSWERED),
    "update with a message": request("tasks/update", taskId="1", inputResponses=SAMPLED),
    "cancel": request("tasks/cancel", taskId="1"),
    "listen": request("subscriptions/listen", notifications={"taskIds": ["1", "2"]})
    | {"id": "l-7"},
    "initialize": {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": INITIALIZE},
    "give up": {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 7},
    },
    "unsubscribe": {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": "l-7"},
    },
}


def broken(name: str, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    message = copy.deepcopy(GOOD[name])
    change(message)
    return message


def posted(message: dict[str, Any], **headers: str) -> dict[str, str]:
    """The headers that go with a message, but for those that are given (`mcp_name="x"`)."""
    params = message["params"]
    subject = params.get("taskId", params.get("name"))
    wire = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Mcp-Protocol-Version": VERSION,
        "Mcp-Method": message["method"],
        **({"Mcp-Name": subject} if subject else {}),
    }
    return wire | {name.replace("_", "-").title(): value for name, value in headers.items()}
