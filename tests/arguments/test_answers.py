"""`--answers FILE`: which question each entry answers, and what is refused before anything is sent."""

import json
from typing import Any

import pytest

from mcptask.arguments.answers import Answers, read_answers
from mcptask.errors import UsageError


def form(
    properties: dict[str, Any], *required: str, message: str = "What now?", **more: Any
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required), **more}
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": schema},
    }


def to_open(url: Any = "https://x.example/", message: str = "Sign in") -> dict[str, Any]:
    return {
        "method": "elicitation/create",
        "params": {"mode": "url", "url": url, "message": message},
    }


ACTION = {"type": "string", "enum": ["waitlist", "refund", "keep"]}
TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1, "maximum": 9}
APPROVE = form({"action": ACTION, "note": TEXT}, "action", message="4 bookings fit nowhere")
SAMPLING = {"method": "sampling/createMessage", "params": {"maxTokens": 9}}
ROOTS = {"method": "roots/list"}
UNKNOWN = {"method": "x/y"}


def answers(text: str, name: str = "answers.toml") -> Answers:
    return read_answers(text, name)


def accepted(**content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def refusal(text: str, name: str = "answers.toml", **requests: Any) -> UsageError:
    with pytest.raises(UsageError) as refused:
        read_answers(text, name).to(requests)
    return refused.value


# ── which entry answers which question ──


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ('approve = { action = "keep" }', {"action": "keep"}),
        ('[approve]\naction = "keep"\nnote = "x"', {"action": "keep", "note": "x"}),
        ('action = "keep"', {"action": "keep"}),
        ('approve = { action = "keep" }\naction = "refund"', {"action": "keep"}),
        ('approve = { action = "keep" }\nnote = "x"', {"action": "keep", "note": "x"}),
        (
            'note = "x"\n[[match]]\nmessage = "^4 b"\nanswer = { action = "keep" }',
            {"action": "keep", "note": "x"},
        ),
        ('[[match]]\nmessage = "^4 b"\nanswer = { action = "keep" }', {"action": "keep"}),
        (
            'action = "refund"\n[[match]]\nmessage = "fit"\nanswer = { action = "keep" }',
            {"action": "keep"},
        ),
        (
            'approve = { action = "refund" }\n[[match]]\nmessage = ""\nanswer = { action = "keep" }',
            {"action": "refund"},
        ),
        (
            '[[match]]\nmessage = "b"\nanswer = { action = "keep" }\n'
            '[[match]]\nmessage = ""\nanswer = "decline"',
            {"action": "keep"},
        ),
    ],
)
def test_the_key_goes_before_a_match_and_a_match_before_the_top_level(
    text: str, content: dict[str, Any]
) -> None:
    assert answers(text).to({"approve": APPROVE}) == {"approve": accepted(**content)}


def test_a_field_at_the_top_level_answers_every_question_that_asks_for_it() -> None:
    requests = {"one": form({"who": TEXT}, "who"), "two": form({"who": TEXT, "n": COUNT}, "who")}
    both = {"one": accepted(who="Ada"), "two": accepted(who="Ada")}
    assert answers('who = "Ada"').to(requests) == both


@pytest.mark.parametrize("word", ["decline", "cancel"])
@pytest.mark.parametrize("request_", [APPROVE, to_open()])
def test_a_word_refuses_by_key_and_by_match(word: str, request_: Any) -> None:
    refused = {"q": {"action": word}}
    assert answers(f'q = "{word}"').to({"q": request_}) == refused
    by_message = f'[[match]]\nmessage = "4 bookings|Sign"\nanswer = "{word}"'
    assert answers(by_message).to({"q": request_}) == refused


