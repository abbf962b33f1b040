from typing import Any

import pytest

from mcptask.arguments.responses import responses_to
from mcptask.errors import UsageError


def form(properties: dict[str, Any], *required: str, message: str = "What now?") -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": schema},
    }


ACTIONS = {"type": "string", "enum": ["waitlist", "refund", "keep"]}
TITLED = {
    "type": "string",
    "oneOf": [
        {"const": "a", "title": "On hold"},
        {"const": "b", "title": "Refund"},
        {"const": "c", "title": "refund"},
        {"const": "Keep", "title": "b"},
    ],
}
SEVERAL = {
    "type": "array",
    "minItems": 1,
    "maxItems": 2,
    "items": {"anyOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]},
}
APPROVE = form({"action": ACTIONS, "note": {"type": "string", "maxLength": 5}}, "action")
URL = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://x.example/"}}
SAMPLING = {"method": "sampling/createMessage", "params": {}}


def line_to_type(key: str, request: Any, open_keys: int) -> str:
    return f"the line for {key}, one of {open_keys}"


def answer(
    requests: dict[str, Any],
    *fields: str,
    key: str | None = None,
    action: str = "accept",
    raw: str | None = None,
) -> dict[str, dict[str, Any]]:
    return responses_to(
        requests,
        list(fields),
        key,
        action,
        raw,
        read_file=lambda path: "text of " + path,
        read_stdin=lambda: '{"approve": {"action": "cancel"}}',
        answer_line=line_to_type,
    )


def content(properties: dict[str, Any], *fields: str, required: tuple[str, ...] = ()) -> Any:
    response = answer({"q": form(properties, *required)}, *fields)["q"]
    assert response["action"] == "accept"
    return response["content"]


def refusal(*args: Any, **more: Any) -> UsageError:
    with pytest.raises(UsageError) as refused:
        answer(*args, **more)
    return refused.value


def test_the_only_question_needs_no_key() -> None:
    expected = {"approve": {"action": "accept", "content": {"action": "refund"}}}
    assert answer({"approve": APPROVE}, "action=refund") == expected
    assert answer({"approve": APPROVE}, "action=refund", key="approve") == expected


def test_several_questions_need_a_key_and_are_listed_with_their_messages() -> None:
    error = refusal({"approve": APPROVE, "pay": form({}, message="Pay\nnow?")}, "action=keep")
    assert "approve (What now?); pay (Pay now?)" in error.message
    assert error.hint == "the line for approve, one of 2"


def test_a_key_that_is_not_open_is_refused_with_the_nearest() -> None:
    error = refusal({"approve": APPROVE}, key="aprove")
    assert "open: approve" in error.message
    assert "'approve'" in (error.hint or "")


def test_nothing_asked_is_said() -> None:
    assert "asks nothing" in refusal({}, "a=b").message


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_refusal_has_no_content(action: str) -> None:
    assert answer({"approve": APPROVE}, action=action) == {"approve": {"action": action}}
    assert "no fields" in refusal({"approve": APPROVE}, "action=keep", action=action).message


def test_a_url_is_accepted_without_content() -> None:
    assert answer({"login": URL}) == {"login": {"action": "accept"}}
    assert "no fields" in refusal({"login": URL}, "a=b").message


def test_what_is_no_web_address_can_be_refused_only_a12_13() -> None:
    script = {
        "method": "elicitation/create",
        "params": {"mode": "url", "url": "javascript:alert(1)"},
    }
    assert "only http and https" in refusal({"login": script}).message
    assert answer({"login": script}, action="decline") == {"login": {"action": "decline"}}


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_other_requests_are_answered_by_responses_only(action: str) -> None:
    error = refusal({"s": SAMPLING}, action=action)
    assert "sampling/createMessage" in error.message
    assert error.hint == "the line for s, one of 1"


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "01234", "01234"),
        ({"type": "integer"}, "3", 3),
        ({"type": "number", "maximum": 3.5}, "3.5", 3.5),
        ({"type": "boolean"}, "no", False),
        ({"type": "boolean"}, "false", False),
        ({"type": "string", "format": "email"}, "a@b.example", "a@b.example"),
        ({"type": "string", "format": "uri"}, "https://b.example/x", "https://b.example/x"),
        ({"type": "string", "format": "uri"}, "mailto:a@b.example", "mailto:a@b.example"),
        ({"type": "string", "format": "date"}, "2028-02-29", "2028-02-29"),
        ({"type": "string", "format": "date-time"}, "2026-09-30T14:00:00Z", "2026-09-30T14:00:00Z"),
        (ACTIONS, "keep", "keep"),
        (TITLED, "a", "a"),
        (TITLED, "on HOLD", "a"),
        (TITLED, "Refund", "b"),
        (TITLED, "refund", "c"),
        (TITLED, "b", "b"),
        ({"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"]}, "why", "y"),
        ({"type": "string", "enum": ["x", "y"], "enumNames": ["Ex"]}, "y", "y"),
        (SEVERAL, "Red", ["r"]),
        (SEVERAL, '["r", "g"]', ["r", "g"]),
    ],
)
def test_a_field_takes_the_type_and_the_value_of_its_form(
    schema: Any, text: str, value: Any
) -> None:
    got = content({"f": schema}, f"f={text}")
    assert got == {"f": value}
    assert type(got["f"]) is type(value)


