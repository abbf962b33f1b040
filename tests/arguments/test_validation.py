"""Our validator against the `jsonschema` package, and where it means to differ."""

import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcptask.arguments import validation
from mcptask.arguments.full_validation import needs_all
from mcptask.arguments.limit import cpu_limit
from mcptask.arguments.validation import problem
from mcptask.errors import UsageError

WORDS = st.text("ab1", max_size=3)
NAMES = st.sampled_from(["a", "b", "$ref"])
NUMBERS = st.integers(-2, 4) | st.sampled_from([-1.5, 0.0, 1.0, 2.5, 1e20, 10**20])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
SIZES = st.integers(0, 3) | st.just(2.0)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
REFS = st.sampled_from(
    ["#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/anyOf/0", "#/x-other/where", "#/not/there"]
)
# In the order in which our validator looks at them.
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(VALUES, max_size=3),
    "const": VALUES,
    "minimum": NUMBERS,
    "maximum": NUMBERS,
    "exclusiveMinimum": NUMBERS,
    "exclusiveMaximum": NUMBERS,
    "minLength": SIZES,
    "maxLength": SIZES,
    "minItems": SIZES,
    "maxItems": SIZES,
    "pattern": st.sampled_from(["a", "^a", "b$", "^[ab]{2}$", r"\d", "(a|b)+1", ""]),
    "format": st.sampled_from(["email", "date", "unheard-of"]),
    "required": st.lists(NAMES, max_size=2, unique=True),
}
REF = {"$ref": REFS}
RARE: dict[str, st.SearchStrategy[Any]] = {
    "uniqueItems": st.booleans(),
    "minProperties": SIZES,
    "multipleOf": st.integers(1, 3),
}


def schemas(plain: dict[str, Any]) -> st.SearchStrategy[Any]:
    def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        branches = st.lists(inner, min_size=1, max_size=3)
        return some_of(
            {
                **plain,
                **dict.fromkeys(("allOf", "anyOf", "oneOf"), branches),
                "items": inner,
                "properties": st.dictionaries(NAMES, inner, max_size=2),
                "additionalProperties": inner,
            }
        )

    return st.recursive(st.booleans() | some_of(plain), wider, max_leaves=8)


def some_of(keywords: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Objects with up to three of the keywords, in the order given."""

    def objects(names: set[str]) -> st.SearchStrategy[Any]:
        unordered = st.fixed_dictionaries({name: keywords[name] for name in names})
        return unordered.map(lambda it: {name: it[name] for name in keywords if name in it})

    return st.sets(st.sampled_from(list(keywords)), max_size=3).flatmap(objects)


def roots(plain: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Whole schemas, with parts that a `$ref` may point at, where they belong and elsewhere."""
    parts = schemas(plain)
    return st.builds(
        lambda schema, a, b, elsewhere: {
            **(schema if isinstance(schema, dict) else {"allOf": [schema]}),
            "$defs": {"a": a, "b": b},
            "x-other": {"where": elsewhere},
        },
        parts,
        parts,
        parts,
        parts,
    )


def theirs(value: Any, schema: Any) -> str:
    kind = jsonschema.Draft202012Validator
    kind.check_schema(schema)
    try:
        fits = kind(schema, registry=Registry()).is_valid(value)
    except (Unresolvable, RecursionError):
        return "unusable"
    return "fits" if fits else "does not fit"


def ours(value: Any, schema: Any) -> str:
    try:
        return "fits" if problem(value, schema, "x") is None else "does not fit"
    except UsageError:
        return "unusable"


@settings(max_examples=300)
@given(VALUES, roots(PLAIN))
def test_we_and_jsonschema_agree_on_the_common_keywords(value: Any, schema: Any) -> None:
    assert not needs_all(schema)
    assert ours(value, schema) == theirs(value, schema)


@settings(max_examples=300)
@given(VALUES, roots({**PLAIN, **REF, **RARE}))
def test_we_and_jsonschema_agree_where_a_schema_refers_to_its_parts_and_on_rare_keywords(
    value: Any, schema: Any
) -> None:
    verdicts = {ours(value, schema), theirs(value, schema)}
    # A part that cannot be used (a `$ref` in a circle, say) is reached by one and not by the other.
    assert len(verdicts) == 1 or "unusable" in verdicts


@pytest.mark.parametrize(
    ("value", "schema", "expected"),
    [
        ([1, 1.0], {"uniqueItems": True}, "does not fit"),
        ([1, True], {"uniqueItems": True}, "fits"),
        ([[1], [1.0]], {"uniqueItems": True}, "does not fit"),
        (1, {"enum": []}, "does not fit"),
        (1, {"enum": [True]}, "does not fit"),
        (1, {"const": 1.0}, "fits"),
        (10**20, {"maximum": 1e20}, "fits"),
        (1.0, {"type": "integer"}, "fits"),
        ({"a": 1}, {"const": {"a": True}}, "does not fit"),
        ("e\u0301", {"maxLength": 1}, "does not fit"),
        (1, {"$ref": "#/$defs/no", "$defs": {"no": False}}, "does not fit"),
        (1, {"$ref": "#/$defs/gone"}, "unusable"),
        (1, {"$ref": "#/$defs/gone", "not": False}, "unusable"),
        (1, {"$ref": "#/$defs/list", "$defs": {"list": [1]}}, "fits"),
        (1, {"anyOf": [True, {"$ref": "#/$defs/gone"}]}, "fits"),
        (1, {"$ref": "#/x/there", "x": {"there": {"not": {}}}}, "does not fit"),
        (1, {"$ref": "#a", "$defs": {"x": {"$anchor": "a", "type": "null"}}}, "does not fit"),
        (
            1,
            {
                "$ref": "#/$defs/inner",
                "$defs": {
                    "b": {"type": "integer"},
                    "inner": {
                        "$id": "urn:inner",
                        "$ref": "#/$defs/b",
                        "$defs": {"b": {"type": "null"}},
                    },
                },
            },
            "does not fit",
        ),
    ],
)
def test_the_corners_of_json_schema_are_kept(value: Any, schema: Any, expected: str) -> None:
    assert ours(value, schema) == expected


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "text"},
        {"type": ["null", "text"]},
        {"type": 5},
        {"enum": "abc"},
        {"anyOf": []},
        {"minLength": "5"},
        {"minimum": None},
        {"pattern": 5},
        {"format": []},
        {"required": "a"},
        {"required": [1]},
        {"properties": []},
        {"additionalProperties": None},
        {"exclusiveMinimum": True, "minimum": 3},
        {"$schema": "http://json-schema.org/draft-07/schema#", "minLength": None},
    ],
)
def test_a_malformed_keyword_counts_as_absent(schema: Any) -> None:
    with pytest.raises(jsonschema.SchemaError):
        jsonschema.Draft202012Validator.check_schema(schema)
    assert problem("ab", schema, "x") is None
    assert problem({"a": 3}, schema, "x") is None