@pytest.mark.parametrize("first", ["vote", "other"])
def test_a_word_that_refuses_is_a_value_only_of_a_field_that_offers_it_whatever_else_is_asked(
    first: str,
) -> None:
    requests = {"vote": APPROVE, "other": form({"vote": TEXT}, "vote")}
    file = answers('vote = "decline"')
    second = "other" if first == "vote" else "vote"
    one_by_one = {key: file.to({key: requests[key]}) for key in (first, second)}
    assert one_by_one == {"vote": {"vote": {"action": "decline"}}, "other": {}}
    assert file.to(requests) == {"vote": {"action": "decline"}}
    offers = [
        {"type": "string", "enum": ["agree", "decline"]},
        {"oneOf": [{"const": "decline", "title": "No"}]},
        {"$ref": "#/$defs/vote"},
    ]
    for vote in offers:
        request = form({"vote": vote}, "vote", **{"$defs": {"vote": offers[0]}})
        assert file.to({"other": request}) == {"other": accepted(vote="decline")}
    assert file.to({"other": form({"vote": {"enum": ["agree"]}}, "vote")}) == {}


def test_a_question_is_answered_only_when_every_required_field_is_there() -> None:
    file = answers('approve = { note = "x" }')
    assert file.to({"approve": APPROVE}) == {}
    assert file.incomplete() == ("approve lacks action (one of waitlist, refund, keep)",)
    assert file.unused() == ()
    assert file.to({"other": form({"who": TEXT}, "who")}) == {}
    assert file.incomplete() == ()
    assert answers('note = "x"').to({"approve": APPROVE}) == {}
    assert answers("").to({"approve": APPROVE, "free": form({"a": TEXT})}) == {}


def test_the_defaults_of_the_form_count_but_do_not_answer_unasked() -> None:
    request = form({"n": {**COUNT, "default": 3}, "note": TEXT}, "n")
    assert answers("q = {}").to({"q": request}) == {"q": accepted(n=3)}
    assert answers('note = "x"').to({"q": request}) == {"q": accepted(n=3, note="x")}
    assert answers("other = 1").to({"q": request}) == {}


def test_an_empty_optional_value_is_left_out_and_a_null_undoes_a_default() -> None:
    request = form({"n": {**COUNT, "default": 3}, "note": TEXT})
    assert answers('q = { note = "" }').to({"q": request}) == {"q": accepted(n=3)}
    assert answers('{"q": {"n": null}}', "-").to({"q": request}) == {"q": accepted()}


def test_each_call_answers_for_the_questions_of_that_call() -> None:
    file = answers('action = "keep"\nwho = "Ada"')
    assert file.to({"approve": APPROVE}) == {"approve": accepted(action="keep")}
    assert file.unused() == ("who",)
    assert file.to({"name": form({"who": TEXT}, "who")}) == {"name": accepted(who="Ada")}
    assert file.unused() == ()
    assert file.to({"approve": APPROVE}) == {"approve": accepted(action="keep")}


def test_a_key_that_is_new_each_time_is_reached_by_its_fields_or_its_message_only() -> None:
    key = "tsk_8f21:9c1e02"
    for name in ("tsk_8f21", "9c1e02", "approve"):
        file = answers(f'{name} = "decline"')
        assert file.to({key: APPROVE}) == {}
        assert file.unused() == (name,)
    assert answers('action = "keep"').to({key: APPROVE}) == {key: accepted(action="keep")}
    by_message = '[[match]]\nmessage = "nowhere"\nanswer = "decline"'
    assert answers(by_message).to({key: APPROVE}) == {key: {"action": "decline"}}


# ── a URL, and what is no elicitation ──


def test_consent_to_a_url_is_the_word_of_its_own_key_and_nothing_else_a12_13_s7() -> None:
    assert answers('login = "accept"').to({"login": to_open()}) == {"login": {"action": "accept"}}
    assert answers('[[match]]\nmessage = "Sign"\nanswer = {}').to({"login": to_open()}) == {}
    assert answers("login = true").to({"login": to_open()}) == {}
    assert answers('url = "accept"').to({"login": to_open()}) == {}
    assert "no fields" in refusal("login = {}", login=to_open()).message
    assert "[[match]]" in refusal('[[match]]\nmessage = ""\nanswer = "accept"').message


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "", None, 3])
def test_nobody_agrees_to_what_is_no_web_address_a12_13(url: Any) -> None:
    assert "login" in refusal('login = "accept"', login=to_open(url)).message
    assert answers('login = "decline"').to({"login": to_open(url)})


