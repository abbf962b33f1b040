from __future__ import annotations

import shlex
from typing import Any

import pytest
from render_samples import APPROVE, HOSTILE

from mcptask.render.answer_line import answer_line
from mcptask.render.questions import asked, field, fields, question, task_name, to_type


def form(required: Any = (), **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": schema}}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "text"),
        (
            {"type": "string", "minLength": 1, "maxLength": 9, "format": "email"},
            "an e-mail address of 1 to 9 characters",
        ),
        (
            {"type": "integer", "minimum": 0, "maximum": 10, "default": 5},
            "an integer from 0 to 10, default 5",
        ),
        ({"type": "boolean", "default": False}, "true or false, default false"),
        ({"enum": ["a", "b"], "title": "Which"}, "a · b  (Which)"),
        ({"enum": list(range(14))}, "0 · 1 · 2 · 3 · 4 · 5 · 6 · 7 · 8 · 9 · 10 · 11 · and 2 more"),
        ({"oneOf": [{"const": "a", "title": "A"}, {"title": "no const"}, 3]}, "a or any value"),
        (
            {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
            "any of a · b, at least 1 of them",
        ),
        (
            {"type": "array", "items": {"$ref": "#/$defs/a"}, "maxItems": 2},
            "any of x · y, at most 2 of them",
        ),
        (
            {"type": "array", "items": {"enum": ["a"]}, "minItems": 1, "maxItems": 3},
            "any of a, 1 to 3 of them",
        ),
        (
            {"type": "array", "items": {"type": "string"}, "default": ["x"]},
            'a list (text each), default ["x"]',
        ),
        ({"type": ["string", "null"]}, "text or null"),
        ({}, "any value"),
        (True, ""),
    ],
)
def test_a_field_is_told_in_a_few_words(schema: Any, expected: str) -> None:
    assert field(schema, {"$defs": {"a": {"anyOf": [{"const": "x"}, {"const": "y"}]}}}) == expected


def test_fields_are_aligned_and_required_ones_are_marked() -> None:
    assert fields(APPROVE) == [
        'action *  waitlist · refund · keep  (what guests see: "on hold")',
        "note      text of at most 200 characters",
    ]
    many = {f"f{number}": {} for number in range(14)}
    assert fields(form(**many))[-1] == "and 2 more fields"
    del many["f13"]
    assert fields(form(**many))[-1] == "f12  any value"


def test_a_task_that_is_not_stored_is_named_by_its_quoted_id() -> None:
    assert task_name(None, "a'b c") == shlex.quote("a'b c")
    assert task_name(7, "x") == "7"


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (APPROVE, "4 bookings fit nowhere. What should happen to them?"),
        (
            {
                "method": "elicitation/create",
                "params": {"mode": "url", "message": "Sign in", "url": "https://x"},
            },
            "Sign in → https://x",
        ),
        (
            {"method": "elicitation/create", "params": {"mode": "url"}},
            "open this address → (no address)",
        ),
        ({"method": "roots/list"}, "(a roots/list request)"),
        ({"method": "x", "params": 3}, "(a x request)"),
    ],
)
def test_every_kind_of_question_says_something(request_: Any, expected: str) -> None:
    assert asked(request_) == expected
    assert question("studio", "k", request_) == f"studio asks (k): {expected}"


def test_an_endless_message_is_cut() -> None:
    def told(length: int) -> str:
        return asked({"method": "elicitation/create", "params": {"message": "x" * length}})

    assert told(5000) == "x" * 5000
    assert told(1_000_000) == "x" * 5000 + "… and 995000 more characters"


@pytest.mark.parametrize(
    "schema",
    [
        3,
        {"properties": 3},
        {"properties": {HOSTILE: HOSTILE}, "required": 3},
        {"properties": {"a": {"enum": 3, "oneOf": 3, "default": HOSTILE}}, "required": [3]},
    ],
)
def test_a_schema_that_is_none_is_shown_without_falling_over(schema: Any) -> None:
    broken = {"method": "elicitation/create", "params": {"requestedSchema": schema}}
    text = "".join([*fields(broken), answer_line(7, "t", "k", broken, 1)])
    assert text.isprintable()


def test_what_could_be_overlooked_in_an_address_is_pointed_out_a12_13() -> None:
    def told(url: str) -> list[str]:
        return fields({"method": "elicitation/create", "params": {"mode": "url", "url": url}})

    assert told("https://a.example/") == []
    assert "user name" in told("https://good@evil.example/")[0]
    assert "punycode" in told("https://xn--80ak6aa92e.example/")[0]
    assert told("javascript:alert(1)") == ["! only http and https are opened, not javascript"]


@pytest.mark.parametrize(
    ("names", "where", "typed"),
    [
        (["7"], "", "7"),
        (["7", "8"], "", "7 8"),
        (["tsk_8f21"], "-s URL", "tsk_8f21 -s URL"),
        (["a", "-b"], "-s URL", "-s URL -- a -b"),
        (["-b"], "", "-- -b"),
    ],
)
def test_what_to_type_is_no_option_though_it_begins_like_one(
    names: list[str], where: str, typed: str
) -> None:
    assert to_type(names, where) == typed