@pytest.mark.parametrize("rare", [{}, {"not": False}])
def test_formats_hold_only_where_they_are_asked_for(rare: Any) -> None:
    schema = {"properties": {"at": {"format": "date"}}, **rare}
    assert problem({"at": "tomorrow"}, schema, "") is None
    assert problem({"at": "tomorrow"}, schema, "", formats=True) is not None
    assert problem({"at": "2026-11-30"}, schema, "", formats=True) is None


HOSTILE = ["(a+)+$", "(a|a)*$", r"^(\w+\s?)*$"]


def doubling(deep: int) -> dict[str, Any]:
    """Small, and 2 ** `deep` steps to check."""
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(deep)}
    return {"$ref": "#/$defs/d0", "$defs": {**steps, f"d{deep}": {}}}


@pytest.mark.parametrize("rare", [{}, {"not": False}])
@pytest.mark.parametrize(
    "schema",
    [*({"pattern": pattern} for pattern in HOSTILE), doubling(40)],
    ids=[*HOSTILE, "doubling"],
)
def test_a_schema_that_takes_for_ever_is_given_up(
    schema: Any, rare: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem("x", {"not": False}, "x")  # imports jsonschema, which takes a while
    monkeypatch.setattr(validation, "SECONDS", 0.1)
    with pytest.raises(UsageError) as refused:
        problem("a" * 60 + "!", {**schema, **rare}, "x", way_out="send it unchecked")
    assert "takes too long to check" in refused.value.message
    assert refused.value.hint == "send it unchecked"


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        ({"minLength": 1}, "", "at least 1 character"),
        ({"maxLength": 1}, "ab", "at most 1 character"),
        ({"minLength": 2}, "a", "at least 2 characters"),
        ({"maxItems": 1}, [1, 2], "at most 1 of them"),
    ],
)
def test_a_bound_is_told_in_the_words_of_a_form(schema: Any, value: Any, told: str) -> None:
    assert str(problem(value, schema, "name")).endswith(told)


def test_a_bound_leaves_no_timer_and_no_handler_behind() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(TimeoutError), cpu_limit(0.01):
        all(n >= 0 for n in count())
    with cpu_limit(60):
        pass
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_outside_the_main_thread_a_check_goes_on_unbounded() -> None:
    with ThreadPoolExecutor() as pool:
        assert pool.submit(problem, "b", {"pattern": "a"}, "x").result() is not None


def test_a_doubtful_pattern_warns_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert problem("[", {"pattern": "[[a]"}, "x") is None
    assert capsys.readouterr().err == ""
