"""What FastMCP's tasks ask, answered where nobody types: from a file, by a command, from `--root`.

FastMCP makes a new key for each question, asks whatever was declared, and takes whatever it is told: what
does not fit must not leave, and nothing twice.
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.interop.asking import Answered, accepted, asked, each_once, told
from tests.interop.conftest import Cli, Follow

pytestmark = pytest.mark.interop

Front = tuple[str, str]

ROUNDS = """\
why = "paint"
[[match]]
message = "^Who"
answer = { who = "Kim é" }
"""
SEVERAL = 'room = "b"\nnote = "first come"\n'
EVERYTHING = {
    "name": "Kim",
    "mail": "kim@example.org",
    "page": "https://example.org/a?b=1",
    "day": "2026-09-12",
    "moment": "2026-09-12T09:00:00Z",
    "seats": 12,
    "price": 1.5,
    "quiet": True,
    "size": "large",
    "floor": "1",
    "light": "s",
    "days": ["mon", "wed"],
    "extras": ["cake"],
}


@pytest.fixture
def answers(tmp_path: Path) -> Callable[[str], tuple[str, str]]:
    """The options for a file of answers with this text."""

    def write(text: str) -> tuple[str, str]:
        path = tmp_path / "answers"
        path.write_text(text, "utf-8")
        return "--answers", str(path)

    return write


Answers = Callable[[str], tuple[str, str]]


# ── from a file ──────────────────────────────────────────────────────────────────────────────────


def test_a_file_answers_one_round_after_the_other_by_message_and_by_field_a12_2(
    mcptask: Cli, front: Front, answers: Answers, answered: Answered
) -> None:
    run = mcptask("call", "ask_twice", "--wait", "--json", *answers(ROUNDS), *front)
    assert told(run) == {"why": accepted(why="paint")}
    assert each_once(answered()) == [accepted(who="Kim é"), accepted(why="paint")]


def test_what_the_file_lacks_is_left_and_what_it_has_is_sent_a12_6(
    mcptask: Cli, front: Front, answers: Answers, answered: Answered
) -> None:
    run = mcptask("call", "ask_several", "--wait", "--json", *answers(SEVERAL), *front)
    assert list(asked(run)) == ["How many?"]
    sent = each_once(answered())
    assert sorted(sent, key=str) == [accepted(note="first come"), accepted(room="b")]


def test_a_second_command_answers_what_the_first_one_left_and_no_more_a12_5(
    mcptask: Cli, url: str, answers: Answers, answered: Answered
) -> None:
    given = answers(SEVERAL)
    asked(mcptask("call", "ask_several", "--wait", "--json", *given, "--server", url))
    run = mcptask("watch", "last", "--accept-defaults", "--json", *given)
    assert told(run) == {
        "room": accepted(room="b"),
        "note": accepted(note="first come"),
        "count": accepted(count=3),
    }
    assert len(each_once(answered())) == 3


@pytest.mark.parametrize("write", [json.dumps, None], ids=["JSON", "TOML"])
def test_a_file_fills_every_kind_of_field_with_its_own_type_a12_12(
    mcptask: Cli, front: Front, answers: Answers, write: Callable[[Any], str] | None
) -> None:
    lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in EVERYTHING.items())
    given = answers(write(EVERYTHING) if write else lines)
    run = mcptask("call", "ask_everything", "--wait", "--json", *given, *front)
    assert told(run) == {"all": accepted(**EVERYTHING)}


@pytest.mark.parametrize(
    "entries",
    [
        {"name": "K"},
        {"mail": "kim"},
        {"day": "12.9.2026"},
        {"seats": 13},
        {"quiet": "yes"},
        {"size": "medium"},
        {"days": []},
        {"extras": ["tea", "cake"]},
    ],
    ids=lambda entries: str(*entries),
)
def test_a_value_that_does_not_fit_never_leaves_and_is_named_a12_12(
    mcptask: Cli, url: str, answers: Answers, answered: Answered, entries: dict[str, Any]
) -> None:
    given = answers(json.dumps(EVERYTHING | entries))
    run = mcptask("call", "ask_everything", "--wait", *given, "--server", url)
    assert run.rc in (2, 3), run
    assert str(*entries) in run.stderr
    assert answered() == []


def test_an_entry_that_no_question_wanted_is_told_at_the_end(
    mcptask: Cli, front: Front, answers: Answers
) -> None:
    given = answers('color = "red"\n' + ROUNDS)
    run = mcptask("call", "ask_twice", "--wait", "--json", *given, *front)
    assert told(run)
    (warning,) = run.json["warnings"]
    assert "color" in warning
    assert "why" not in warning


# ── refused ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tool", ["ask_several", "ask_url"])
def test_all_is_declined_where_that_is_wanted_a12_13(
    mcptask: Cli, front: Front, answered: Answered, tool: str
) -> None:
    run = mcptask("call", tool, "--wait", "--json", "--decline-all", *front)
    assert {each["action"] for each in told(run).values()} == {"decline"}
    assert len(each_once(answered())) == len(told(run))


@pytest.mark.parametrize("word", ["decline", "cancel"])
def test_a_file_refuses_a_question_by_its_message(
    mcptask: Cli, front: Front, answers: Answers, answered: Answered, word: str
) -> None:
    given = answers(f'[[match]]\nmessage = "fit nowhere"\nanswer = "{word}"\n')
    run = mcptask("call", "ask", "--wait", *given, *front)
    assert (run.rc, run.stdout) == (0, "left as it is\n")
    assert each_once(answered()) == [{"action": word}]


# ── addresses, models and roots: only by what was meant for them ─────────────────────────────────


def test_no_file_and_no_default_agrees_to_an_address_a12_13(
    mcptask: Cli, url: str, answers: Answers, answered: Answered
) -> None:
    agreeing = answers('action = "accept"\n[[match]]\nmessage = "Sign"\nanswer = {}\n')
    words = ("--accept-defaults", "--json", *agreeing)
    run = mcptask("call", "ask_url", "--wait", *words, "--server", url)
    assert list(asked(run)) == ["Sign in to the ledger"]
    assert answered() == []
    run = mcptask("update", "last", "--accept", "--wait", "--json")
    assert told(run) == {"sign": {"action": "accept"}}
    assert each_once(answered()) == [{"action": "accept"}]


def test_a_model_is_asked_by_a_command_only_a12_14(
    mcptask: Cli, front: Front, tmp_path: Path, answered: Answered
) -> None:
    program = tmp_path / "model.py"
    program.write_text(
        "import json, sys\n"
        "asked = json.load(sys.stdin)['params']['messages'][0]['content']['text']\n"
        "text = {'type': 'text', 'text': asked.upper()}\n"
        "json.dump({'role': 'assistant', 'content': text, 'model': 'm'}, sys.stdout)\n"
    )
    command = shlex.join([sys.executable, str(program)])
    run = mcptask("call", "ask_model", "--wait", "--json", "--answer-with", command, *front)
    draft = told(run)["draft"]
    assert (draft["content"]["text"], draft["model"]) == ("NAME THE STUDIO.", "m")
    assert len(each_once(answered())) == 1


def test_roots_are_those_that_were_named_a12_14(
    mcptask: Cli, front: Front, tmp_path: Path, answered: Answered
) -> None:
    folder = tmp_path / "my files"
    folder.mkdir()
    run = mcptask("call", "ask_roots", "--wait", "--json", "--root", str(folder), *front)
    (root,) = told(run)["where"]["roots"]
    assert (root["uri"], root["name"]) == (folder.as_uri(), "my files")
    assert len(each_once(answered())) == 1


@pytest.mark.parametrize("tool", ["ask_model", "ask_roots"])
def test_what_nobody_can_answer_here_is_left_unasked_for_a12_14(
    mcptask: Cli, front: Front, answered: Answered, tool: str
) -> None:
    asked(mcptask("call", tool, "--wait", "--json", "--decline-all", *front))
    assert answered() == []


# ── several at once ──────────────────────────────────────────────────────────────────────────────


def test_of_many_watches_with_one_file_each_key_is_answered_once_a12_5(
    mcptask: Cli, url: str, following: Follow, answers: Answers, answered: Answered
) -> None:
    assert mcptask("call", "ask_several", "--server", url).rc == 0
    words = ("watch", "last", "--accept-defaults", *answers(SEVERAL))
    for each in [following(*words) for _ in range(4)]:
        run = each.ended()
        assert run.rc == 0, run
    assert len(each_once(answered())) == 3
