"""Checks the client's answers to input requests, in tasks/update and in tools/call retries."""

from collections.abc import Callable
from typing import Any

from mcptask.demo.jsonrpc import Json
from mcptask.demo.schema import problem


def _elicitation_problem(answer: Json, request: Json) -> str | None:
    action = answer.get("action")
    if action not in ("accept", "decline", "cancel"):
        return "action must be accept, decline or cancel"
    params: Json = request.get("params", {})
    if action != "accept" or params.get("mode") == "url":
        return None
    content = answer.get("content")
    if not isinstance(content, dict):
        return "content is missing or not an object"
    return problem(content, params.get("requestedSchema", {}), "", "field")


def _sampling_problem(answer: Json, _request: Json) -> str | None:
    missing = [key for key in ("role", "content", "model") if key not in answer]
    return f"{', '.join(missing)} missing" if missing else None


def _roots_problem(answer: Json, _request: Json) -> str | None:
    return None if isinstance(answer.get("roots"), list) else "roots is missing or not a list"


CHECKS: dict[str, Callable[[Json, Json], str | None]] = {
    "elicitation/create": _elicitation_problem,
    "sampling/createMessage": _sampling_problem,
    "roots/list": _roots_problem,
}


def answer_problem(key: str, answer: Any, request: Json) -> str | None:
    """What is wrong with the answer to `request`, as a sentence that names the key; or None."""
    if not isinstance(answer, dict):
        return f"inputResponses['{key}'] is not an object"
    found = CHECKS[request["method"]](answer, request)
    return f"inputResponses['{key}']: {found}" if found else None
