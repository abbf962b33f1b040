"""Which fields are chosen, which typed, and which schemas are no form at all."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.arguments.fields import typed
from mcptask.arguments.form_fields import as_typed, fits_form, options_of

TITLED = [{"const": "w", "title": "On hold"}, {"const": "r", "title": "Refund"}]
TEXT = {"type": "string"}


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    "each",
    [
        TEXT,
        {},
        {"type": "integer"},
        {"type": "boolean"},
        {"enum": ["a"]},
        {"oneOf": TITLED},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"type": "array", "items": TEXT},
        {"type": "array", "items": {"anyOf": TITLED}},
        {"$ref": "#/$defs/Action"},
    ],
    ids=str,
)
def test_flat_fields_make_a_form_a12_12(each: Any) -> None:
    assert fits_form(schema("f", f=each) | {"$defs": {"Action": {"enum": ["a", "b"]}}})


@pytest.mark.parametrize(
    "each",
    [
        {"type": "object"},
        {"properties": {"a": TEXT}},
        {"type": "array"},
        {"type": "array", "items": {"type": "object"}},
        {"type": "array", "items": {"type": "array", "items": TEXT}},
        {"anyOf": [TEXT, {"type": "object"}]},
        {"enum": [{"a": 1}]},
        {"$ref": "#/$defs/Room"},
    ],
    ids=str,
)
def test_fields_inside_fields_make_none_a12_12(each: Any) -> None:
    assert not fits_form(schema("f", f=each) | {"$defs": {"Room": {"type": "object"}}})


@pytest.mark.parametrize("key", ["$ref", "anyOf", "oneOf", "allOf"])
def test_a_schema_whose_fields_are_elsewhere_makes_none(key: str) -> None:
    assert not fits_form({key: "#/$defs/It" if key == "$ref" else [schema(a=TEXT)]})
    assert fits_form({"type": "object"})
    assert not fits_form(schema("b", a=TEXT))  # `b` could never be filled in


@pytest.mark.parametrize(
    ("each", "values", "several"),
    [
        ({"enum": ["a", "b"]}, ["a", "b"], False),
        ({"oneOf": TITLED}, ["w", "r"], False),
        ({"type": "boolean"}, [True, False], False),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, ["a"], False),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["a", "b"], True),
        ({"type": "array", "items": {"anyOf": TITLED}}, ["w", "r"], True),
    ],
    ids=str,
)
def test_a_choice_is_offered_where_there_is_nothing_else(
    each: Any, values: list[Any], several: bool
) -> None:
    options = options_of(each, schema(f=each))
    assert options is not None
    assert [choice.value for choice in options.choices] == values
    assert options.several == several


@pytest.mark.parametrize(
    "each",
    [
        TEXT,
        {},
        {"anyOf": [{"enum": ["a"]}, TEXT]},
        {"type": "array", "items": TEXT},
        {"type": "null"},
    ],
    ids=str,
)
def test_all_else_is_typed(each: Any) -> None:
    assert options_of(each, schema(f=each)) is None


@pytest.mark.parametrize(
    ("each", "value"),
    [
        (TEXT, " a, b "),
        ({"type": "integer"}, 0),
        ({"type": "number"}, 0.5),
        ({"type": "array", "items": TEXT}, ["a", "b c"]),
        ({"type": "array", "items": TEXT}, ["a, b", "[c", " d", ""]),
        ({"type": "array", "items": TEXT}, []),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
    ],
    ids=str,
)
def test_what_stands_in_a_line_is_read_as_what_it_was(each: Any, value: Any) -> None:
    assert typed("f", as_typed(value), schema(f=each)) == value
