import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.render.answer_line import answer_line, answers_entry, shell
from mcptask.render.text import clean


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
        ("approve", APPROVE, 1, "mcptask update 7 action=waitlist  # or refund, keep"),
        ("a b", APPROVE, 2, "mcptask update 7 --key 'a b' action=waitlist  # or refund, keep"),
        ("-k", APPROVE, 2, "mcptask update 7 --key=-k action=waitlist  # or refund, keep"),
        ("a\nb", form({}), 2, r"mcptask update 7 --key $'a\U0000000ab' --accept"),
        ("u", URL, 1, "mcptask update 7 --accept"),
        ("q", form({"n": {"type": "integer"}}), 1, "mcptask update 7 n=NUMBER"),
        ("q", form({"b": {"type": "boolean"}}), 1, "mcptask update 7 b='true|false'"),
        ("q", form({"b c": {}}, "b c"), 1, "mcptask update 7 'b c'=TEXT"),
        ("q", form({"-b": {}}), 2, "mcptask update --key q -- 7 -b=TEXT"),
        ("q", form({"f": SEVERAL}), 1, "mcptask update 7 f=r  # or g"),
        ("q", form({"f": {"enum": ["a b", 1, True]}}), 1, "mcptask update 7 f='a b'  # or 1, true"),
        (
            "q",
            form({"f": {"enum": list("abcdefgh")}}),
            1,
            "mcptask update 7 f=a  # or b, c, d, e, f, '…'",
        ),
        ("q", "broken", 1, """mcptask update 7 --responses '{"q": …}'"""),
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
    assert line == f"mcptask update tsk action=waitlist {where}  # or refund, keep"
    assert answer_line(None, "-t", "k", URL, 1, where) == f"mcptask update --accept {where} -- -t"
    responses = """--responses '{"k": …}'"""
    assert answer_line(None, "t", "k", None, 1, where) == f"mcptask update t {responses} {where}"


def test_choices_of_several_fields_are_told_apart() -> None:
    two = form({"action": ACTIONS, "size": {"enum": ["s", "l"]}, "n": {"type": "integer"}})
    assert answer_line(7, "t", "k", two, 1) == (
        "mcptask update 7 action=waitlist size=s n=NUMBER  # action or refund, keep · size or l"
    )


@pytest.mark.parametrize("shell_", ["bash", "sh"])
@pytest.mark.parametrize(
    "evil", ["$(touch x)", "; touch x", "a`touch x`", "| touch x #", "\ntouch x"]
)
def test_no_choice_of_a_server_runs_where_comments_are_none(
    shell_: str, evil: str, tmp_path: Path
) -> None:
    """zsh knows no comments at its prompt; without the `#` the line is what it reads there."""
    options = {"enum": [evil, "b", evil]}
    line = answer_line(7, "t", "k", form({"f": options, evil: options}, "f", evil), 1)
    bare = line.replace("mcptask", "true").replace("  # ", "  ")
    subprocess.run([shell_, "-c", bare], cwd=tmp_path, check=True)
    assert not (tmp_path / "x").exists()


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


@pytest.mark.parametrize(
    "text", ["##[error]x's", "a ##vso[b]\\", "travis_fold:start:x", "\x1b'##[\n"]
)
def test_what_a_ci_system_would_obey_is_spelled_so_that_bash_reads_the_same(text: str) -> None:
    word = shell(text)
    assert clean(word) == word
    read = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True, check=True)
    assert read.stdout.decode() == text
