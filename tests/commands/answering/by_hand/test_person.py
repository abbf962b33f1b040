"""A form filled in key by key, on a real pseudo-terminal in this process: what is shown, and what is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from mcptask.commands.answering.who import Who
from mcptask.protocol.questions import Question
from tests.commands.answering.by_hand.at_a_pty import (
    ACTION,
    APPROVE,
    COUNT,
    PATIENCE,
    TEXT,
    Desk,
    accepted,
    desk_of,
    form,
    with_environ,
)

UP, DOWN, RIGHT, LEFT, BACK_TAB, HOME = (f"\x1b[{letter}" for letter in "ABCDZH")
LAST = ("Enter sends", "\r")


@pytest.fixture
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with desk_of(getattr(request, "param", 80)) as desk:
        yield desk


@pytest.mark.parametrize("desk", [60], indirect=True)
def test_a_form_is_filled_in_place_and_sent_after_a_last_look_a12_12_t20(desk: Desk) -> None:
    shown: list[list[str]] = []

    async def main() -> Any:
        asking = desk.asking(APPROVE)
        for words, keys in [
            ("note      text", RIGHT),
            ("› 1 waitlist", "\r"),
            ("note      ›", "é漢\r"),
        ]:
            await desk.until(words)
            shown.append(desk.screen)
            desk.type(keys)
        await desk.until("Enter sends")
        shown.append(desk.screen)
        assert not asking.done()
        desk.type("\r")
        response = await asking
        await desk.drained()
        return response

    assert asyncio.run(asyncio.wait_for(main(), PATIENCE)) == accepted(
        action="waitlist", note="é漢"
    )
    head = ["◐ studio asks (approve), for reflow_month, task 7:", "  What now?"]
    keys = [
        "* needed · Enter goes on",
        "Esc declines, cancels or leaves it for later",
    ]
    assert shown[0] == [
        *head,
        "  action *    1 waitlist    2 refund    3 keep",
        "              choose with the arrows, or type its number or",
        "              name",
        "  note      text",
        *keys,
    ]
    assert shown[1][2] == "  action *  › 1 waitlist    2 refund    3 keep"
    assert shown[2][2:5] == [
        "  action *  waitlist",
        "  note      ›",
        "              text · left out if empty",
    ]
    answer = ["Your answer to approve:", "  action  waitlist", "  note    é漢 "]
    assert [line.rstrip() for line in shown[3]] == [
        *head,
        *map(str.rstrip, answer),
        "Enter sends · e edits · d declines · c cancels the question",
        "l leaves it for later",
    ]
    # The keys are gone, what was given stays, and says so.
    assert desk.screen == [*head, "Answer given to approve:", *shown[3][-4:-2]]


def test_before_there_is_a_task_none_is_named_a8_4(desk: Desk) -> None:
    desk.who = Who("studio", "close_room")
    desk.ask(APPROVE, ("action", "\x04"))
    assert desk.screen[0] == "◐ studio asks (approve), for close_room:"


def test_another_question_under_an_old_key_and_a_refusal_are_told_first_a12_3_a12_8(
    desk: Desk,
) -> None:
    question = Question("approve", APPROVE, changed=True, refused="too late\x1b[2J")
    desk.ask(question, ("action", "\x04"))
    told = "\n".join(desk.screen)
    assert "another question before: this is a new one" in told
    assert "! studio refused the last answer: too late\\x1b[2J" in told


EVERY_KIND = form(
    "action",
    "count",
    action={"oneOf": [{"const": "w", "title": "On hold"}, {"const": "r", "title": "Refund"}]},
    old={"type": "string", "enum": ["a", "b"], "enumNames": ["First", "Second"]},
    count={"type": "integer", "minimum": 0, "default": 0},
    price={"type": "number", "maximum": 9.5},
    sure={"type": "boolean", "default": False},
    rooms={"type": "array", "items": {"enum": ["x", "y", "z"]}, "minItems": 1, "maxItems": 2},
    tags={"type": "array", "items": {"anyOf": [{"const": "t", "title": "Tea"}]}, "default": ["t"]},
    mail={"type": "string", "format": "email"},
    page={"type": "string", "format": "uri"},
    day={"type": "string", "format": "date"},
    when={"type": "string", "format": "date-time"},
    name={"type": "string", "minLength": 2, "maxLength": 4},
    gone={"type": "string", "enum": ["p"], "default": "not one of them"},
)


def test_every_kind_of_field_is_filled_in_a12_12(desk: Desk) -> None:
    steps = [
        ("action * ", "2\r"),
        ("old      ", "sec\r"),
        ("› 0", "\r"),
        ("price     ›", "9.5\r"),
        ("› 2 no", "\r"),
        ("1 [ ] x", f" {RIGHT}{RIGHT} \r"),
        ("› 1 [x] Tea", "\r"),
        ("mail      ›", "a@b\r"),
        ("page      ›", "https://x.example\r"),
        ("day       ›", "2026-09-30\r"),
        ("when      ›", "2026-09-30T14:00:00Z\r"),
        ("name      ›", "Ada\r"),
        ("    1 p", "\r"),
        LAST,
    ]
    assert desk.ask(EVERY_KIND, *steps) == accepted(
        action="r",
        old="b",
        count=0,
        price=9.5,
        sure=False,
        rooms=["x", "z"],
        tags=["t"],
        mail="a@b",
        page="https://x.example",
        day="2026-09-30",
        when="2026-09-30T14:00:00Z",
        name="Ada",
    )


WRONG = [
    ({"type": "integer"}, "2o", "expected an integer"),
    ({"type": "integer"}, "3.0", "expected an integer"),
    ({"type": "number", "minimum": 1}, "0.5", "must be at least 1"),
    ({"type": "string", "maxLength": 2}, "abc", "takes at most 2 characters"),
    ({"type": "string", "minLength": 2}, "a", "needs at least 2 characters"),
    ({"type": "string", "format": "email"}, "a", "expected an e-mail address"),
    ({"type": "string", "format": "uri"}, "a b", "expected a URI"),
    ({"type": "string", "format": "date"}, "2026-13-01", "expected a date"),
    ({"type": "string", "format": "date-time"}, "2026-09-30", "expected a date and time"),
    (
        {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2},
        " ",
        "needs at least 2 of them",
    ),
    (ACTION, "x", "no choice begins with 'x'"),
    (ACTION, "", "f is needed"),
    (TEXT, " ", "f is needed"),
]


@pytest.mark.parametrize(("field", "typed", "told"), WRONG, ids=str)
def test_wrong_input_is_told_at_the_field_and_goes_no_further_a12_12(
    desk: Desk, field: dict[str, Any], typed: str, told: str
) -> None:
    response = desk.ask(
        form("f", f=field), ("f *", f"{typed}\r"), ("! ", "\x1b"), ("Enter goes", "d")
    )
    assert response == {"action": "decline"}
    assert told in desk.written.decode()
    assert "Answer given to approve: no (declined)." in desk.screen


def test_an_optional_field_is_left_out_when_empty_and_a_default_is_ready_to_be_changed(
    desk: Desk,
) -> None:
    request = form(a=TEXT, b={**TEXT, "default": "hello"}, c={**ACTION, "default": "keep"}, d=COUNT)
    steps = [
        ("a  ›", "\r"),
        ("› hello", f"{HOME}J\x1b[3~{LEFT}\x05!\r"),
        ("› 3 keep", "\x7f\r"),
        ("› 5", "\x15\r"),
        LAST,
    ]
    assert desk.ask(request, *steps) == accepted(b="Jello!")
    assert [line.split() for line in desk.screen[-4:]][2:] == [
        ["c", "(left", "out)"],
        ["d", "(left", "out)"],
    ]


def test_one_goes_back_a_field_and_edits_what_is_there(desk: Desk) -> None:
    steps = [
        ("action *", "1\r"),
        ("note      ›", f"x{UP}"),
        ("› 1 waitlist", "2\r"),
        ("note      › x", f"y{BACK_TAB}"),
        ("› 2 refund", "\r"),
        ("note      › xy", "\t"),
        ("Enter sends", "e"),
        ("› 2 refund", "k\r"),
        ("note      › xy", "\x17\r"),
        LAST,
    ]
    assert desk.ask(APPROVE, *steps) == accepted(action="keep")


def test_a_value_that_nobody_could_type_stays_as_it_was(desk: Desk) -> None:
    request = form(
        note={**TEXT, "default": "two\nlines"}, tags={"type": "array", "items": TEXT, "default": []}
    )
    assert desk.ask(request, ("note  › two\\nlines", "\r"), ("tags  › []", "\r"), LAST) == accepted(
        note="two\nlines", tags=[]
    )


def test_what_fits_alone_but_not_together_is_not_sent(desk: Desk) -> None:
    request = form(a=TEXT, b=TEXT)
    request["params"]["requestedSchema"]["minProperties"] = 2
    steps = [
        ("a  ›", "1\r"),
        ("b  ›", "\r"),
        ("  ! ", "\r"),
        ("one of these keys", "e"),
        ("a  › 1", "\r"),
        ("b  ›", "2\r"),
        LAST,
    ]
    assert desk.ask(request, *steps) == accepted(a="1", b="2")


@pytest.mark.parametrize(
    ("steps", "response"),
    [
        ([("action", "\x1b"), ("Enter goes back", "d")], {"action": "decline"}),
        ([("action", "\x1bc")], {"action": "cancel"}),
        ([("action", "\x1b"), ("Enter goes back", "l")], None),
        ([("action", "\x1b"), ("Enter goes back", "\x04")], None),
        ([("action", "\x04")], None),
        ([("action", "keep\r"), ("note      ›", "x\x01\x04\x04")], None),
        ([("action", "keep\r\r"), ("Enter sends", "d")], {"action": "decline"}),
        ([("action", "keep\r\r"), ("Enter sends", "C")], {"action": "cancel"}),
        ([("action", "keep\r\r"), ("Enter sends", "w"), ("one of these", "l")], None),
        ([("action", "keep\r\r"), ("Enter sends", "\x04")], None),
    ],
    ids=str,
)
def test_a_form_can_be_left_anywhere_a12_12(
    desk: Desk, steps: list[tuple[str, str]], response: dict[str, Any] | None
) -> None:
    assert desk.ask(APPROVE, *steps) == response
    assert desk.cursor[1] == 0


def test_after_esc_one_can_go_on(desk: Desk) -> None:
    steps = [
        ("action", "k\x1b"),
        ("Enter goes back", "x\r"),
        ("* needed", "\r"),
        ("note      ›", "\r"),
        LAST,
    ]
    assert desk.ask(APPROVE, *steps) == accepted(action="keep")


def test_d_is_a_value_while_a_text_is_typed(desk: Desk) -> None:
    assert desk.ask(form("a", a=TEXT), ("a *", "d\r"), LAST) == accepted(a="d")


def test_a_form_without_fields_still_needs_a_yes(desk: Desk) -> None:
    assert desk.ask(form(), LAST) == accepted()


@pytest.mark.parametrize("setting", [{"CI": "1"}, {"TERM": "dumb"}], ids=str)
def test_nobody_is_asked_where_nobody_can_type(desk: Desk, setting: dict[str, str]) -> None:
    with_environ(desk, **setting)
    assert desk.ask(APPROVE) is None
    assert desk.written == b""
