import json
import shlex
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.render.answer_line import answer_line, answers_entry


def form(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"method": "elicitation/create", "params": {"requestedSchema": schema}}


ACTIONS = {"type": "string", "enum": ["waitlist", "refund", "keep"]}
SEVERAL = {"type": "array", "items": {"anyOf": [{"const": "r"}, {"const": "g"}]}}
APPROVE = form({"action": ACTIONS, "note": {"type": "string"}}, "action")
URL = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://x.example/"}}


@pytest.mark.parametrize(
    ("key", "request_", "open_keys", "line"),
    [
        ("approve", APPROVE, 1, "mcptask update 7 action='waitlist|refund|keep'"),
        ("a b", APPROVE, 2, "mcptask update 7 --key 'a b' action='waitlist|refund|keep'"),
        ("-k", APPROVE, 2, "mcptask update 7 --key=-k action='waitlist|refund|keep'"),
        ("a\nb", form({}), 2, r"mcptask update 7 --key $'a\U0000000ab' --accept"),
        ("u", URL, 1, "mcptask update 7 --accept"),
        ("q", form({"n": {"type": "integer"}}), 1, "mcptask update 7 n=NUMBER"),
        ("q", form({"b": {"type": "boolean"}}), 1, "mcptask update 7 b='true|false'"),
        ("q", form({"b c": {}}, "b c"), 1, "mcptask update 7 'b c'=TEXT"),
        ("q", form({"-b": {}}), 2, "mcptask update --key q -- 7 -b=TEXT"),
        ("q", form({"f": SEVERAL}), 1, "mcptask update 7 f='r|g'"),
        ("q", form({"f": {"enum": ["a b", 1, True]}}), 1, "mcptask update 7 f='a b|1|true'"),
        ("q", form({"f": {"enum": list("abcdefgh")}}), 1, "mcptask update 7 f='a|b|c|d|e|f|…'"),
        ("q", "broken", 1, """mcptask update 7 --responses '{"q": …}'"""),
        ('a"b', "broken", 1, r"""mcptask update 7 --responses '{"a\"b": …}'"""),
        ("a\nb", "broken", 1, r"""mcptask update 7 --responses '{"a\nb": …}'"""),
    ],
)
def test_the_line_to_type_is_spelled_out(
    key: str, request_: Any, open_keys: int, line: str
) -> None:
    assert answer_line(7, "tsk", key, request_, open_keys) == line


@pytest.mark.parametrize(
    ("request_", "entry"),
    [
        (APPROVE, 'q = { action = "waitlist|refund|keep" }'),
        (
            form({"n": {"type": "integer"}, "b": {"type": "boolean"}}),
            "q = { n = NUMBER, b = true|false }",
        ),
        (form({"b c": {}}), 'q = { "b c" = "TEXT" }'),
        (form({"f": SEVERAL}), 'q = { f = ["r|g"] }'),
        (form({}), "q = {}"),
        (URL, 'q = "accept"'),
        ({"method": "roots/list"}, "q = { … }"),
        ("broken", "q = { … }"),
    ],
)
def test_the_entry_of_an_answers_file_is_spelled_out(request_: Any, entry: str) -> None:
    assert answers_entry("q", request_) == entry


@given(st.text(min_size=1))
def test_the_key_of_a_whole_answer_is_json(key: str) -> None:
    line = answer_line(7, "tsk", key, None, 1)
    *_, responses = shlex.split(line)
    assert list(json.loads(responses.removesuffix("…}") + "{}}")) == [key]


@given(st.text(min_size=1), st.text(min_size=1))
def test_the_line_to_type_is_one_line_and_keeps_names_apart(key: str, name: str) -> None:
    line = answer_line(None, "tsk", key, form({name: {}}, name), 2)
    assert len(line.splitlines()) == 1
    if (key + name).isprintable() and not (key + name).count("-"):
        assert shlex.split(line)[:5] == ["mcptask", "update", "tsk", "--key", key]
        assert shlex.split(line)[5] == f"{name}=TEXT"


@pytest.mark.parametrize(
    ("url", "word"),
    [("https://a.example/", "accept"), ("javascript:alert(1)", "decline"), (None, "decline")],
)
def test_what_cannot_be_agreed_to_is_not_offered_a12_13(url: str | None, word: str) -> None:
    asked = {"method": "elicitation/create", "params": {"mode": "url", "url": url}}
    assert answer_line(7, "t", "k", asked, 1) == f"mcptask update 7 --{word}"
    assert answers_entry("k", asked) == f'k = "{word}"'
