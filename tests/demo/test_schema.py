"""The hand-written checks agree with jsonschema, and name what is wrong."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.demo.catalog import TOOLS
from mcptask.demo.jsonrpc import Json
from mcptask.demo.schema import problem, with_defaults

REFLOW = TOOLS["reflow_month"].input_schema
GOOD: Json = {"month": "2026-09"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"month": 9}, "argument 'month' must be of type string"),
        ({"month": "2026-13"}, "argument 'month' must match"),
        ({"month": "0000-01"}, "argument 'month' must match"),
        ({"mnth": "2026-09", "month": "2026-09"}, "unknown argument 'mnth'; known: month, "),
        (GOOD | {"seconds": "8"}, "argument 'seconds' must be of type number"),
        (GOOD | {"seconds": True}, "argument 'seconds' must be of type number"),
        (GOOD | {"seconds": -1}, "argument 'seconds' must be 0 or more"),
        (GOOD | {"seconds": 1e9}, "argument 'seconds' must be 3600 or less"),
        (GOOD | {"offline_rooms": "studio-b"}, "argument 'offline_rooms' must be of type array"),
        (GOOD | {"offline_rooms": ["attic"]}, "argument 'offline_rooms[0]' must be one of"),
        (GOOD | {"offline_rooms": ["studio-a"] * 2}, "'offline_rooms' must not have an item twice"),
        ([], "the arguments must be of type object"),
        (None, "the arguments must be of type object"),
    ],
)
def test_a_wrong_argument_is_named(arguments: Any, says: str) -> None:
    found = problem(arguments, REFLOW, "")
    assert found is not None
    assert says in found


def test_a_nested_member_is_named_by_its_path() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}
    schema = {"type": "object", "properties": {"a": inner}}
    assert problem({"a": {"b": 1}}, schema, "") == "argument 'a.b' must be of type string"
    assert problem({"a": {}}, schema, "") == "missing argument 'a.b'"


def test_defaults_fill_only_what_is_missing() -> None:
    filled = with_defaults({"month": "2026-09", "ask": True}, REFLOW)
    assert filled == {
        "month": "2026-09",
        "offline_rooms": ["studio-b"],
        "seconds": 8,
        "ask": True,
    }


FORM: Json = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": ["a", "b"]},
        "choice": {"type": "string", "oneOf": [{"const": "x", "title": "X"}, {"const": "y"}]},
        "many": {
            "type": "array",
            "items": {"anyOf": [{"const": "x"}]},
            "minItems": 1,
            "maxItems": 2,
        },
        "note": {"type": "string", "minLength": 1, "maxLength": 3},
        "count": {"type": "integer", "minimum": 1, "maximum": 3},
        "sure": {"type": "boolean"},
        "none": {"type": ["string", "null"]},
    },
    "required": ["action"],
}
SCALARS = (
    st.none() | st.booleans() | st.integers(-1, 4) | st.floats(0, 4) | st.sampled_from("abxy ")
)
VALUES = SCALARS | st.text(max_size=5) | st.lists(SCALARS, max_size=3)
CONTENT = st.dictionaries(st.sampled_from([*FORM["properties"], "other"]), VALUES, max_size=4)


@settings(max_examples=300)
@given(CONTENT)
def test_a_form_is_judged_as_jsonschema_judges_it(content: Json) -> None:
    valid = jsonschema.Draft202012Validator(FORM).is_valid(content)
    assert (problem(content, FORM, "", "field") is None) == valid


FORMATTED = [
    ("email", "ada@example.com", True),
    ("email", "ada", False),
    ("email", "a b@example.com", False),
    ("email", "ada@example.com\n", False),
    ("uri", "https://user@example.com:8000/a(b)[c]~%20?d=e&f#g", True),
    ("uri", "urn:isbn:1", True),
    ("uri", "/a", False),
    ("uri", "https://example.com/a b", False),
    ("uri", "https://example.com/<a>", False),
    ("date", "2028-02-29", True),
    ("date", "2026-02-29", False),
    ("date", "20260228", False),
    ("date", "2026-W09-1", False),
    ("date", "2026-02-28T10:00:00Z", False),
    ("date-time", "2026-02-28T10:00:00Z", True),
    ("date-time", "2026-02-28T10:00:00.125-05:30", True),
    ("date-time", "2026-02-28T10:00:00", False),
    ("date-time", "2026-02-28T25:00:00Z", False),
    ("date-time", "2026-02-28", False),
]


@pytest.mark.parametrize(("name", "value", "fits"), FORMATTED)
def test_a_format_is_held_and_named(name: str, value: str, fits: bool) -> None:
    schema = {"type": "object", "properties": {"it": {"type": "string", "format": name}}}
    told = None if fits else f"field 'it' must be a valid {name}"
    assert problem({"it": value}, schema, "", "field") == told


@pytest.mark.parametrize("tool", TOOLS.values(), ids=lambda tool: tool.name)
def test_the_schemas_of_the_tools_are_schemas_and_say_what_they_mean(tool: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(tool.input_schema)
    assert tool.description
    for name, member in tool.input_schema["properties"].items():
        assert member["description"], name
        if "default" in member:
            assert jsonschema.Draft202012Validator(member).is_valid(member["default"])
