import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.arguments.responses import filled, form_of
from mcptask.render.answer_line import answer_line, answers_entry, serving_option, shell
from mcptask.render.text import clean


def form(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"method": "elicitation/create", "params": {"requestedSchema": schema}}


ACTIONS = {"type": "string", "enum": ["waitlist", "refund", "keep"]}
SEVERAL = {"type": "array", "items": {"anyOf": [{"const": "r"}, {"const": "g"}]}}
VOICE = {"method": "elicitation/create", "params": {"mode": "voice"}}
APPROVE = form({"action": ACTIONS, "note": {"type": "string"}}, "action")
URL = {"method": "elicitation/create", "params": {"mode": "url", "url": "https://x.example/"}}


@pytest.mark.parametrize(
    ("key", "request_", "open_keys", "line"),
    [
        ("approve", APPROVE, 1, "mcptask update 7 action=waitlist"),
        ("a b", APPROVE, 2, "mcptask update 7 --key 'a b' action=waitlist"),
        ("-k", APPROVE, 2, "mcptask update 7 --key=-k action=waitlist"),
        ("a\nb", form({}), 2, r"mcptask update 7 --key $'a\U0000000ab' --accept"),
        ("u", URL, 1, "mcptask update 7 --accept"),
        ("q", form({"n": {"type": "integer"}}), 1, "mcptask update 7 n=NUMBER"),
        ("q", form({"b": {"type": "boolean"}}), 1, "mcptask update 7 b='true|false'"),
        ("q", form({"b c": {}}, "b c"), 1, "mcptask update 7 'b c'=TEXT"),
        ("q", form({"-b": {}}), 2, "mcptask update --key q -- 7 -b=TEXT"),
        ("q", form({"f": SEVERAL}), 1, "mcptask update 7 f=r"),
        ("q", form({"f": {"type": "object"}}), 1, "mcptask update 7 f:='{…}'"),
        ("q", form({"f": {"items": {"type": "object"}}}), 1, "mcptask update 7 f:='[{…}]'"),
        ("q", form({"f": {"enum": ["a b", 1, True]}}), 1, "mcptask update 7 f='a b'"),
        (
            "q",
            form({"f": {"enum": list("abcdefgh")}}),
            1,
            "mcptask update 7 f=a",
        ),
        ("q", "broken", 1, """mcptask update 7 --responses '{"q": …}'"""),
        ("q", VOICE, 1, """mcptask update 7 --responses '{"q": …}'"""),
        ("q", {"method": "elicitation/create"}, 1, """mcptask update 7 --responses '{"q": …}'"""),
        ('a"b', "broken", 1, r"""mcptask update 7 --responses '{"a\"b": …}'"""),
        ("a\nb", "broken", 1, r"""mcptask update 7 --responses '{"a\nb": …}'"""),
    ],
)
def test_the_line_to_type_is_spelled_out(
    key: str, request_: Any, open_keys: int, line: str
) -> None:
    assert answer_line(7, "tsk", key, request_, open_keys) == line


def test_a_task_that_is_not_stored_is_found_by_the_options_that_go_with_it() -> None:
    where = "-s https://s.example/mcp --bearer-env T"
    line = answer_line(None, "tsk", "k", APPROVE, 1, where)
    assert line == f"mcptask update tsk action=waitlist {where}"
    assert answer_line(None, "-t", "k", URL, 1, where) == f"mcptask update --accept {where} -- -t"
    responses = """--responses '{"k": …}'"""
    assert answer_line(None, "t", "k", None, 1, where) == f"mcptask update t {responses} {where}"


def test_of_several_fields_each_has_its_example() -> None:
    text = {"type": "string"}
    formats = {each: {**text, "format": each} for each in ("email", "uri", "date", "date-time")}
    several = form({"action": ACTIONS, "size": {"enum": ["s", "l"]}, **formats})
    assert answer_line(7, "t", "k", several, 1) == (
        "mcptask update 7 action=waitlist size=s email=EMAIL uri=URL date=DATE date-time=TIME"
    )


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "integer", "default": 3, "minimum": 1, "maximum": 12}, ""),
        ({"type": "number", "default": 0}, ""),
        ({"type": "boolean", "default": False}, ""),
        ({"type": "string", "default": "ab", "minLength": 2}, ""),
        ({"enum": ["a", "b"], "default": "b"}, ""),
        ({"type": "integer", "default": 0, "minimum": 1}, " f=NUMBER"),
        ({"type": "integer", "default": 13, "maximum": 12}, " f=NUMBER"),
        ({"type": "integer", "default": True}, " f=NUMBER"),
        ({"type": "integer", "default": 3, "minimum": "1"}, " f=NUMBER"),
        ({"type": "string", "default": "ab", "minLength": 3}, " f=TEXT"),
        ({"type": "string", "default": "ab", "maxLength": 1}, " f=TEXT"),
        ({"type": "string", "default": "2026", "format": "date"}, " f=DATE"),
        ({"type": "string", "default": None}, " f=TEXT"),
        ({"enum": [1, 2], "default": True}, " f=1"),
    ],
)
def test_a_required_field_is_left_out_where_its_default_surely_fits(
    schema: dict[str, Any], given: str
) -> None:
    both = form({"f": schema, "n": {"type": "integer"}}, "f", "n")
    assert answer_line(7, "t", "q", both, 1) == f"mcptask update 7{given} n=NUMBER"
    assert given or "f" in filled({"n": 1}, form_of(both))


