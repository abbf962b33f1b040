"""A line that is edited, and a list to choose from: what each key makes of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.commands.answering.by_hand.keys import Key
from mcptask.commands.answering.by_hand.line import TextLine, begun, edited, window
from mcptask.commands.answering.by_hand.pick import Pick, picked
from mcptask.protocol.schemas import Choice
from mcptask.render.cells import cell_width

EDITS = [
    *("left", "right", "home", "end", "backspace", "delete"),
    *("cut before", "cut after", "cut word"),
]
CHARACTERS = st.sampled_from(["a", " ", "é", "漢", "e\u0301"[1], "\u202e", "😀", "\x1b"])
LINES = st.builds(
    lambda text, at: TextLine(text, min(at, len(text))),
    st.lists(CHARACTERS).map("".join),
    st.integers(0, 30),
)


def after(line: TextLine, *keys: str) -> TextLine:
    for name in keys:
        changed = edited(line, Key(name) if len(name) > 1 else Key("text", name))
        assert changed is not None
        line = changed
    return line


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (["left", "X"], TextLine("one twXo", 7)),
        (["home", "X", "right", "Y"], TextLine("XoYne two", 3)),
        (["backspace", "backspace"], TextLine("one t", 5)),
        (["home", "delete"], TextLine("ne two", 0)),
        (["left", "cut before"], TextLine("o", 0)),
        (["home", "right", "cut after"], TextLine("o", 1)),
        (["cut word"], TextLine("one ", 4)),
        (["cut word", "cut word"], TextLine("", 0)),
        (["home", "backspace", "left"], TextLine("one two", 0)),
        (["delete", "right"], TextLine("one two", 7)),
    ],
    ids=str,
)
def test_a_line_is_edited_where_the_cursor_is(keys: list[str], expected: TextLine) -> None:
    assert after(begun("one two"), *keys) == expected


def test_a_mark_goes_with_the_character_it_stands_on() -> None:
    assert after(begun("ae\u0301"), "backspace") == TextLine("a", 1)
    assert after(TextLine("e\u0301b"), "right") == TextLine("e\u0301b", 2)
    assert after(TextLine("e\u0301b"), "delete") == TextLine("b", 0)


def test_a_paste_is_one_line_without_its_controls() -> None:
    assert edited(TextLine("ab", 1), Key("paste", "x\r\ny\tz\x1b\n")) == TextLine("ax y zb", 6)


@given(LINES, st.lists(st.sampled_from(EDITS)))
def test_the_cursor_never_leaves_the_line(line: TextLine, keys: list[str]) -> None:
    for name in keys:
        line = after(line, name)
        assert 0 <= line.at <= len(line.text)


@given(LINES, st.integers(12, 40))
def test_what_is_shown_fits_with_the_cursor_in_it(line: TextLine, width: int) -> None:
    text, column = window(line, width)
    assert cell_width(text) <= width - 1
    assert 0 <= column <= width - 1
    assert text.isprintable()


def test_a_long_line_scrolls_under_the_cursor_and_says_so() -> None:
    long = "".join(chr(97 + n % 26) for n in range(60))
    assert window(TextLine(long, 0), 20) == (f"{long[:18]}…", 0)
    text, column = window(begun(long), 20)
    assert (text[0], text[1:], column) == ("…", long[-17:], 18)
    text, column = window(TextLine(long, 30), 20)
    assert text[0] == text[-1] == "…"
    assert long.startswith(text[column:-1], 30)


def test_a_wide_character_takes_two_columns() -> None:
    assert window(begun("漢字a"), 20) == ("漢字a", 5)
    assert window(TextLine("漢字a", 1), 20) == ("漢字a", 2)


OPTIONS = tuple(
    Choice(value, title)
    for value, title in [("w", "On hold"), ("r", "Refund"), ("k", "Keep"), ("rk", "Review")]
)


def chosen(pick: Pick, *keys: str) -> Pick:
    for name in keys:
        changed = picked(pick, Key(name) if len(name) > 1 else Key("text", name))
        assert changed is not None
        pick = changed
    return pick


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        (["right"], 0),
        (["left"], 3),
        (["down", "down", "up"], 0),
        (["end", "right"], 3),
        (["home", "left"], 0),
        (["3"], 2),
        (["9"], None),
        (["r"], 1),  # its value is `r`, which is more than the beginning of another
        (["r", "e", "v"], 3),
        (["o", "n", " ", "h"], 0),
        (["k"], 2),
        (["k", "r"], 1),  # nothing begins with `kr`
        (["z"], None),
        (["right", "backspace"], None),
    ],
    ids=str,
)
def test_one_is_chosen_by_arrow_by_number_or_by_name(keys: list[str], at: int | None) -> None:
    pick = chosen(Pick(OPTIONS), *[key for key in keys if key != " " or len(keys) > 1])
    assert pick.at == at
    assert pick.places == ([] if at is None else [at])
    assert pick.unknown == (keys[0] if keys in (["9"], ["z"]) else "")


def test_what_nothing_begins_with_is_kept_for_saying_so_and_backspace_takes_it_back() -> None:
    pick = chosen(Pick(OPTIONS), "k", "e", "q")
    assert (pick.at, pick.unknown) == (2, "keq")
    assert chosen(pick, "backspace") == Pick(OPTIONS, at=2)
    assert chosen(pick, "backspace", "backspace") == Pick(OPTIONS)


def test_a_value_that_is_not_shown_is_meant_only_when_it_is_typed_whole() -> None:
    pick = Pick((Choice("look", "Only look around"), Choice("b", "Make a demo")))
    assert chosen(pick, "l").at is None
    assert chosen(pick, "b").at == 1


def test_a_number_is_a_name_where_the_choices_are_numbers() -> None:
    pick = Pick((Choice(3, "3"), Choice(1, "1"), Choice(12, "12")))
    assert chosen(pick, "1").at == 1
    assert chosen(pick, "1", "2").at == 2


def test_several_are_marked_by_space_and_come_in_the_order_of_the_list() -> None:
    pick = chosen(Pick(OPTIONS, several=True, at=0), "end")
    pick = chosen(pick._replace(word=""), "left")
    space = Key("text", " ")
    marked = picked(pick, space)
    assert marked is not None
    again = picked(chosen(marked, "home"), space)
    assert again is not None
    assert again.places == [0, 2]
    undone = picked(again, space)
    assert undone is not None
    assert undone.places == [2]
    assert chosen(undone, "backspace").places == []


def test_what_is_no_key_for_them_is_left_to_the_form() -> None:
    assert edited(TextLine(), Key("up")) is None
    assert picked(Pick(OPTIONS), Key("paste", "keep")) is None
    assert picked(Pick(OPTIONS), Key("text", " ")) is None