@pytest.mark.parametrize(
    ("schema", "text", "says"),
    [
        ({"type": "integer"}, "2o", "expected an integer"),
        ({"type": "integer"}, "3.0", "expected an integer"),
        ({"type": "integer", "minimum": 4}, "3", "must be at least 4"),
        ({"type": "number", "maximum": 3}, "3.1", "must be at most 3"),
        ({"type": "boolean"}, "maybe", "expected true or false"),
        ({"type": "string", "minLength": 2}, "x", "at least 2 characters"),
        ({"type": "string", "maxLength": 2}, "xyz", "at most 2 characters"),
        ({"type": "string", "format": "email"}, "a b@c", "an e-mail address"),
        ({"type": "string", "format": "uri"}, "no scheme", "a URI"),
        ({"type": "string", "format": "uri"}, "http://[x", "a URI"),
        ({"type": "string", "format": "date"}, "2027-02-29", "a date"),
        ({"type": "string", "format": "date"}, "20270228", "a date"),
        ({"type": "string", "format": "date-time"}, "2026-09-30T14:00:00", "a date and time"),
        ({"type": "string", "format": "date-time"}, "2026-09-30T25:00:00Z", "a date and time"),
        (ACTIONS, "kep", "one of waitlist, refund, keep"),
        (TITLED, "REFUND", "title of several choices: b, c"),
        (SEVERAL, "r,g", "one of r, g"),
        (SEVERAL, "[]", "at least 1 of them"),
        (SEVERAL, '["r","g","r"]', "at most 2 of them"),
        (SEVERAL, '["Red"]', "one of r, g"),
    ],
)
def test_a_value_that_the_form_does_not_allow_is_refused_with_the_line_to_type(
    schema: Any, text: str, says: str
) -> None:
    error = refusal({"q": form({"f": schema})}, f"f={text}")
    assert says in error.message
    assert "the line for q, one of 1" in (error.hint or "")


def test_several_choices_are_given_by_repetition() -> None:
    assert content({"f": SEVERAL}, "f=Green", "f=r") == {"f": ["g", "r"]}


def test_defaults_fill_what_is_not_given_and_false_and_zero_count() -> None:
    properties = {
        "no": {"type": "boolean", "default": False},
        "zero": {"type": "integer", "default": 0},
        "mode": {**ACTIONS, "default": "elsewhere"},
        "null": {"type": "string", "default": None},
        "text": {"type": "string", "default": "x"},
        "bad": True,
    }
    assert content(properties) == {"no": False, "zero": 0, "text": "x"}
    assert content(properties, "text=y", "zero=") == {"no": False, "text": "y"}


def test_a_default_is_held_to_what_its_schema_refers_to() -> None:
    fields = {"a": {"$ref": "#/$defs/Small"}, "b": {"$ref": "#/$defs/Small"}}
    question = form({name: {**each, "default": n} for n, (name, each) in enumerate(fields.items())})
    question["params"]["requestedSchema"]["$defs"] = {"Small": {"maximum": 0}}
    assert answer({"q": question})["q"]["content"] == {"a": 0}


def test_a_required_field_without_a_usable_default_is_asked_for() -> None:
    error = refusal({"q": form({"mode": {**ACTIONS, "default": "elsewhere"}}, "mode")})
    assert error.message == "q needs mode (one of waitlist, refund, keep)"
    assert error.hint == "the line for q, one of 1"


def test_an_optional_field_left_empty_is_left_out() -> None:
    assert content({"n": {"type": "integer"}, "s": {"type": "string"}}, "n=", "s=") == {}
    assert content({"n": {"type": "integer"}}, "n:=null") == {}
    assert content({"s": {"type": "string"}}, "s=", required=("s",)) == {"s": ""}


def test_an_unknown_field_is_refused_with_the_nearest() -> None:
    error = refusal({"approve": APPROVE}, "acton=keep")
    assert "it has action, note" in error.message
    assert "'action'" in (error.hint or "")


def test_nested_fields_take_json_and_files_give_text() -> None:
    nested = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert content({"o": nested}, 'o:={"a": 1}') == {"o": {"a": 1}}
    assert content({"s": {"type": "string"}}, "s=@f") == {"s": "text of f"}


def test_responses_are_sent_as_they_are() -> None:
    raw = '{"s": {"role": "assistant", "x": [1]}}'
    assert answer({"s": SAMPLING, "approve": APPROVE}, raw=raw) == {
        "s": {"role": "assistant", "x": [1]}
    }
    assert answer({"approve": APPROVE}, raw="-") == {"approve": {"action": "cancel"}}
    assert answer({}, raw=raw)["s"]["x"] == [1]


@pytest.mark.parametrize("raw", ["[]", "{", '{"x": {}}', '{"approve": 1}', "{}", '"a"'])
def test_responses_that_cannot_be_meant_are_refused(raw: str) -> None:
    refusal({"approve": APPROVE}, raw=raw)


@pytest.mark.parametrize(
    "more", [{"key": "approve"}, {"action": "decline"}, {"action": "cancel"}, {}]
)
def test_responses_exclude_every_other_answer(more: dict[str, Any]) -> None:
    fields = () if more else ("action=keep",)
    assert "whole answer" in refusal({"approve": APPROVE}, *fields, raw="{}", **more).message


@pytest.mark.parametrize("request_", [None, [], {}, {"method": 5}])
def test_a_broken_request_breaks_nothing(request_: Any) -> None:
    assert "something unknown" in refusal({"q": request_}).message


def test_a_form_without_a_schema_is_accepted_empty_or_with_texts() -> None:
    request = {"method": "elicitation/create", "params": {"message": "Ready?"}}
    assert answer({"q": request}) == {"q": {"action": "accept", "content": {}}}
    assert answer({"q": request}, "a=1") == {"q": {"action": "accept", "content": {"a": "1"}}}