def test_a_form_is_not_accepted_by_a_word_but_may_have_a_field_of_that_value() -> None:
    assert "approve = { action = …, note = … }" in str(
        refusal('approve = "accept"', approve=APPROVE).hint
    )
    request = form({"q": TEXT}, "q")
    assert answers('q = "accept"').to({"q": request}) == {"q": accepted(q="accept")}


@pytest.mark.parametrize("request_", [SAMPLING, ROOTS, UNKNOWN])
def test_other_requests_take_their_whole_result_from_their_own_key_only_a12_10_a12_14_s7(
    request_: Any,
) -> None:
    result = {
        "role": "assistant",
        "content": {"type": "text", "text": "x"},
        "model": "mine",
        "roots": [{"uri": "file:///studio"}],
    }
    text = json.dumps({"q": result, "role": "x", "match": [{"message": "", "answer": {}}]})
    assert answers(text, "a.json").to({"q": request_}) == {"q": result}
    assert answers(text, "a.json").to({"other": request_}) == {}
    for word in ("accept", "decline", "cancel"):
        assert "cannot be accepted or declined" in refusal(f'q = "{word}"', q=request_).message


@pytest.mark.parametrize(
    ("request_", "result", "says"),
    [
        (SAMPLING, {"role": "assistant", "content": {"type": "text", "text": "x"}}, "model"),
        (SAMPLING, {}, "role"),
        (ROOTS, {"roots": [{"uri": "https://x.example/"}]}, "roots"),
    ],
)
def test_a_whole_result_that_does_not_fit_is_refused_a12_14(
    request_: Any, result: Any, says: str
) -> None:
    error = refusal(json.dumps({"q": result}), "a.json", q=request_)
    assert error.message.startswith(f"a.json: q asks for {request_['method']}: {says}")


# ── values ──


def test_values_have_the_types_of_the_file_and_dates_are_texts() -> None:
    fields = {
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "zone": {"type": "string", "format": "date-time"},
        "time": TEXT,
        "many": {"type": "array", "items": {"type": "string"}},
        "n": {"type": "number"},
        "yes": {"type": "boolean"},
    }
    text = """
        day = 2026-09-30
        at = 2026-09-30T14:00:00Z
        zone = 2026-09-30T14:00:00+02:00
        time = 07:30:00
        many = ["a", "b"]
        n = 1.5
        yes = false
    """
    assert answers(text).to({"q": form(fields)})["q"]["content"] == {
        "day": "2026-09-30",
        "at": "2026-09-30T14:00:00Z",
        "zone": "2026-09-30T14:00:00+02:00",
        "time": "07:30:00",
        "many": ["a", "b"],
        "n": 1.5,
        "yes": False,
    }


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ('"3"', "count: expected an integer from 1 to 9"),
        ("12", "count: must be at most 9"),
        ("true", "count: expected an integer"),
        ("1.5", "count: expected an integer"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "count = {}",
        "q = {{ count = {} }}",
        '[[match]]\nmessage = "now"\nanswer = {{ count = {} }}',
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_file_question_and_field(
    text: str, value: str, says: str
) -> None:
    error = refusal(text.format(value), q=form({"count": COUNT}, "count"))
    assert error.message.startswith(f"answers.toml: q: {says}")


def test_a_field_that_the_form_lacks_is_refused_with_the_nearest() -> None:
    error = refusal('approve = { acton = "keep" }', approve=APPROVE)
    assert "approve has no field 'acton': it has action, note" in error.message
    assert "'action'" in str(error.hint)


def test_what_holds_for_all_fields_together_is_checked_too() -> None:
    request = form({"a": TEXT, "b": TEXT}, minProperties=2)
    assert answers('a = "1"\nb = "2"').to({"q": request}) == {"q": accepted(a="1", b="2")}
    assert "q: " in refusal('a = "1"', q=request).message


def test_a_schema_that_cannot_be_used_is_told_with_the_question() -> None:
    request = form({"a": {"type": "string", "pattern": "("}})
    says = "answers.toml: q: the schema has a pattern that is no regular expression"
    assert refusal('a = "1"', q=request).message == says
