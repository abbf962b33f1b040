import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.arguments.parse import parse
from mcptask.errors import UsageError

ROOMS = {
    "type": "object",
    "properties": {
        "month": {"type": "string"},
        "seats": {"type": "integer", "minimum": 1, "maximum": 9},
        "price": {"type": "number"},
        "ask": {"type": "boolean"},
        "rooms": {"type": "array", "items": {"type": "string"}},
        "sizes": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
        "options": {"type": "object", "properties": {"deep": {"type": "integer"}}},
        "mode": {"enum": ["fast", "careful", 3]},
        "note": {"type": ["string", "null"]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "unit": {"$ref": "#/$defs/Unit"},
        "loose": {},
    },
    "$defs": {"Unit": {"type": "string", "enum": ["hour", "day"]}},
}


def read(*args: str, schema: Any = ROOMS, raw: str | None = None, validate: bool = True) -> Any:
    return parse(
        list(args),
        raw,
        schema,
        validate=validate,
        read_file=lambda path: Path(path).read_text(encoding="utf-8"),
        read_stdin=lambda: '{"month": "from stdin"}',
        tool="reflow_month",
    )


def refusal(*args: str, **more: Any) -> UsageError:
    with pytest.raises(UsageError) as refused:
        read(*args, **more)
    return refused.value


@pytest.mark.parametrize(
    ("arg", "expected"),
    [
        ("month=01234", "01234"),
        ("month=  two  spaces ", "  two  spaces "),
        ("month=a=b==c", "a=b==c"),
        ("month==x", "=x"),
        ("month=", ""),
        ("month=null", "null"),
        ("month=[1]", "[1]"),
        ("seats=4", 4),
        ("seats=+4", 4),
        ("price=4", 4),
        ("price=12345678901234567890", 12345678901234567890),
        ("price=0.10", 0.1),
        ("price=-1e3", -1000.0),
        ("ask=true", True),
        ("ask=False", False),
        ("ask=no", False),
        ("ask=yes", True),
        ("rooms=a", ["a"]),
        ('rooms=["a","b"]', ["a", "b"]),
        ("sizes=4", [4]),
        ('options={"deep": 1}', {"deep": 1}),
        ("mode=careful", "careful"),
        ("mode=3", 3),
        ("note=null", "null"),
        ("note:=null", None),
        ("limit=7", 7),
        ("limit=null", None),
        ("unit=day", "day"),
        ("loose=12", "12"),
        ("loose:=12", 12),
        ('month:="@x"', "@x"),
    ],
)
def test_a_text_takes_the_type_that_the_schema_gives(arg: str, expected: Any) -> None:
    (value,) = read(arg).values()
    assert value == expected
    assert type(value) is type(expected)


def test_a_list_is_given_by_repetition() -> None:
    assert read("rooms=a", "rooms=[b", "sizes=1", "sizes=2") == {
        "rooms": ["a", "[b"],
        "sizes": [1, 2],
    }


@pytest.mark.parametrize(
    ("arg", "says"),
    [
        ("seats=2o", "expected an integer from 1 to 9, not '2o'"),
        ("seats=3.0", "expected an integer"),
        ("seats=", "expected an integer"),
        ("seats=1_0", "expected an integer"),
        ("seats=" + "9" * 5000, "expected an integer"),
        ("seats=10", "must be at most 9"),
        ('seats:="4"', "expected an integer"),
        ("seats:=true", "expected an integer"),
        ("price=1e999", "expected a number"),
        ("price=nan", "expected a number"),
        ("ask=1", "expected true or false"),
        ("rooms=[a", "not valid JSON"),
        ("sizes=x", "sizes: expected an integer"),
        ("sizes:=[1,2,3]", "takes at most 2 of them"),
        ('sizes:=["1"]', "sizes[0]: expected an integer"),
        ("options={", "line 1, column 2"),
        ("options=[1]", "expected a JSON object"),
        ('options={"deep":"x"}', "options.deep: expected an integer"),
        ("mode=carefull", "one of fast, careful, 3"),
        ("limit=x", "expected an integer or null"),
        ('limit:="x"', "expected an integer"),
        ("unit=week", "one of hour, day"),
        ("month:={a", "not valid JSON"),
        ("loose:=NaN", "NaN is no JSON number"),
        ("loose:=-Infinity", "-Infinity is no JSON number"),
        ("loose:=1e999", "too large"),
        ('loose:={"a":1,"a":2}', "'a' is there twice"),
        ('loose:="\\ud800"', "surrogate"),
        ("loose:=" + "[" * 100_000, "nested too deeply"),
        ("month=\udcff", "not valid UTF-8"),
        ("month", "'month' is no argument"),
        ("=x", "has no name"),
        (":=1", "has no name"),
        ("month=@", "no file is named"),
        ("month=@/no/such/file", "No such file"),
        ("month=@a\0b", "null"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(arg: str, says: str) -> None:
    assert says in refusal(arg).message


def test_a_wrong_value_hints_at_the_nearest_and_at_the_tool() -> None:
    hint = refusal("mode=carefull").hint or ""
    assert "careful" in hint
    assert "mcptask tools reflow_month" in hint


def test_an_unknown_name_lists_what_the_tool_takes_and_the_nearest() -> None:
    error = refusal("mont=x")
    assert "reflow_month has no argument 'mont': it takes month, seats" in error.message
    assert "'month'" in (error.hint or "")


def test_all_missing_arguments_are_named_with_what_they_are() -> None:
    error = refusal(schema={**ROOMS, "required": ["month", "seats"]})
    assert error.message == "reflow_month needs month (text), seats (an integer from 1 to 9)"


@pytest.mark.parametrize(
    ("schema", "accepted"),
    [
        ({}, True),
        ({"type": "object"}, True),
        ({"type": "object", "properties": {}}, False),
        ({"type": "object", "additionalProperties": False}, False),
        ({"properties": {"a": {}}, "additionalProperties": True}, True),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, True),
        ({"properties": {"a": {}}, "patternProperties": {"^x": {}}}, True),
        ({"anyOf": [{"properties": {"x": {}}}, {"properties": {"a": {}}}]}, True),
    ],
)
def test_other_names_pass_only_where_the_schema_invites_them(schema: Any, accepted: bool) -> None:
    if accepted:
        assert read("x=1", schema=schema) == {"x": "1"}
    else:
        assert "no argument 'x'" in refusal("x=1", schema=schema).message


def test_an_extra_name_takes_the_type_of_additional_properties() -> None:
    assert read("x=1", schema={"additionalProperties": {"type": "integer"}}) == {"x": 1}


def test_a_name_given_twice_is_refused_unless_it_is_a_list() -> None:
    assert "given 2 times" in refusal("month=a", "month=b").message
    assert "together" in refusal("rooms:=[]", "rooms=a").message


def test_files_give_text_or_json(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("01234\n")
    (tmp_path / "json").write_text("[1, 2]")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert read(f"month=@{tmp_path}/text", f"sizes:=@{tmp_path}/json") == {
        "month": "01234\n",
        "sizes": [1, 2],
    }
    assert "not UTF-8" in refusal(f"month=@{tmp_path}/binary").message


def test_the_whole_object_comes_as_it_is_and_arguments_go_over_it(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text('{"seats": 2}')
    assert read(raw='{"month": "1", "seats": 2}') == {"month": "1", "seats": 2}
    assert read("seats=3", raw="-") == {"month": "from stdin", "seats": 3}
    assert read(raw=f"@{tmp_path}/all.json") == {"seats": 2}
    assert "JSON object" in refusal(raw="[1]").message
    assert "seats: expected an integer" in refusal(raw='{"seats": "2"}').message
    assert "'x'" in refusal(raw='{"x": 1}').message


def test_without_validation_everything_but_bad_syntax_is_sent() -> None:
    assert read("seats=2o", "x=1", "price=2", validate=False) == {
        "seats": "2o",
        "x": "1",
        "price": 2,
    }
    refusal("x:={", validate=False)


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"not": {"required": ["x"]}}, "should not be valid"),
        ({"properties": {"x": {"$ref": "https://schemas.example/x"}}}, "is not fetched"),
        ({"properties": {"x": {"multipleOf": "two"}}}, "is not valid"),
        ({"properties": {"x": {"pattern": "("}}}, "no regular expression"),
        ({"properties": {"x": {"pattern": "a{99999999999}"}}}, "no regular expression"),
        ({"properties": {"x": {"$ref": "#/properties/x"}}}, "goes round in circles"),
        (
            {"properties": {"x": {"anyOf": [{"$ref": "#/properties/x"}] * 2}}},
            "goes round in circles",
        ),
        (
            {"properties": {"x": {"prefixItems": [{"type": "integer"}]}}, "if": {"$ref": "#"}},
            "goes",
        ),
        ({"properties": {"x": False}}, "no value is allowed"),
        ({"properties": {"x": {"oneOf": [{"type": "string"}, {"minLength": 0}]}}}, "only one"),
        ({"properties": {"x": {"allOf": [{"type": "string"}, {"minLength": 5}]}}}, "5 characters"),
        ({"properties": {"x": {"pattern": "^a"}}}, "must match"),
        ({"properties": {"x": {"type": "string", "const": "y"}}}, "expected y"),
        ({"properties": {"x": {"type": "array", "uniqueItems": True}}}, "non-unique"),
    ],
)
def test_rare_hostile_and_broken_schemas_are_handled(schema: Any, says: str) -> None:
    arg = 'x=["a", "a"]' if "uniqueItems" in str(schema) else "x=1"
    assert says in refusal(arg, schema=schema).message


@given(st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text[:1] != "@"))
def test_a_string_stays_exactly_as_typed(text: str) -> None:
    assert read("month=" + text) == {"month": text}


