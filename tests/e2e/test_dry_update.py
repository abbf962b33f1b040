"""`update --dry-run`: what can be shown of an answer to a question that the server is not asked for."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import Scripted, asking, question
from tests.e2e.terminal import Terminal
from tests.e2e.test_dry_run import TO_OPEN, rehearsed


def test_answering_needs_the_key_since_the_server_is_not_asked_a12_1(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=1")
    sent = len(server.requests)
    ran = on_server("update", "1", "action=keep", "--dry-run")
    assert (ran.code, ran.out, len(server.requests)) == (2, "", sent)
    assert "does not ask the server" in ran.err
    assert "--key" in ran.err.partition("hint:")[2]


def test_fields_of_a_question_that_is_not_known_are_text_unless_they_are_json(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=1")
    words = ("update", "1", "--key", "k", "n=3", "m:=3")
    assert "name:=JSON" in on_server(*words, "--dry-run").err
    told = rehearsed(on_server, server, *words)
    responses = told[-1]["message"]["params"]["inputResponses"]
    assert responses == {"k": {"action": "accept", "content": {"n": "3", "m": 3}}}


@pytest.mark.parametrize(
    ("asked", "real", "told"),
    [
        (TO_OPEN, {"action": "accept"}, "to open a URL, the real answer has no content"),
        (
            question(deep={"type": "boolean", "default": True}),
            {"action": "accept", "content": {"deep": True}},
            "defaults are not filled in",
        ),
        (question(), None, "required fields are not checked"),
    ],
    ids=["url", "default", "required"],
)
def test_agreeing_unseen_warns_of_what_the_real_answer_may_be_a12_12_a12_13(
    on_server: Cli,
    server: Scripted,
    asked: dict[str, Any],
    real: dict[str, Any] | None,
    told: str,
) -> None:
    server.on("tasks/get", asking(k=asked))
    on_server("call", "job", "month=1")
    line = ("update", "1", "--key", "k", "--accept")
    shown = rehearsed(on_server, server, *line)[-1]["message"]["params"]
    assert shown["inputResponses"] == {"k": {"action": "accept", "content": {}}}
    (warning,) = on_server(*line, "--dry-run", "--json").dry_run["warnings"]
    assert told in warning
    on_server(*line)
    sent = [got.params["inputResponses"]["k"] for got in server.got("tasks/update")]
    assert sent == ([] if real is None else [real])


@pytest.mark.parametrize(
    "words", [["--key", "k", "--cancel"], ["--responses", '{"k": {"action": "accept"}}']], ids=str
)
def test_an_answer_that_does_not_depend_on_the_question_is_shown_without_a_warning(
    on_server: Cli, server: Scripted, words: list[str]
) -> None:
    on_server("call", "job", "month=1")
    assert on_server("update", "1", *words, "--dry-run", "--json").dry_run["warnings"] == []


def test_what_a_person_would_be_asked_for_is_not_made_up_a12_11_a12_12(
    on_server: Cli, server: Scripted, terminal: Callable[..., Terminal]
) -> None:
    server.on("tasks/get", asking())
    on_server("call", "job", "month=1")
    sent = len(server.requests)
    assert on_server("update", "1", "--key", "approve", "--dry-run").code == 2
    asked = terminal("update", "1", "--key", "approve", "--dry-run")
    assert (asked.end(), len(server.requests)) == (2, sent)
    assert "opens no form" in " ".join(asked.lines)
    given = terminal("update", "1", "--key", "approve", "--accept", "--dry-run")
    assert (given.end(), len(server.requests)) == (0, sent)
