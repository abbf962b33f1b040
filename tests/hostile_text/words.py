"""Hostile text, and what of it may be found in an output. Knows nothing of the product's own cleaning.

`FORGED` stands behind whatever a line of ours, or a command of a CI system, begins with: a line that begins
with both is one that the text forged.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

MARK = "FORGED"
LEADS = ("mcptask: 0:48 completed ", "error: ", "hint: ", "warning: ", "::error::", "##[error]")
_ACTING = (
    "\x1b[2J\x1b[1;1H\x1b]0;title\x07\x1b]8;;http://127.0.0.1/\x1b\\link\x1b]8;;\x1b\\\x1b]52;c;eA==\x07"
    "\x9b31m\x9dtitle\x9c\x85\x84\b\b\b\x7f\x00\x0b\x0c\u202e\u2066\u061c\u200b\u200d\ufeff\u2028\u2029"
    "\U000e0001\U000e0041\U00013430\ud800 [bold red]a[/] [link=http://127.0.0.1/]b[/link] [/x] [@click=x]"
)
_LINES = "".join(f"\n{lead}{MARK}" for lead in LEADS) + "".join(
    f"{end}error: {MARK}" for end in ("\r", "\r\n", "\x0b", "\x85", "\u2028")
)
# Everything at once; and what a text can do with nothing but what can be printed: there other code quotes it.
ACTING = f"error: {MARK} {_ACTING}{_LINES}"
PRINTABLE = (
    f"error: {MARK} [bold red]a[/] [/x] ##[error]{MARK} $(x) `x` 'q' \"q\" \\; "
    f"cancel it: mcptask {MARK}; resume: mcptask {MARK}"
)
# The same through a header or a reason phrase: bytes over 0x80 are all that HTTP lets through of it.
BYTES = f"error: {MARK} \x9b31m\x9dtitle\x9c\x85\x84 [bold red]a[/] [/x] ##[error]{MARK}".encode(
    "latin-1"
)

_FORGED = re.compile(rf"(?:{'|'.join(map(re.escape, LEADS))}){MARK}")
# How the commands to come back are listed after Ctrl-C.
_LISTED = re.compile(rf"  (?:resume|cancel it): mcptask {MARK}")
_ACTS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Letters of a few scripts have a format character of their own, which shows as something.
_SHOWN = set(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


def acting(text: str) -> set[str]:
    """The characters that act, instead of showing."""
    return {c for c in text if unicodedata.category(c) in _ACTS} - _SHOWN


def forged(lines: list[str]) -> list[str]:
    """The lines that begin as ours do, and are not."""
    return [line for line in lines if _FORGED.match(line)]


def faults(text: str) -> list[str]:
    """What is wrong with text for people, on a pipe."""
    acts = sorted(acting(text) - {"\n"})
    lines = text.split("\n")
    commands = [line for line in lines if "##[" in line or _LISTED.match(line)]
    return [*map(ascii, acts), *forged(lines), *commands]


def faults_of_json(text: str) -> list[str]:
    """The same of JSON: it is ASCII, holds nothing that acts, and every line or all of it can be read."""
    raw = [ascii(c) for c in sorted(set(text)) if not (" " <= c <= "~" or c == "\n")]
    return [*raw, *(["##["] if "##[" in text else [])]


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, names too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def values(text: str) -> list[Any]:
    """The document, or that of each line."""
    if text.startswith("{\n"):
        return [json.loads(text)]
    return [json.loads(line) for line in text.splitlines()]
