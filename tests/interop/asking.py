"""What the tests of questions share: what was asked, what was sent, and what the tool made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.interop.conftest import Run

Answered = Callable[[], list[dict[str, Any]]]  # the answers of each update that went out


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def told(run: Run) -> Any:
    """What the tool was told, which is all that its result says."""
    assert run.rc == 0, run
    return run.json["result"]["structuredContent"]


def each_once(sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The responses, by the order of their updates: none is empty, and no key was answered twice."""
    assert all(sent), "an update without an answer"
    keys = [key for update in sent for key in update]
    assert len(keys) == len(set(keys)), sent
    return [response for update in sent for response in update.values()]


def asked(run: Run) -> dict[str, Any]:
    """The questions that were left: their messages, else their methods."""
    assert run.rc == 3, run
    requests = run.json["error"]["data"]["inputRequests"]
    return {
        each.get("params", {}).get("message") or each["method"]: key
        for key, each in requests.items()
    }