@given(st.integers())
def test_an_integer_keeps_every_digit(number: int) -> None:
    assert read(f"price={number}") == {"price": number}


KEYWORDS = st.sampled_from(
    [
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "items",
        "properties",
        "required",
        "$ref",
        "minimum",
        "maxLength",
        "pattern",
        "enumNames",
        "additionalProperties",
        "title",
        "format",
        "prefixItems",
        "not",
        "uniqueItems",
    ]
)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["string", "integer", "array", "object", "null", "x", "#", "#/properties/x"])
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | st.just("x"), inner, max_size=4)
    ),
    max_leaves=12,
)
TEXTS = st.sampled_from(["", "1", "-2.5", "true", "[1]", '{"x": 1}', "null", "x"]) | st.text()


@settings(max_examples=300, deadline=None)
@given(SCHEMAS, st.lists(TEXTS, min_size=1, max_size=2), st.booleans())
def test_whatever_the_schema_only_a_usage_error_comes_out(
    schema: Any, texts: list[str], validate: bool
) -> None:
    whole = {"type": "object", "properties": {"x": schema}}
    for root in (whole, schema if isinstance(schema, dict) else whole):
        with contextlib.suppress(UsageError):
            json.dumps(read(*(f"x={text}" for text in texts), schema=root, validate=validate))


def test_simple_schemas_do_not_load_jsonschema() -> None:
    script = (
        "import sys\n"
        "from mcptask.arguments.parse import parse\n"
        "schema = {'properties': {'a': {'anyOf': [{'type': 'integer'}, {'type': 'null'}]}}}\n"
        "parse(['a=1'], None, schema, validate=True, read_file=open, read_stdin=input)\n"
        "print({'jsonschema', 'pydantic', 'asyncio', 'rich'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
