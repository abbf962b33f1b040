"""Header values held to a decoder that was written here, and any schema: an answer, in little memory."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import UsageError
from mcptask.protocol.transports.headers import (
    ANNOTATION,
    MAX_SAFE_INTEGER,
    encode,
    header_problem,
    is_token,
    param_headers,
)
from tests.fuzz.conftest import Peak
from tests.fuzz.hostile import (
    LONGEST_MESSAGE,
    SCHEMA,
    TEXTS,
    VALUES,
    outcome,
    spoiled,
    tries,
)

MARKED = st.sampled_from(["=?base64?", "?=", "QQ==", " ", "=?BASE64?", "a", "é", "\n"])
MIDDLES = st.lists(MARKED, max_size=4).map("".join)
NEARLY_ENCODED = MIDDLES | MIDDLES.map(lambda middle: f"=?base64?{middle}?=")


def decoded(header: str) -> str:
    """As a server reads it: the markers in this case only, and everything between them is Base64."""
    found = re.fullmatch(r"=\?base64\?(.*)\?=", header)
    if found is None:
        return header
    return base64.b64decode(found[1], validate=True).decode("utf-8", "surrogatepass")


@tries(200)
@given(TEXTS | NEARLY_ENCODED)
def test_any_text_comes_through_a_header_as_it_was_a3_5(value: str) -> None:
    header = encode(value)
    assert re.fullmatch(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?|", header)
    assert decoded(header) == value


# ── schemas ──────────────────────────────────────────────────────────────────────────────────────

# Names of properties that are keywords elsewhere, and data that only looks like an annotation.
MISLEADING = {
    "properties": {
        name: {"type": "string", ANNOTATION: f"A{number}"}
        for number, name in enumerate(["properties", "default", "$defs", ANNOTATION])
    },
    "default": {ANNOTATION: "A1"},
}
ANNOTATIONS = st.fixed_dictionaries(
    {ANNOTATION: st.sampled_from(["A", "a", "B", "a b", "", 7, None, "x" * 5000]) | VALUES},
    optional={
        "type": st.sampled_from(["string", "integer", "boolean", "number", ["string"]]) | VALUES
    },
)
WORDS = st.sampled_from(
    ["properties", "items", "anyOf", "$defs", "default", "enum", ANNOTATION, "type", "a", "b"]
)
SCHEMAS = st.recursive(
    ANNOTATIONS | VALUES,
    lambda inner: (
        st.dictionaries(WORDS, inner, max_size=4)
        | st.lists(inner, max_size=3)
        | st.fixed_dictionaries({"properties": st.dictionaries(WORDS, inner, max_size=3)})
    ),
    max_leaves=8,
).filter(lambda schema: isinstance(schema, dict)) | spoiled([SCHEMA, MISLEADING])


def faults_by_the_book(schema: Any, *, within: str = "root") -> list[Any]:
    """The names of the sound annotations, and None for each that is not, by plain recursion.

    `within` is "properties" where only those lead here, "names" inside a map from names to schemas.
    """
    found: list[Any] = []
    if isinstance(schema, list):
        return [name for item in schema for name in faults_by_the_book(item, within="elsewhere")]
    if not isinstance(schema, dict):
        return found
    maps_names = within.endswith("names")
    if not maps_names and ANNOTATION in schema:
        name = schema[ANNOTATION]
        sound = (
            within == "properties"
            and isinstance(name, str)
            and re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name)
            and schema.get("type") in ["integer", "string", "boolean"]
        )
        found.append(name.lower() if sound else None)
    for key, inner in schema.items():
        if maps_names:
            found += faults_by_the_book(inner, within=within.removesuffix(" names"))
        elif key == "properties" and within in ("root", "properties"):
            found += faults_by_the_book(inner, within="properties names")
        elif key in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
            found += faults_by_the_book(inner, within="elsewhere names")
        elif key not in ("const", "default", "enum", "example", "examples"):
            found += faults_by_the_book(inner, within="elsewhere")
    return found


@tries(150)
@given(SCHEMAS, st.dictionaries(WORDS, VALUES, max_size=3))
def test_any_schema_is_sound_or_has_a_problem_that_can_be_told_a7_2(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    names = faults_by_the_book(schema)
    sound = None not in names and len(names) == len(set(names))
    problem = header_problem(schema)
    assert (problem is None) == sound
    assert problem is None or len(problem) < LONGEST_MESSAGE
    headers = outcome(UsageError, param_headers, schema, arguments)
    if isinstance(headers, UsageError):
        assert len(headers.message) < LONGEST_MESSAGE
    elif sound:
        assert {name.lower() for name in headers} <= {f"mcp-param-{name}" for name in names}
        assert all(is_token(name) and value.isascii() for name, value in headers.items())


@tries(100)
@given(VALUES, st.sampled_from(["string", "integer", "boolean"]))
def test_any_argument_makes_the_header_of_its_json_or_none_or_is_refused_a3_4_a3_6(
    value: Any, kind: str
) -> None:
    schema = {"properties": {"a": {"type": kind, ANNOTATION: "A"}}}
    headers = outcome(UsageError, param_headers, schema, {"a": value})
    if isinstance(headers, UsageError):
        assert abs(value) > MAX_SAFE_INTEGER
    elif isinstance(value, str):
        assert decoded(headers["Mcp-Param-A"]) == value
    elif isinstance(value, bool):
        assert headers["Mcp-Param-A"] == str(value).lower()
    elif isinstance(value, int):
        assert int(headers["Mcp-Param-A"]) == value
    elif headers:
        assert isinstance(value, float)
        assert float(headers["Mcp-Param-A"]) == value


def below(levels: int, schema: dict[str, Any]) -> dict[str, Any]:
    for _ in range(levels):
        schema = {"properties": {"a": schema}}
    return schema


LONG = "k" * 100_000
MANY = {str(number): {} for number in range(5_000)}
WIDE: dict[str, Any] = {
    "many parts below a long name": {"properties": {LONG: {"properties": MANY}}},
    "many parts in a list below a long name": {"properties": {LONG: [{}] * 5_000}},
    "many parts far down": below(60, {"properties": MANY}),
    "many sound annotations far down": {
        "properties": {
            LONG: {
                "properties": {
                    str(number): {"type": "string", ANNOTATION: f"A{number}"}
                    for number in range(2_000)
                }
            }
        }
    },
}


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_and_a_deep_schema_with_long_names_takes_little_memory_a7_2(
    name: str, peak: Peak
) -> None:
    assert header_problem(WIDE[name]) is None
    assert param_headers(WIDE[name], {}) == {}
    assert peak() < 3_000_000


def test_a_schema_deeper_than_any_message_is_walked_all_the_same_a7_2() -> None:
    schema = below(20_000, {"type": "string", ANNOTATION: "A"})
    assert header_problem(schema) is None
    assert header_problem({"items": schema}) is not None
