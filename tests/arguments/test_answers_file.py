"""`--answers FILE`: what makes a file of answers, and what is refused with its name."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.arguments.answers import read_answers
from mcptask.errors import UsageError

TEXT = {"type": "string"}
ASKS: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {
        "message": "What now?",
        "requestedSchema": {
            "type": "object",
            "properties": {"action": TEXT},
            "required": ["action"],
        },
    },
}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", 'action = "keep"'),
        ("a.JSON", '{"action": "keep"}'),
        ("a.txt", ' \n{"action": "keep"}'),
        ("a.txt", '\ufeff{"action": "keep"}'),
        ("a.toml", '\ufeffaction = "keep"'),
        ("-", '{"action": "keep"}'),
        ("-", '# mine\r\naction = "keep"\r\n'),
    ],
)
def test_toml_and_json_are_told_apart_by_the_name_else_by_the_text(name: str, text: str) -> None:
    content = {"action": "keep"}
    assert read_answers(text, name).to({"q": ASKS}) == {
        "q": {"action": "accept", "content": content}
    }


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.toml", "x = ", "a.toml: not valid TOML"),
        ("a.toml", "x = 1\nx = 2", "a.toml: not valid TOML"),
        ("a.toml", "x = [1, inf]", "inf is no JSON number"),
        ("a.toml", "x = nan", "nan is no JSON number"),
        ("a.toml", "x = " + "[" * 5000, "a.toml: "),
        ("a.toml", '{"x": 1}', "a.toml: not valid TOML"),
        ("a.json", "x = 1", "a.json: the answers: not valid JSON"),
        ("a.json", "[1]", "a.json: the answers must be a JSON object"),
        ("a.json", '{"x": 1, "x": 2}', "twice"),
        ("-", "{", "standard input: the answers: not valid JSON"),
        ("a.toml", "match = 3", "match is a reserved word"),
        ("a.toml", 'match = "decline"', "match is a reserved word"),
        ("a.toml", 'match = { action = "keep" }', "match is a reserved word"),
        ("a.toml", "match = [1]", "match is a reserved word"),
        ("a.toml", '[[match]]\nmessage = "x"', "each [[match]] has"),
        ("a.toml", "[[match]]\nmessage = 3\nanswer = {}", "each [[match]] has"),
        ("a.toml", '[[match]]\nmessage = "x"\nanswer = {}\nkey = 1', "each [[match]] has"),
        ("a.toml", '[[match]]\nmessage = "x"\nanswer = 3', "the answer must be a table"),
        ("a.toml", '[[match]]\nmessage = "("\nanswer = {}', "is no regular expression"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_with_its_name(
    name: str, text: str, says: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read_answers(text, name)
    assert says in refused.value.message


def test_what_matched_nothing_is_told() -> None:
    file = read_answers(
        'aprove = { a = 1 }\nnoet = 1\n[[match]]\nmessage = "z+"\nanswer = "cancel"', "a.toml"
    )
    assert file.to({"approve": ASKS}) == {}
    assert file.unused() == ("aprove", "noet", "[[match]] 'z+'")


def test_a_search_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcptask.arguments.answers._SECONDS", 0.05)
    request = {**ASKS, "params": {**ASKS["params"], "message": "a" * 60}}
    file = read_answers('[[match]]\nmessage = "(a+)+$x"\nanswer = {}', "answers.toml")
    with pytest.raises(UsageError) as refused:
        file.to({"q": request})
    assert "takes too long" in refused.value.message
    assert refused.value.message.startswith("answers.toml: ")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
requests_ = st.fixed_dictionaries(
    {"method": st.sampled_from(["elicitation/create", "roots/list", 3])},
    optional={
        "params": json_values
        | st.fixed_dictionaries(
            {},
            optional={
                "mode": st.sampled_from(["url", "form", 1]),
                "url": json_values,
                "message": json_values,
                "requestedSchema": json_values
                | st.fixed_dictionaries(
                    {"properties": st.dictionaries(st.sampled_from("abq"), json_values)},
                    optional={"required": json_values},
                ),
            },
        )
    },
)


@given(
    st.dictionaries(st.sampled_from("abq"), json_values | st.sampled_from(["accept", "cancel"])),
    st.dictionaries(st.sampled_from("qr"), requests_),
)
def test_whatever_a_server_asks_is_answered_with_json_left_or_refused(
    entries: dict[str, Any], requests: dict[str, Any]
) -> None:
    with suppress(UsageError):
        found = read_answers(json.dumps(entries), "a.json").to(requests)
        assert found.keys() <= requests.keys()
        json.dumps(found, allow_nan=False)
