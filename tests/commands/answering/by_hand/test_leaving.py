"""How a question is left, or looked at once more, the same way everywhere (A12.12)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from mcptask.commands.answering.who import Who
from tests.commands.answering.by_hand.at_a_pty import (
    ACTION,
    APPROVE,
    PATIENCE,
    TEXT,
    Desk,
    accepted,
    desk_of,
    form,
    to_open,
)

NESTED = form(deep={"type": "object"})
URL = to_open("https://x.example/")
AT_A_FIELD = (APPROVE, [("action *", "\x1b")])
PLACES = [
    AT_A_FIELD,
    (APPROVE, [("action *", "1\r\r"), ("Enter sends", "\x1b")]),
    (NESTED, [("Enter to paste", "\x1b")]),
    (NESTED, [("Enter to paste", "\r"), ("›", "{}\r"), ("Enter sends", "\x1b")]),
    (URL, [("y agrees", "\x1b")]),
]
HOWS = [("d", {"action": "decline"}), ("c", {"action": "cancel"}), ("l", None), ("\x04", None)]


@pytest.fixture
def desk() -> Iterator[Desk]:
    with desk_of(60) as desk:
        yield desk


@pytest.mark.parametrize(("letter", "response"), HOWS, ids=str)
@pytest.mark.parametrize(("request_", "steps"), PLACES, ids=str)
def test_esc_and_then_a_letter_leave_a_question_at_every_step_a12_12(
    desk: Desk, request_: Any, steps: list[tuple[str, str]], letter: str, response: Any
) -> None:
    assert desk.ask(request_, *steps, ("Enter goes back", letter)) == response
    menu = " ".join(desk.written.decode().split())
    for words in ("Declining says no", "the task waits", "Ctrl-C"):
        assert words in menu


@pytest.mark.parametrize(("request_", "steps"), PLACES[1:], ids=str)
@pytest.mark.parametrize("back", ["\r", "\x1b"], ids=["Enter", "Esc"])
def test_after_esc_one_can_go_back_to_where_one_was(
    desk: Desk, request_: Any, steps: list[tuple[str, str]], back: str
) -> None:
    where = steps[-1][0]
    more = [("Enter goes back", "x"), ("Enter goes back", back), (where, "d")]
    assert desk.ask(request_, *steps, *more) == {"action": "decline"}


@pytest.mark.parametrize(("request_", "steps"), PLACES, ids=str)
def test_before_there_is_a_task_l_stops_and_says_that_nothing_is_started_a8_4(
    desk: Desk, request_: Any, steps: list[tuple[str, str]]
) -> None:
    desk.who = Who("studio", "close_room")
    assert desk.ask(request_, *steps, ("l stops here, nothing is started", "l")) is None
    assert desk.screen[-1] == "No answer to approve: nothing is started."
    assert "later" not in desk.written.decode()


def test_a_letter_that_was_typed_ahead_of_the_way_back_sends_nothing(desk: Desk) -> None:
    steps = [
        ("action *", "1\r\r"),
        ("Enter sends", "\x1b"),
        ("Enter goes back", "\r\r\r"),
        ("Enter sends", "d"),
    ]
    assert desk.ask(APPROVE, *steps) == {"action": "decline"}


MANY = form(**{f"f{number}": {**TEXT, "default": "x"} for number in range(30)})


def test_a_last_look_that_is_taller_than_the_screen_is_written_once_a12_12() -> None:
    with desk_of(60, 24) as desk:
        steps = [
            ("f0 ", "\r" * 30),
            ("Enter sends", "x"),
            ("one of these keys", "\x1b"),
            ("Enter goes back", "\r"),
            ("Enter sends", "\r"),
        ]
        content = {f"f{number}": "x" for number in range(30)}
        assert desk.ask(MANY, *steps) == accepted(**content)
        assert desk.written.count(b"Your answer to approve:") == 1
        assert desk.screen[-1] == "Answer given to approve."


@pytest.mark.parametrize("request_", [APPROVE, URL], ids=str)
def test_what_is_asked_is_drawn_again_when_the_size_changes_a12_12(
    desk: Desk, request_: dict[str, Any]
) -> None:
    import termios

    async def main() -> None:
        asking = desk.asking(request_)
        await desk.until("cancels")
        for columns in (40, 30, 60):
            termios.tcsetwinsize(desk.env.stdin.fileno(), (60, columns))
            desk.typed_at = len(desk.written)
            desk.type("\x1b" if columns == 40 else "x")
            await desk.until("declines")
            told = " ".join(desk.screen)
            assert told.count("studio asks") == 1
            assert (told.count("action *"), told.count("host: x.example")) in ((1, 0), (0, 1))
        desk.type("d")
        await asking

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_a_choice_that_is_not_there_is_told_and_not_passed_over_a12_12(desk: Desk) -> None:
    request = form(floor={"enum": ["g", "1"], "enumNames": ["Ground", "First"]})
    steps = [
        ("floor ", "2\r"),
        ("Backspace takes it back", "\x7f"),
        ("Enter leaves it out", "f\r"),
        ("Enter sends", "\r"),
    ]
    assert desk.ask(request, *steps) == accepted(floor="1")
    assert "no choice begins with '2'" in desk.written.decode()


SEVERAL = {"type": "array", "items": {"enum": ["x", "y", "z"]}}


def test_space_marks_what_a_number_or_a_name_went_to_a12_12(desk: Desk) -> None:
    request = form(rooms=SEVERAL, more=SEVERAL)
    steps = [("1 [ ] x", "2 3 \r"), ("more   ", "z x \r"), ("Enter sends", "\r")]
    assert desk.ask(request, *steps) == accepted(rooms=["y", "z"], more=["x", "z"])


def test_an_untouched_default_goes_as_it_is_even_when_it_is_empty_a12_12(desk: Desk) -> None:
    request = form(
        rooms={**SEVERAL, "default": []},
        order={**SEVERAL, "default": ["z", "x"]},
        note={**TEXT, "default": ""},
        gone={**SEVERAL, "default": []},
        blank={**TEXT, "default": ""},
        one={**ACTION, "default": "keep"},
    )
    steps = [
        ("Enter sends it empty", "\r"),
        ("order  › 1 [x] x", "\r"),
        ("note   ›", "\r"),
        ("gone  ", "\x7f"),
        ("Enter leaves it out", "\r"),
        ("blank  ›", "\x7f"),
        ("left out if empty", "\r"),
        ("› 3 keep", "\r"),
        ("Enter sends", "\r"),
    ]
    sent = accepted(rooms=[], order=["z", "x"], note="", one="keep")
    assert desk.ask(request, *steps) == sent
