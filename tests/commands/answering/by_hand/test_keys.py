"""What a terminal sends, as keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.commands.answering.by_hand.keys import LONGEST_PASTE, Key, decoded

PIECES = [
    b"a",
    "é漢".encode(),
    b"\x1b[A",
    b"\x1bOH",
    b"\x1b[200~x\ny\x1b[201~",
    b"\x1b",
    b"\r",
    b"\xff",
]


def names(data: bytes, *, ended: bool = True) -> list[str]:
    keys, rest = decoded(data, ended=ended)
    assert rest == b""
    return [key.text or key.name for key in keys]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("aé漢".encode(), ["a", "é", "漢"]),
        (b"\r\n\t\x7f\x08", ["enter", "enter", "tab", "backspace", "backspace"]),
        (b"\x01\x05\x15\x0b\x17", ["home", "end", "cut before", "cut after", "cut word"]),
        (b"\x04", ["end of input"]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        (
            b"\x1bOA\x1bOF\x1b[H\x1b[4~\x1b[1~\x1b[3~",
            ["up", "end", "home", "end", "home", "delete"],
        ),
        (b"\x1b[1;5C\x1b[Z\x1b[3;2~", ["right", "back tab", "delete"]),
        (b"\x1b[15~\x1b[200z\x1b[?1;2c\x00\x0c", []),
        (b"\x1b", ["escape"]),
        (b"\x1bd", ["escape", "d"]),
        (b"\x1b\x1b[A", ["escape", "up"]),
        (b"\x1b[200~one\ntwo\x1b[201~.", ["one\ntwo", "."]),
        ("\x9b\x85x".encode(), ["x"]),  # C1 acts and is no text
        (b"\xffa", ["\N{REPLACEMENT CHARACTER}", "a"]),
    ],
    ids=repr,
)
def test_bytes_become_keys(data: bytes, expected: list[str]) -> None:
    assert names(data) == expected


def test_a_paste_is_one_key_so_no_line_of_it_is_an_enter() -> None:
    assert decoded(b"\x1b[200~y\r\n\x1b[201~") == ([Key("paste", "y\r\n")], b"")


@pytest.mark.parametrize("begun", [b"\x1b", b"\x1b[", b"\x1b[1;", b"\x1bO", "é".encode()[:1]])
def test_what_has_not_all_come_waits_for_the_rest(begun: bytes) -> None:
    assert decoded(b"a" + begun) == ([Key("text", "a")], begun)


def test_a_paste_without_end_is_given_up_at_a_bound() -> None:
    keys, rest = decoded(b"\x1b[200~" + b"x" * LONGEST_PASTE)
    assert [key.name for key in keys] == ["paste"]
    assert rest == b""


@given(st.lists(st.sampled_from(PIECES)).map(b"".join), st.data())
def test_keys_do_not_depend_on_how_the_bytes_come_in(data: bytes, draw: st.DataObject) -> None:
    cut = draw.draw(st.integers(0, len(data)))
    first, rest = decoded(data[:cut])
    more, left = decoded(rest + data[cut:])
    assert (first + more, left) == decoded(data)


@given(st.binary())
def test_any_bytes_become_keys_in_the_end(data: bytes) -> None:
    keys, rest = decoded(data)
    more, left = decoded(rest, ended=True)
    assert left == b"" or left.startswith(b"\x1b[200~")
    assert all(len(key.text) == 1 for key in keys + more if key.name == "text")
