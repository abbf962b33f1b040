"""One line of a form at the terminal → the value of its field."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.arguments.fields import typed
from mcptask.errors import UsageError


def schema(each: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"f": each}, "required": ["f", "other"], **more}


TITLED = {
    "type": "string",
    "oneOf": [
        {"const": "w", "title": "On hold, for now"},
        {"const": "r", "title": "Refund"},
    ],
}
SEVERAL = {"type": "array", "minItems": 1, "maxItems": 2, "items": {"anyOf": TITLED["oneOf"]}}
SIZES = {"type": "integer", "enum": [10, 2, 1]}


@pytest.mark.parametrize(
    ("each", "line", "value"),
    [
        ({"type": "string"}, " as typed ", " as typed "),
        ({"type": "string"}, "01", "01"),
        ({"type": "string"}, "y", "y"),
        ({}, "x", "x"),
        ({"type": "integer"}, " 3 ", 3),
        ({"type": "number"}, "3.5", 3.5),
        ({"type": "boolean"}, "y", True),
        ({"type": "boolean"}, "N", False),
        ({"type": "boolean"}, "no ", False),
        (TITLED, "1", "w"),
        (TITLED, "2 ", "r"),
        (TITLED, "r", "r"),
        (TITLED, "on hold, FOR now", "w"),
        ({"enum": ["x", "y"]}, "y", "y"),
        (SIZES, "2", 2),
        (SIZES, "1", 1),
        ({"enum": ["a", "b"], "enumNames": ["2", "1"]}, "2", "a"),
        (SEVERAL, "1", ["w"]),
        (SEVERAL, "Refund", ["r"]),
        (SEVERAL, "On hold, for now", ["w"]),
        (SEVERAL, "2, on hold,for now", ["r", "w"]),
        (SEVERAL, "r,1,", ["r", "w"]),
        (SEVERAL, '["w", "r"]', ["w", "r"]),
        ({"type": "array", "items": {"type": "string"}}, "a, b c ,d", ["a", "b c", "d"]),
        ({"type": "array", "items": {"type": "integer"}}, "1,2", [1, 2]),
        ({"type": ["array", "null"], "items": {"type": "integer"}}, "1", [1]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"$ref": "#/$defs/Way"}, "2", "r"),
    ],
)
def test_a_line_is_read_as_its_field_asks_a12_12_t20(each: Any, line: str, value: Any) -> None:
    got = typed("f", line, schema(each, **{"$defs": {"Way": TITLED}}))
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("each", "line", "says"),
    [
        ({"type": "integer", "maximum": 9}, "2o", "expected an integer"),
        ({"type": "integer", "maximum": 9}, "10", "at most 9"),
        ({"type": "integer"}, "y", "expected an integer"),
        ({"type": "boolean"}, "maybe", "expected true or false"),
        ({"type": "string", "format": "email"}, "x", "an e-mail address"),
        ({"type": "string", "maxLength": 2}, "abc", "at most 2 characters"),
        ({"type": "string"}, "\x1b[A", "control character"),
        (TITLED, "3", "one of w, r"),
        (TITLED, "0", "one of w, r"),
        (SIZES, "3", "one of 10, 2, 1"),
        (SEVERAL, "w,r,w", "at most 2 of them"),
        (SEVERAL, "on hold", "one of w, r"),
        (SEVERAL, ",", "at least 1 of them"),
        (SEVERAL, "[1", "not valid JSON"),
        ({"type": "object"}, "{", "not valid JSON"),
        ({"type": "string", "pattern": "("}, "x", "the schema"),
    ],
)
def test_a_line_that_does_not_fit_is_refused_with_what_is_expected_a12_12(
    each: Any, line: str, says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        typed("f", line, schema(each))
    assert says in refused.value.message


@given(
    st.text(max_size=30),
    st.sampled_from([TITLED, SEVERAL, SIZES, {"type": "array", "items": {"$ref": "#"}}, 3, None]),
)
def test_any_line_is_a_json_value_or_an_error_of_ours(line: str, each: Any) -> None:
    with suppress(UsageError):
        json.dumps(typed("f", line, schema(each)))
