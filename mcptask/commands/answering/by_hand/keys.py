"""What a terminal sends → keys. Pure: reads no terminal, knows no form.

A key is one character, one paste, or one of the names below; what no form has a use for is dropped.
"""

import re
from codecs import utf_8_decode
from typing import NamedTuple
from unicodedata import category

TEXT, PASTE = "text", "paste"
ESCAPE = "escape"
LONGEST_PASTE = 1 << 20  # bytes; what never ends must not be gathered for ever


class Key(NamedTuple):
    """`text`: the character, or what was pasted."""

    name: str
    text: str = ""


_CONTROLS = {
    0x01: "home",
    0x02: "left",
    0x04: "end of input",
    0x05: "end",
    0x06: "right",
    0x08: "backspace",
    0x09: "tab",
    0x0A: "enter",
    0x0B: "cut after",
    0x0D: "enter",
    0x0E: "down",
    0x10: "up",
    0x15: "cut before",
    0x17: "cut word",
    0x7F: "backspace",
}
_LETTERS = {
    b"A": "up",
    b"B": "down",
    b"C": "right",
    b"D": "left",
    b"F": "end",
    b"H": "home",
    b"M": "enter",  # of the keypad
    b"Z": "back tab",
}
_NUMBERS = {b"1": "home", b"3": "delete", b"4": "end", b"7": "home", b"8": "end"}
# The parameters of `CSI 1;5C` say which modifiers were held, which changes nothing here.
_SEQUENCE = re.compile(rb"\x1b(?:\[([0-?]*)[ -/]*([@-~])|O([@-~]))")
_BEGUN = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*|O)?\Z")
_PASTED, _PASTE_END = b"\x1b[200~", b"\x1b[201~"
_PLAIN = re.compile(rb"[^\x00-\x1f\x7f]+")


def decoded(data: bytes, *, ended: bool = False) -> tuple[list[Key], bytes]:
    """The keys, and the beginning of one that has not all come yet. `ended`: nothing more comes soon, so an
    ESC that was to begin something is the key of that name.
    """
    keys: list[Key] = []
    while data:
        if data.startswith(_PASTED):
            found, data, whole = _paste(data)
        elif data.startswith(b"\x1b"):
            found, data, whole = _escaped(data, ended)
        elif run := _PLAIN.match(data):
            found, data, whole = _text(run[0], data[run.end() :], ended)
        else:
            name = _CONTROLS.get(data[0])
            found, data, whole = [Key(name)] if name else [], data[1:], True
        keys += found
        if not whole:
            break
    return keys, data


_Step = tuple[list[Key], bytes, bool]  # keys, what is left, and whether to go on with it


def _paste(data: bytes) -> _Step:
    body, end, rest = data[len(_PASTED) :].partition(_PASTE_END)
    if not end and len(body) < LONGEST_PASTE:
        return [], data, False
    return [Key(PASTE, body.decode("utf-8", "replace"))], rest, True


def _escaped(data: bytes, ended: bool) -> _Step:
    if found := _SEQUENCE.match(data):
        number, letter, alone = found.groups()
        name = (
            _NUMBERS.get(number.split(b";")[0]) if letter == b"~" else _LETTERS.get(letter or alone)
        )
        return [Key(name)] if name else [], data[found.end() :], True
    if _BEGUN.match(data) and not ended:
        return [], data, False
    # Alone, or with a character of its own after it: someone who types fast means both keys.
    return [Key(ESCAPE)], data[1:], True


def _text(run: bytes, rest: bytes, ended: bool) -> _Step:
    text, used = utf_8_decode(run, "replace", ended or bool(rest))
    keys = [Key(TEXT, each) for each in text if category(each) != "Cc"]
    return keys, run[used:] + rest, used == len(run)
