"""What fits a request as its whole answer, and what must not leave the machine."""

from typing import Any

import pytest

from mcptask.arguments.whole_responses import response_problem

SCHEMA = {
    "type": "object",
    "properties": {"room": {"type": "string", "minLength": 2}, "note": {"type": "string"}},
    "required": ["room"],
}
SAMPLING = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}}
ROOTS = {"method": "roots/list"}
TEXT = {"type": "text", "text": "hello"}
SAMPLED = {"role": "assistant", "content": TEXT, "model": "m"}


def elicitation(**params: Any) -> dict[str, Any]:
    return {"method": "elicitation/create", "params": {"message": "?", **params}}


FORM = elicitation(requestedSchema=SCHEMA)
URL = elicitation(mode="url", url="https://example.com/login", elicitationId="1")
BAD_URL = elicitation(mode="url", url="javascript:alert(1)")
UNUSABLE = elicitation(
    requestedSchema={"type": "object", "properties": {"a": {"type": "string", "pattern": "("}}}
)

FITTING = [
    (FORM, {"action": "accept", "content": {"room": "b1"}}),
    (FORM, {"action": "decline"}),
    (FORM, {"action": "cancel", "_meta": {"x": 1}}),
    (URL, {"action": "accept"}),
    (BAD_URL, {"action": "decline"}),
    (SAMPLING, SAMPLED),
    (SAMPLING, {**SAMPLED, "role": "user", "stopReason": "maxTokens"}),
    (SAMPLING, {**SAMPLED, "content": [TEXT, {"type": "tool_use", "id": "1"}]}),
    (SAMPLING, {**SAMPLED, "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"}}),
    (ROOTS, {"roots": []}),
    (ROOTS, {"roots": [{"uri": "file:///srv", "name": "srv"}, {"uri": "file:///a"}]}),
    ({"method": "weather/now"}, {"anything": [1]}),
    (elicitation(mode="voice"), {"said": "yes"}),
]
BAD_FORM = [
    ({}, "action must be accept, decline or cancel"),
    ({"action": ["accept"]}, "action must be"),
    ({"action": "accept"}, "accept needs a content"),
    ({"action": "accept", "content": [1]}, "accept needs a content"),
    ({"action": "accept", "content": {}}, "room"),
    ({"action": "accept", "content": {"room": "b"}}, "room: needs at least 2 characters"),
    ({"action": "accept", "content": {"room": "b1", "not": ""}}, "has no field 'not'"),
    ({"action": "decline", "content": {"room": "b1"}}, "decline has no content"),
]
BAD_SAMPLING = [
    ({"role": "system"}, "role must be user or assistant"),
    ({"role": ["user"]}, "role must be user or assistant"),
    ({"content": "hello"}, "content must be a block"),
    ({"content": []}, "content must not be empty"),
    ({"content": [TEXT, {"text": "untyped"}]}, "content must be a block"),
    ({"content": {"type": "text"}}, "content must be a block"),
    ({"content": {"type": "audio", "data": "aGk="}}, "content must be a block"),
    ({"content": {"type": "image", "mimeType": "image/png"}}, "content must be a block"),
    ({"model": None}, "model must be a text"),
    ({"stopReason": 1}, "stopReason must be a text"),
]
BAD_ROOTS: list[dict[str, Any]] = [
    {},
    {"roots": {}},
    {"roots": ["file:///srv"]},
    {"roots": [{"uri": "https://example.com"}]},
    {"roots": [{"uri": 1}]},
    {"roots": [{"uri": "file:///srv", "name": 1}]},
]
UNFIT: list[tuple[Any, dict[str, Any], str]] = [
    *((FORM, response, why) for response, why in BAD_FORM),
    *((SAMPLING, {**SAMPLED, **more}, why) for more, why in BAD_SAMPLING),
    *((ROOTS, response, "roots must be a list") for response in BAD_ROOTS),
    (URL, {"action": "accept", "content": {}}, "accept has no content where a URL is asked for"),
    (BAD_URL, {"action": "accept"}, "only http and https are opened, not javascript"),
    (UNUSABLE, {"action": "accept", "content": {"a": "x"}}, "no regular expression"),
]


@pytest.mark.parametrize(("request_", "response"), FITTING)
def test_what_fits_is_let_through_a12_12_a12_13_a12_14(request_: Any, response: Any) -> None:
    assert response_problem(request_, response) is None


@pytest.mark.parametrize(("request_", "response", "why"), UNFIT)
def test_what_does_not_fit_is_told_in_words_a12_12_a12_13_a12_14(
    request_: Any, response: Any, why: str
) -> None:
    assert why in (response_problem(request_, response) or "")
