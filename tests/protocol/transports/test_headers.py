"""Header values, reserved names and `Mcp-Param-*` (A3.4 to A3.7, A7.2)."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import UsageError
from mcptask.protocol.transports.headers import (
    encode,
    header_problem,
    is_token,
    param_headers,
    reserved,
)


def annotated(name="Tok", kind="string"):
    return {"type": kind, "x-mcp-header": name}


def decoded(header):
    """What a server makes of it."""
    if not (header.startswith("=?base64?") and header.endswith("?=")):
        return header
    return base64.b64decode(header[9:-2]).decode("utf-8", "surrogatepass")


def properties(**schemas):
    return {"type": "object", "properties": schemas}


@pytest.mark.parametrize(
    ("value", "header"),
    [
        ("plain", "plain"),
        ("", ""),
        ("two words", "two words"),
        ("~!#/?=", "~!#/?="),
        ("a\tb", "=?base64?YQli?="),
        (" x ", "=?base64?IHgg?="),
        ("tâche-1", "=?base64?dMOiY2hlLTE=?="),
        ("=?base64?QQ==?=", "=?base64?PT9iYXNlNjQ/UVE9PT89?="),
        ("=?base64??=", "=?base64?PT9iYXNlNjQ/Pz0=?="),
        ("=?BASE64?QQ==?=", "=?BASE64?QQ==?="),
        ("a\r\nb", "=?base64?YQ0KYg==?="),
        ("\x7f", "=?base64?fw==?="),
    ],
)
def test_a_value_goes_as_it_is_or_as_base64_between_markers__A3_5(value, header):
    assert encode(value) == header
    assert decoded(header) == value


@given(st.text(st.characters()))
def test_every_string_survives_the_way_through_a_header__A3_5_S12(value):
    header = encode(value)
    assert re.fullmatch(r"[\x20-\x7e]*", header)
    assert header == header.strip()
    assert decoded(header) == value


@pytest.mark.parametrize(
    "name",
    ["Content-Type", "mcp-protocol-version", "Mcp-Method", "MCP-NAME", " Mcp-Session-Id ",
     "Mcp-Param-owner", "Accept", "Origin"],
)  # fmt: skip
def test_names_that_the_wire_sets_are_reserved_in_any_case__A3_7_S12(name):
    assert reserved(name)


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "User-Agent", "Mcp-Parameter"])
def test_other_names_are_free(name):
    assert not reserved(name)


def test_a_header_name_is_an_rfc_9110_token():
    assert is_token("X-a_b.c~1")
    assert not is_token("")
    assert not is_token("a b")
    assert not is_token("é")


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("string", "acme", "acme"),
        ("string", "", ""),
        ("string", " é", "=?base64?IMOp?="),
        ("boolean", True, "true"),
        ("boolean", False, "false"),
        ("integer", 0, "0"),
        ("integer", -(2**53 - 1), str(-(2**53 - 1))),
        ("integer", 42.0, "42"),
    ],
)
def test_an_annotated_argument_becomes_a_header__A3_4(kind, value, expected):
    assert param_headers(properties(a=annotated(kind=kind)), {"a": value}) == {
        "Mcp-Param-Tok": expected
    }


@pytest.mark.parametrize(
    "arguments", [{}, {"a": None}, {"a": [1]}, {"a": {"b": 1}}, {"a": 1.5}, {"b": "x"}]
)
def test_null_absent_and_unfit_values_have_no_header__A3_4(arguments):
    assert param_headers(properties(a=annotated(kind="integer"), b={}), arguments) == {}


def test_a_nested_property_is_found_by_its_path__A7_2():
    schema = properties(outer=properties(inner=annotated("Inner")), plain={"type": "string"})
    assert param_headers(schema, {"outer": {"inner": "x"}}) == {"Mcp-Param-Inner": "x"}
    assert param_headers(schema, {"outer": "no object"}) == {}


@pytest.mark.parametrize("value", [2**53, -(2**53), 1e300])
def test_an_integer_beyond_the_safe_range_is_refused_here__A3_6(value):
    schema = properties(o=properties(n=annotated(kind="integer")))
    with pytest.raises(UsageError, match=r"o\.n"):
        param_headers(schema, {"o": {"n": value}})


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"properties": "nonsense"},
        properties(a=True),
        properties(a=annotated(), b=annotated("Other", "integer"), c=annotated("C", "boolean")),
        properties(o=properties(a=annotated())),
        properties(**{"x-mcp-header": {"type": "string"}}),
        properties(a={"type": "string", "default": {"x-mcp-header": "data"}}),
        {"properties": {"default": annotated()}},
        {"$defs": {"x-mcp-header": {"type": "string"}}},
    ],
)
def test_sound_annotations_have_no_problem__A7_2(schema):
    assert header_problem(schema) is None


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (properties(a=annotated("")), "no header name"),
        (properties(a=annotated("a b")), "no header name"),
        (properties(a=annotated("a:")), "no header name"),
        (properties(a=annotated(7)), "no header name"),
        (properties(a=annotated("X"), b=annotated("x")), "repeats"),
        (properties(a=annotated(kind="number")), "type"),
        (properties(a=annotated(kind=["string", "null"])), "type"),
        (properties(a={"x-mcp-header": "A"}), "type"),
        (properties(a=annotated(kind="object")), "type"),
        ({"x-mcp-header": "A", "type": "string"}, "the root is not reached"),
        (properties(a={"items": annotated()}), "/properties/a/items is not reached"),
        (properties(a={"anyOf": [annotated()]}), "/properties/a/anyOf/0 is not reached"),
        ({"$defs": {"d": annotated()}}, "not reached"),
        ({"if": properties(a=annotated())}, "not reached"),
        ({"not": annotated()}, "not reached"),
        ({"additionalProperties": annotated()}, "not reached"),
        ({"patternProperties": {"x": annotated()}}, "not reached"),
    ],
)
def test_a_faulty_annotation_is_named_with_its_reason__A7_2(schema, reason):
    assert reason in header_problem(schema)


def test_a_schema_of_any_depth_is_read():
    schema = annotated()
    for _ in range(5000):
        schema = properties(a=schema)
    assert header_problem(schema) is None