def test_of_a_form_that_fills_in_all_that_it_requires_all_of_that_is_asked() -> None:
    name = {"type": "string", "default": "Ada"}
    line = answer_line(7, "t", "q", form({"name": name, "note": {}}, "name"), 1)
    assert line == "mcptask update 7 name=TEXT"


def test_the_json_of_fields_in_fields_is_begun() -> None:
    inner = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "n": {}},
        "required": ["name"],
    }
    nested = form({"band": inner, "songs": {"items": inner}})
    assert answer_line(7, "t", "q", nested, 1) == (
        """mcptask update 7 band:='{"name": …}' songs:='[{"name": …}]'"""
    )
    assert answers_entry("q", nested) == "q = { band = { name = … }, songs = [{ name = … }] }"


@pytest.mark.parametrize("name", ["", "a=b", "a:", ":"])
def test_what_cannot_be_typed_as_name_and_value_is_given_as_json(name: str) -> None:
    line = answer_line(7, "t", "q", form({"ok": {}, name: {}}, name), 2)
    content = '{"action": "accept", "content": {%s: …}}' % json.dumps(name)  # noqa: UP031
    assert line == f"""mcptask update 7 --responses '{{"q": {content}}}'"""
    assert (
        answer_line(7, "t", "q", form({"ok": {}, name: {}}, "ok"), 1) == "mcptask update 7 ok=TEXT"
    )


def test_a_form_that_requires_what_it_does_not_list_is_answered_as_json() -> None:
    line = answer_line(7, "t", "q", form({"a": {}}, "a", "b"), 1)
    assert "--responses" in line


def test_a_choice_that_would_be_read_as_something_else_is_json() -> None:
    at = {"enum": ["@home", "away"]}
    assert answer_line(7, "t", "q", form({"f": at}), 1) == """mcptask update 7 f:='"@home"'"""
    several = form({"f": {"type": "array", "items": at}})
    assert answer_line(7, "t", "q", several, 1) == """mcptask update 7 f:='["@home"]'"""
    square = form({"f": {"items": {"enum": ["[x]"]}}})
    assert answer_line(7, "t", "q", square, 1) == """mcptask update 7 f:='["[x]"]'"""


@pytest.mark.parametrize(
    ("request_", "option"),
    [
        (APPROVE, None),
        (URL, None),
        ({"method": "roots/list"}, "--root PATH"),
        ({"method": "sampling/createMessage"}, "--answer-with COMMAND"),
        (VOICE, "--answer-with COMMAND"),
        ("broken", "--answer-with COMMAND"),
    ],
)
def test_what_no_words_answer_names_the_option_that_does_a12_14(
    request_: Any, option: str | None
) -> None:
    assert serving_option(request_) == option


@pytest.mark.parametrize("shell_", ["bash", "sh"])
@pytest.mark.parametrize(
    "evil", ["$(touch x)", "; touch x", "a`touch x`", "| touch x #", "\ntouch x", "@x; touch x"]
)
def test_no_word_of_a_server_runs_in_a_shell(shell_: str, evil: str, tmp_path: Path) -> None:
    options = {"enum": [evil, "b", evil]}
    line = answer_line(7, "t", "k", form({"f": options, evil: options}, "f", evil), 1)
    subprocess.run([shell_, "-c", line.replace("mcptask", "true")], cwd=tmp_path, check=True)
    assert not (tmp_path / "x").exists()


def test_the_line_is_plain_words() -> None:
    line = answer_line(7, "t", "k", APPROVE, 2)
    assert shlex.split(line) == ["mcptask", "update", "7", "--key", "k", "action=waitlist"]


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
    typed = "=" not in name and not name.endswith(":")
    if typed and (key + name).isprintable() and not (key + name).count("-"):
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


@pytest.mark.parametrize(
    "text", ["##[error]x's", "a ##vso[b]\\", "travis_fold:start:x", "\x1b'##[\n"]
)
def test_what_a_ci_system_would_obey_is_spelled_so_that_bash_reads_the_same(text: str) -> None:
    word = shell(text)
    assert clean(word) == word
    read = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert read.stdout.decode() == text
