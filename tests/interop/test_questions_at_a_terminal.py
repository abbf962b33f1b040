"""A person answers what FastMCP's tasks ask, on a real terminal, or in another one meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.terminal import Terminal
from tests.interop.asking import Answered, accepted, each_once
from tests.interop.cluster import Front as Nodes
from tests.interop.conftest import Cli

pytestmark = pytest.mark.interop

Front = tuple[str, str]
Start = Callable[..., Terminal]

LAST_LOOK = "Enter sends"
# What is typed for each field of `ask_everything`, and what it becomes.
TYPED = {
    "name": ("Kim\r", "Kim"),
    "mail": ("kim@example.org\r", "kim@example.org"),
    "page": ("https://example.org/a\r", "https://example.org/a"),
    "day": ("2026-09-12\r", "2026-09-12"),
    "moment": ("2026-09-12T09:00:00Z\r", "2026-09-12T09:00:00Z"),
    "seats": ("\r", 4),
    "price": ("1.5\r", 1.5),
    "quiet": ("y\r", True),
    "size": ("large\r", "large"),
    "floor": ("First\r", "1"),
    "light": ("\r", None),
    "days": (" \x1b[C\x1b[C \r", ["mon", "wed"]),
    "extras": ("\x1b[C \r", ["cake"]),
}


def says(screen: Terminal, words: str) -> None:
    """Waits until this is on the screen; a line may have been broken in it."""
    screen.until(lambda lines: words in " ".join(line.strip() for line in lines))


def turn(screen: Terminal, *fields: str) -> str:
    """Waits until it is the turn of one of these fields: only that one has a mark, or a hint below it."""
    found: list[str] = []

    def come(lines: list[str]) -> bool:
        last = "\n".join(lines[-20:])
        found[:] = [
            each for each in fields if re.search(rf"^ *{each}( \*)? .*(›|\n {{8}})", last, re.M)
        ]
        return len(found) == 1

    screen.until(come)
    return found[0]


def fills(screen: Terminal, field: str, typed: str) -> None:
    turn(screen, field)
    screen.type(typed)


def sends(screen: Terminal) -> None:
    says(screen, LAST_LOOK)
    screen.type("\r")


def ends(screen: Terminal, code: int = 0) -> str:
    assert screen.end() == code, screen.lines
    return "".join(screen.lines)


# ── by a form ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("columns", [60, 100])
def test_a_form_answers_a_task_while_it_is_waited_for_a12_12(
    terminal: Start, front: Front, answered: Answered, columns: int
) -> None:
    screen = terminal("call", "ask", "--wait", *front, columns=columns)
    fills(screen, "action", "refund\r")
    fills(screen, "limit", "2\r")
    assert answered() == []
    sends(screen)
    assert "bookings: {'action': 'refund', 'limit': 2}" in ends(screen)
    assert each_once(answered()) == [accepted(action="refund", limit=2)]


def test_each_round_has_its_own_form_a12_2(
    terminal: Start, front: Front, answered: Answered
) -> None:
    screen = terminal("call", "ask_twice", "--wait", *front)
    fills(screen, "who", "Kim\r")
    sends(screen)
    fills(screen, "why", "paint\r")
    sends(screen)
    assert '"why"' in ends(screen)
    assert each_once(answered()) == [accepted(who="Kim"), accepted(why="paint")]


def test_of_several_questions_each_has_its_form_and_goes_out_when_it_is_ready_a12_6(
    mcptask: Cli, terminal: Start, url: str, answered: Answered
) -> None:
    screen = terminal("call", "ask_several", "--wait", "--accept-defaults", "-s", url)
    typed = {"room": "b\r", "note": "now\r"}
    for already in (1, 2):  # the one of the defaults went out by itself
        screen.type(typed.pop(turn(screen, *typed)))
        says(screen, LAST_LOOK)
        assert len(each_once(answered())) == already
        screen.type("\r")
    ends(screen)
    sent = [accepted(count=3), accepted(note="now"), accepted(room="b")]
    assert sorted(each_once(answered()), key=str) == sent


def test_every_kind_of_field_is_typed_and_arrives_as_its_own_type_a12_12(
    terminal: Start, front: Front, answered: Answered
) -> None:
    screen = terminal("call", "ask_everything", "--wait", *front)
    for field, (keys, _) in TYPED.items():
        fills(screen, field, keys)
    sends(screen)
    ends(screen)
    content = {name: value for name, (_, value) in TYPED.items() if value is not None}
    assert each_once(answered()) == [accepted(**content)]


def test_wrong_input_is_told_at_the_field_and_never_sent_a12_12(
    terminal: Start, url: str, answered: Answered
) -> None:
    screen = terminal("call", "ask", "--wait", "-s", url)
    fills(screen, "action", "keep\r")
    fills(screen, "limit", "-1\r")
    says(screen, "at least 0")
    screen.type("\x15" + "0\r")
    sends(screen)
    ends(screen)
    assert each_once(answered()) == [accepted(action="keep", limit=0)]


def test_an_address_is_agreed_to_by_hand_and_told_without_content_a12_13(
    terminal: Start, front: Front, answered: Answered
) -> None:
    screen = terminal("call", "ask_url", "--wait", *front)
    says(screen, "https://ledger.example/sign?in=1")
    says(screen, "host: ledger.example")
    says(screen, "y agrees")
    screen.type("y")
    ends(screen)
    assert each_once(answered()) == [{"action": "accept"}]


@pytest.mark.parametrize(("keys", "action"), [("d", "decline"), ("c", "cancel")])
def test_a_question_is_refused_at_its_form_and_the_task_decides(
    terminal: Start, front: Front, answered: Answered, keys: str, action: str
) -> None:
    screen = terminal("call", "ask", "--wait", *front)
    fills(screen, "action", "\x1b")
    says(screen, "c cancels the question")
    screen.type(keys)
    assert "left as it is" in ends(screen)
    assert each_once(answered()) == [{"action": action}]


# ── by `update` in another process ───────────────────────────────────────────────────────────────


def test_an_update_from_elsewhere_closes_the_form_and_the_watch_goes_on_a12_7(
    mcptask: Cli, terminal: Start, url: str, answered: Answered
) -> None:
    screen = terminal("call", "ask", "--wait", "-s", url)
    fills(screen, "action", "re")
    assert mcptask("update", "1", "action=keep").rc == 0
    says(screen, "it was answered in another terminal")
    assert "bookings: {'action': 'keep'}" in ends(screen)
    assert each_once(answered()) == [accepted(action="keep")]


def test_a_question_left_for_later_is_answered_from_elsewhere_and_the_watch_goes_on_a12_7(
    mcptask: Cli, terminal: Start, url: str, answered: Answered
) -> None:
    assert mcptask("call", "ask_twice", "-s", url).rc == 0
    screen = terminal("watch", "1")
    fills(screen, "who", "\x1b")
    says(screen, "l leaves it for later")
    screen.type("l")
    says(screen, "mcptask update 1 who=TEXT")
    assert mcptask("update", "1", "who=Kim").rc == 0
    fills(screen, "why", "paint\r")
    sends(screen)
    ends(screen)
    assert each_once(answered()) == [accepted(who="Kim"), accepted(why="paint")]


def test_of_two_terminals_one_has_the_form_and_both_see_the_end_a12_5(
    mcptask: Cli, terminal: Start, url: str, answered: Answered
) -> None:
    assert mcptask("call", "ask", "-s", url).rc == 0
    first = terminal("watch", "1")
    fills(first, "action", "keep")
    second = terminal("watch", "1")
    says(second, "open in another terminal")
    first.type("\r")
    fills(first, "limit", "\r")
    sends(first)
    for screen in (first, second):
        assert "bookings: {'action': 'keep'}" in ends(screen)
    assert each_once(answered()) == [accepted(action="keep")]


def test_behind_nginx_another_process_answers_on_another_node_a12_7(
    mcptask: Cli, terminal: Start, two_nodes: Nodes
) -> None:
    """Counted where mcptask has no part in it: in the log of nginx."""
    started = mcptask("call", "ask", "-s", two_nodes.url)
    screen = terminal("watch", "1")
    fills(screen, "action", "re")
    two_nodes.turn()
    assert mcptask("update", "1", "action=keep").rc == 0
    assert "bookings: {'action': 'keep'}" in ends(screen)
    assert len(two_nodes.asked("tasks/update", started.stdout.strip())) == 1


# ── nobody is asked ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "environ"),
    [(["--no-input"], {}), ([], {"CI": "1"}), (["--json"], {})],
    ids=["--no-input", "CI", "--json"],
)
def test_at_a_terminal_nobody_is_asked_where_that_is_not_wanted_a12_11(
    terminal: Start, url: str, answered: Answered, words: list[str], environ: dict[str, Any]
) -> None:
    screen = terminal("call", "ask", "--wait", *words, "-s", url, **environ)
    assert "mcptask update 1 action=waitlist" in ends(screen, 3)
    assert answered() == []
