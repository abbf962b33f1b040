"""Reading the JSON Schemas that servers send: nothing in one may raise, hang or grow without end."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcptask.protocol.schemas import (
    DEEPEST,
    LONGEST_WORDS,
    MOST_ALTERNATIVES,
    MOST_LISTED,
    Choice,
    alternatives,
    choices,
    countable,
    describe,
    is_local,
    is_schema,
    items,
    kind,
    offered,
    pointed,
    properties,
    required,
    sub,
)

# ── whatever a server sends ──

KEYWORDS = (
    *("$ref", "$defs", "anyOf", "oneOf", "allOf", "type", "enum", "enumNames", "const", "title"),
    *("properties", "items", "prefixItems", "required", "format", "minimum", "maximum"),
    *("minLength", "maxLength", "minItems", "maxItems"),
)
REFS = ("#", "#/", "#/$defs/A", "#/$defs/B", "#/anyOf/0", "#/allOf/1", "#/%", "#/~2", "#A", "a#/b")
TYPES = ("string", "integer", "number", "boolean", "object", "array", "null", "date")
FORMATS = ("email", "uri", "date", "date-time", "hostname")

words = st.sampled_from((*REFS, *TYPES, *FORMATS, "\udc80", ""))
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | words
names = st.sampled_from((*KEYWORDS, "A", "B")) | st.text(max_size=3)
anything: st.SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=5),
    max_leaves=25,
)

simple: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(dict),
    st.builds(
        lambda name: {"type": name}, st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES))
    ),
    st.builds(lambda ref: {"$ref": ref}, st.sampled_from(REFS)),
    st.builds(lambda value: {"const": value}, leaves),
    st.builds(lambda values: {"enum": values}, st.lists(leaves, max_size=3)),
)


def _wider(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """One keyword that holds schemas, beside whatever a schema has already."""
    several = st.lists(inner, max_size=3)
    lists = st.tuples(st.sampled_from(("anyOf", "oneOf", "allOf")), several)
    tables = st.tuples(
        st.sampled_from(("properties", "$defs")), st.dictionaries(st.sampled_from("AB"), inner)
    )
    one = st.tuples(st.just("items"), inner)
    return st.builds(lambda more, schema: {**schema, more[0]: more[1]}, lists | tables | one, inner)


# The same, but so well-formed that every branch of the code is entered.
schemas = st.recursive(simple, _wider, max_leaves=10)

readers: list[Callable[[Any, dict[str, Any]], Any]] = [alternatives, properties, describe]


@given(schema=anything | schemas, root=anything | schemas)
@example(schema={"$ref": "#/$defs/A"}, root={"$defs": {"A": {"$ref": "#/$defs/A"}}})
def test_nothing_in_a_schema_raises_and_every_answer_is_bounded(schema: Any, root: Any) -> None:
    root = root if is_schema(root) else {}
    found = alternatives(schema, root)
    assert 1 <= len(found) <= MOST_ALTERNATIVES
    assert 0 < len(describe(schema, root)) <= LONGEST_WORDS + 1 or any(map(choices, found))
    assert all(isinstance(name, str) for name in properties(schema, root))
    for each in found:
        assert isinstance(kind(each), str)
        assert all(isinstance(choice.title, str) for choice in choices(each))
        assert all(isinstance(name, str) for name in required(each))


@given(schema=schemas)
def test_a_schema_is_read_and_never_changed(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    for read in readers:
        read(schema, schema)
    assert json.dumps(schema) == before


@given(schema=schemas)
def test_an_alternative_has_no_reference_and_nothing_to_merge(schema: dict[str, Any]) -> None:
    for each in alternatives(schema, schema):
        assert not {"$ref", "allOf"} & each.keys()


@given(schema=schemas)
def test_an_alternative_is_its_own_only_alternative(schema: dict[str, Any]) -> None:
    for each in alternatives(schema, schema):
        assert alternatives(each, schema) == [each]


@given(parts=st.lists(st.dictionaries(st.text(max_size=2), st.just({})), max_size=5))
def test_all_of_has_the_properties_of_all(parts: list[dict[str, Any]]) -> None:
    schema = {"allOf": [{"properties": part} for part in parts]}
    assert properties(schema, schema).keys() == set().union(*parts)


# ── circles, depth, width ──

CIRCLES: dict[str, dict[str, Any]] = {
    "itself": {"$ref": "#"},
    "each other": {
        "$ref": "#/$defs/A",
        "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}},
    },
    "through allOf, doubling": {
        "allOf": [{"$ref": "#"}, {"$ref": "#"}, {"allOf": [{"$ref": "#"}]}]
    },
    "through anyOf, doubling": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
    "through items": {"type": "array", "items": {"$ref": "#"}},
    "through items, many times": {
        "anyOf": [{"type": "array", "items": {"$ref": "#"}, "maxItems": n} for n in range(1, 6)]
    },
    "through properties": {"type": "object", "properties": {"parent": {"$ref": "#"}}},
}


@pytest.mark.parametrize("schema", CIRCLES.values(), ids=CIRCLES)
def test_a_schema_that_goes_round_in_circles_is_read_to_an_end(schema: dict[str, Any]) -> None:
    assert 1 <= len(alternatives(schema, schema)) <= MOST_ALTERNATIVES
    assert len(describe(schema, schema)) <= LONGEST_WORDS + 1
    assert properties(schema, schema).keys() <= {"parent"}


def test_of_many_alternatives_the_first_32_count() -> None:
    schema = {"anyOf": [{"const": n, "type": "integer"} for n in range(99)] + [{}]}
    assert [each["const"] for each in alternatives(schema, schema)] == list(range(32))


def test_alternatives_multiply_up_to_32() -> None:
    inner = {"anyOf": [{"type": "string"}, {"type": "null"}] * 10}
    assert len(alternatives({"anyOf": [inner] * 10}, {})) == 32


@pytest.mark.parametrize(("depth", "found"), [(DEEPEST, {"type": "string"}), (DEEPEST + 1, {})])
def test_alternatives_are_followed_twelve_deep_and_then_anything_goes(
    depth: int, found: dict[str, Any]
) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"anyOf": [schema]}
    assert alternatives(schema, schema) == [found]


def test_a_long_all_of_is_read_in_one_go() -> None:
    schema = {"allOf": [{"properties": {f"p{n}": {}}} for n in range(50_000)]}
    assert len(properties(schema, schema)) == 50_000


@pytest.mark.parametrize("keyword", ["allOf", "$ref"])
def test_a_deep_nest_of_merges_overflows_nothing(keyword: str) -> None:
    schema: dict[str, Any] = {"properties": {"deep": {}}}
    for _ in range(5_000):
        schema = {"allOf": [schema]}
    if keyword == "$ref":
        chain = {f"A{n}": {"$ref": f"#/$defs/A{n + 1}"} for n in range(5_000)}
        schema = {"$ref": "#/$defs/A0", "$defs": {**chain, "A5000": schema}}
    assert list(properties(schema, schema)) == ["deep"]


@pytest.mark.parametrize("keyword", ["const", "title", "format", "type", "minimum", "$ref"])
def test_a_value_nested_too_deeply_to_be_written_is_no_crash(keyword: str) -> None:
    value: list[Any] = []
    for _ in range(5_000):
        value = [value]
    for kind_of in ("string", "integer"):
        assert describe({"type": kind_of, keyword: value}, {})
    assert choices({"enum": [value], "enumNames": [value]}) == [Choice(value, "…")]


# ── references ──

ROOT: dict[str, Any] = {
    "$defs": {
        "Room": {"type": "string"},
        "a/b": {"title": "1"},
        "a~1b": {"title": "2"},
        "%": {"x": 1},
    },
    "anyOf": [{"type": "null"}, {"properties": {"deep": {"type": "integer"}}}],
    "": {"title": "empty"},
    "no": True,
}


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        ("#", ROOT),
        ("#/", {"title": "empty"}),
        ("#/$defs/Room", {"type": "string"}),
        ("#/%24defs/Room", {"type": "string"}),
        ("#/$defs/a~1b", {"title": "1"}),
        ("#/$defs/a~01b", {"title": "2"}),
        ("#/$defs/%25", {"x": 1}),
        ("#/anyOf/0", {"type": "null"}),
        ("#/anyOf/1/properties/deep", {"type": "integer"}),
    ],
)
def test_a_local_reference_points_at_an_object(ref: str, found: dict[str, Any]) -> None:
    assert pointed(ref, ROOT) == found


@pytest.mark.parametrize(
    "ref",
    [
        *("#/$defs/Hall", "#/no", "#/no/more", "#/anyOf", "#/$defs/Room/type/x"),
        *("#/anyOf/2", "#/anyOf/-1", "#/anyOf/00", "#/anyOf/x", "#/anyOf/" + "9" * 5000),
        *("", "Room", "#Room", "https://studio.example/room.json", "room.json#/$defs/Room"),
        *(None, 7, True, [], {}),
    ],
)
def test_a_reference_to_nowhere_or_elsewhere_is_empty_and_nothing_is_fetched(ref: Any) -> None:
    assert pointed(ref, ROOT) == {}
    assert alternatives({"$ref": ref, "title": "kept"}, ROOT) == [{"title": "kept"}]


def test_only_references_into_the_document_are_local() -> None:
    assert [is_local(ref) for ref in ("#", "#/a", "#a", "a#/b", "", None)] == [
        True,
        True,
        *[False] * 4,
    ]


# ── what belongs together ──

A, B = {"properties": {"a": {"type": "string"}}}, {"properties": {"b": {}}, "type": "object"}
DEFS: dict[str, Any] = {"$defs": {"A": A, "B": B, "Both": {"allOf": [A, {"$ref": "#/$defs/B"}]}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [A, B]},
        {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
        {"allOf": [{"allOf": [A]}, {"allOf": [B]}]},
        {"$ref": "#/$defs/A", "properties": {"b": {}}},
        {"$ref": "#/$defs/A", "allOf": [B]},
        {"$ref": "#/$defs/Both"},
        {"properties": {"a": {"type": "string"}}, "anyOf": [B, {"$ref": "#/$defs/B"}]},
        {"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
        {"anyOf": [A, B, "nonsense"]},
    ],
    ids=json.dumps,
)
def test_an_object_has_every_property_that_any_part_declares(schema: dict[str, Any]) -> None:
    assert properties(schema, DEFS) == {"a": {"type": "string"}, "b": {}}


def test_the_outer_and_the_earlier_word_counts_in_a_merge() -> None:
    schema = {"title": "outer", "allOf": [{"title": "1", "format": "1"}, {"format": "2", "x": 2}]}
    assert alternatives(schema, {}) == [{"title": "outer", "format": "1", "x": 2}]


def test_a_branch_says_more_than_what_it_shares_with_the_others() -> None:
    schema = {"title": "shared", "anyOf": [{"type": "string", "title": "own"}, {"type": "null"}]}
    assert alternatives(schema, {}) == [
        {"type": "string", "title": "own"},
        {"type": "null", "title": "shared"},
    ]


def test_a_broken_branch_leaves_what_it_shares_with_the_others() -> None:
    assert alternatives({"title": "t", "anyOf": [True, 7]}, {}) == [{"title": "t"}] * 2


def test_a_list_of_types_is_as_many_alternatives() -> None:
    assert [kind(each) for each in alternatives({"type": ["string", "null"]}, {})] == [
        "string",
        "null",
    ]


def test_a_list_of_choices_is_one_alternative() -> None:
    schema = {"oneOf": [{"const": "a"}, {"const": "b"}], "type": ["string", "null"]}
    assert alternatives(schema, {}) == [schema]


@pytest.mark.parametrize("schema", [None, True, False, 7, "string", [], [{}]])
def test_what_is_no_schema_allows_any_value(schema: Any) -> None:
    assert alternatives(schema, {}) == [{}]
    assert properties(schema, {}) == {}
    assert describe(schema, {}) == "any value"


# ── the parts of a schema ──


def test_a_part_of_the_wrong_type_counts_as_absent() -> None:
    broken = {"object": [], "list": {}, "null": None}
    assert [sub(broken, key) for key in (*broken, "none")] == [{}, {}, {}, {}]
    assert [items(broken, key) for key in (*broken, "none")] == [[], [], [], []]
    assert sub(broken, "list") is broken["list"]
    assert items(broken, "object") is broken["object"]


def test_what_is_required_are_names() -> None:
    assert required({"required": ["month", 7, None, "ask"]}) == ["month", "ask"]
    assert required({"required": "month"}) == []


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer"}, "integer"),
        ({"type": "integer", "properties": {}}, "integer"),
        ({"properties": {}}, "object"),
        ({"items": {}}, "array"),
        ({"prefixItems": []}, "array"),
        ({"properties": None}, "any"),
        ({"type": 7}, "any"),
        ({}, "any"),
    ],
)
def test_a_kind_is_declared_or_implied(schema: dict[str, Any], expected: str) -> None:
    assert kind(schema) == expected


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"enum": ["a", 1, None]}, [("a", "a"), (1, "1"), (None, "null")]),
        ({"enum": ["a", "b"], "enumNames": ["Ay", 2]}, [("a", "Ay"), ("b", "2")]),
        ({"enum": ["a", "b"], "enumNames": ["only one"]}, [("a", "a"), ("b", "b")]),
        ({"enum": ["a"], "const": "b"}, [("a", "a")]),
        ({"enum": []}, []),
        ({"const": None}, [(None, "null")]),
        ({"const": [1], "title": "One"}, [([1], "One")]),
        ({"const": True, "title": 7}, [(True, "true")]),
        ({"oneOf": [{"const": "a", "title": "Ay"}, {"const": "b"}]}, [("a", "Ay"), ("b", "b")]),
        ({"anyOf": [{"const": 1}]}, [(1, "1")]),
        ({"anyOf": [{"const": 1}, {"type": "string"}]}, []),
        ({"oneOf": [{"const": 1}, True]}, []),
        ({"oneOf": []}, []),
        ({"type": "string"}, []),
    ],
)
def test_choices_are_read_in_every_spelling(
    schema: dict[str, Any], expected: list[tuple[Any, str]]
) -> None:
    assert choices(schema) == expected


# ── in words ──


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({}, "any value"),
        ({"type": "date"}, "any value"),
        ({"type": "boolean"}, "true or false"),
        ({"type": "string"}, "text"),
        ({"type": "string", "format": "hostname"}, "text"),
        ({"type": "string", "format": ["email"]}, "text"),
        ({"type": "string", "format": "date"}, "a date such as 2026-09-30"),
        ({"type": "string", "maxLength": 200}, "text of at most 200 characters"),
        ({"type": "string", "minLength": 1}, "text of at least 1 character"),
        ({"type": "string", "minLength": 0}, "text"),
        ({"type": "string", "minLength": 2, "maxLength": 5}, "text of 2 to 5 characters"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "an integer from 1 to 5"),
        ({"type": "integer", "minimum": 0}, "an integer of at least 0"),
        ({"type": "number", "minimum": -1.5}, "a number of at least -1.5"),
        ({"type": "number", "maximum": 0}, "a number of at most 0"),
        ({"type": "number", "minimum": True, "maximum": "9"}, "a number"),
        ({"type": ["integer", "null"]}, "an integer or null"),
        ({"anyOf": [{"type": "string"}, {"type": "string", "title": "too"}]}, "text"),
        ({"enum": ["waitlist", "refund"]}, "one of waitlist, refund"),
        ({"const": 7}, "7"),
        ({"type": "array"}, "a list"),
        ({"type": "array", "items": True, "minItems": 0}, "a list"),
        ({"type": "array", "items": {"type": "integer"}, "maxItems": 3},
         "a list of at most 3 (an integer each)"),
        ({"type": "array", "items": {"items": {"items": {"items": {"items": {}}}}}},
         "a list (a list (a list each) each)"),
    ],
)  # fmt: skip
def test_what_is_expected_is_said_in_words(schema: dict[str, Any], expected: str) -> None:
    assert describe(schema, {}) == expected


@pytest.mark.parametrize(("count", "end"), [(MOST_LISTED, "19"), (MOST_LISTED + 1, "19, …")])
def test_of_many_choices_the_first_twenty_are_said(count: int, end: str) -> None:
    said = describe({"enum": list(range(count))}, {})
    assert said == f"one of {', '.join(map(str, range(19)))}, {end}"


def test_a_description_is_cut_however_large_the_schema_makes_it() -> None:
    loop = {"anyOf": [{"type": "array", "items": {"$ref": "#"}, "maxItems": n} for n in range(12)]}
    for schema in ({"const": "x" * 10_000}, loop):
        said = describe(schema, schema)
        assert len(said) == LONGEST_WORDS + 1
        assert said.endswith("…")


# ── what a field may be chosen from ──


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": ["a", "b"]}, ["a", "b"]),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, ["a"]),
        ({"type": "array", "items": {"anyOf": [{"const": "r"}, {"const": "g"}]}}, ["r", "g"]),
        ({"type": "array", "items": {"$ref": "#/$defs/Way"}}, ["w"]),
        ({"type": "array", "items": {"$ref": "#/$defs/Round"}}, []),
        ({"type": "array"}, []),
        ({"type": "string"}, []),
        (3, []),
    ],
)
def test_the_choices_of_a_field_or_of_its_items_are_offered(schema: Any, values: list[Any]) -> None:
    rounds = {"type": "array", "items": {"$ref": "#/$defs/Round"}}
    root = {"$defs": {"Way": {"const": "w"}, "Round": rounds}}
    assert [choice.value for choice in offered(schema, root)] == values


@pytest.mark.parametrize(
    ("schema", "counts"),
    [
        ({"enum": ["a", "b2"]}, True),
        ({"enum": ["a", " 1 "]}, False),
        ({"enum": [10, 20]}, False),
        ({"enum": ["a", "b"], "enumNames": ["A", "2"]}, False),
        ({"enum": [True, None, 1.5]}, True),
        ({}, True),
    ],
)
def test_a_choice_is_counted_only_where_no_other_has_a_number_for_a_name(
    schema: Any, counts: bool
) -> None:
    assert countable(choices(schema)) is counts
