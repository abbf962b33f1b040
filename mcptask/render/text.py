"""Text from outside made safe to show, and the numbers in it made readable. Knows no terminal, prints
nothing.

Whatever a server, a file or a command line brought in goes through `clean` or `clean_block` before a person
sees it: a control character that reaches a terminal can clear it, forge a line of ours or hide text.
"""

import math
import re

# Characters that act instead of showing, or show as nothing at all:
_UNSAFE = (
    "\x00-\x1f\x7f-\x9f"  # C0 (ESC, CR, LF, BEL …), DEL and C1 (the 8-bit CSI and OSC)
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible: soft hyphen, fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, bidi, line and paragraph separators
    "\u3164\ufeff\uffa0\ufff0-\ufffb"  # more fillers, the BOM, interlinear annotation
    "\ud800-\udfff"  # lone surrogates: no stream can encode them
    "\U00013430-\U0001343f"  # format controls of hieroglyphs
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # of shorthand and music
    "\U000e0000-\U000e0fff"  # tags and the variation selectors that smuggle text
    # Not U+FE00–FE0F, which make an emoji of a character, nor U+2800, which is as blank as a space is.
)
_IN_LINE = re.compile(f"[{_UNSAFE}]")
_IN_BLOCK = re.compile(f"(?![\\n\\t])[{_UNSAFE}]")

# What CI systems take for a command wherever it stands in a line: `##[error]` (GitHub, Azure), `##vso[…]`
# (Azure), `##teamcity[…]`, `travis_fold:start:…`. The last character of what is found is escaped.
_COMMAND = re.compile(r"##\w*\[|(?:fold|time):(?=(?:start|end):[\w.-])", re.ASCII)
_COMMAND_SIGNS = ("##", ":start:", ":end:")
# GitHub's `::error::`, at the start of a line, spaces aside. Any text may come to begin a line, so none may
# begin like that.
_COLON_COMMAND = re.compile(r"\A(\s*):(?=:.*::)")
# Buildkite's, which opens a section of the log: only at the very start of a line.
_HEADING = re.compile(r"(?:---|\+\+\+|~~~|\^\^\^)(?:\s|\Z)")

# How lines of ours begin, and no others.
OURS = re.compile(r"(?:mcptask|error|hint|warning):")

_BREAKS = re.compile(r"[\r\n\t ]*[\n\t][\r\n\t ]*")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def clean(text: str) -> str:
    """Text that is safe in any line: controls and invisible characters are shown as escapes (`\\x1b`), and no
    CI system takes it for a command."""
    safe = uncommanded(_IN_LINE.sub(_escape, text), "\\x{:02x}")
    return _COLON_COMMAND.sub(r"\1\\x3a", safe) if "::" in safe else safe


def leading(text: str) -> str:
    """The same for text that stands at the very start of a line, with nothing of ours before it."""
    safe = clean(text)
    return f"\\{safe}" if _HEADING.match(safe) else unmistaken(safe)


def unmistaken(line: str) -> str:
    """A clean line that is not ours, or may begin with what is not: none can take it for one of ours."""
    return f"\\{line}" if OURS.match(line) else line


def flat(text: str) -> str:
    """A message as one clean line: its line breaks and tabs become spaces, the rest is as `clean` does it."""
    return clean(_BREAKS.sub(" ", text.strip("\r\n\t ")))


def clean_block(text: str) -> str:
    """The same for text of several lines: newlines and tabs stay, a CR may overwrite a line and is shown."""
    return _IN_BLOCK.sub(_escape, text.replace("\r\n", "\n"))


def leading_block(text: str) -> str:
    """The same where nothing of ours stands before its lines: none can be taken for one of ours."""
    return "\n".join(map(unmistaken, clean_block(text).split("\n")))


def clean_json(text: str) -> str:
    """JSON text with its unsafe characters as JSON escapes: still valid, and still the same value."""
    return uncommanding(_IN_BLOCK.sub(_escape_json, text))


def uncommanding(text: str) -> str:
    """JSON text in which no CI system finds a command in a string: still the same value."""
    return uncommanded(text, "\\u{:04x}")


def uncommanded(text: str, escape: str) -> str:
    """The text with one character of each command for a CI system as an `escape`, made with its number."""
    if not any(sign in text for sign in _COMMAND_SIGNS):
        return text
    return _COMMAND.sub(lambda found: found[0][:-1] + escape.format(ord(found[0][-1])), text)


def first_line(text: str) -> str:
    """The first line with anything on it, cleaned."""
    return next((clean(line.strip()) for line in text.splitlines() if line.strip()), "")


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _escape_json(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


# ── progress ─────────────────────────────────────────────────────────────────────────────────────

_NUMBER = r"(\d{1,3}(?:,\d{3})+|\d{1,12})"
# Not inside a path, a version, a date or a longer number; a full stop that ends the sentence is fine.
_BEFORE = r"(?<![\w/.,:-])"
_AFTER = r"(?![\w/-]|[.,:]\d)"
_COUNT = re.compile(f"{_BEFORE}{_NUMBER}( of | ?/ ?){_NUMBER}{_AFTER}", re.ASCII)
_PERCENT = re.compile(_BEFORE + r"(\d{1,3}(?:\.\d{1,9})?)[ \u00a0\u202f]?%", re.ASCII)
# How much of a message is searched: a status message is a line, not a document.
_SEARCHED = 1000


def progress_of(message: str | None) -> float | None:
    """How far a message says its task is, 0 to 1: `96 of 142`, `3/7`, `41%`. None where it does not count."""
    text = (message or "")[:_SEARCHED]
    for match in _COUNT.finditer(text):
        share = _share(match[1], match[2], match[3])
        if share is not None:
            return share
    for match in _PERCENT.finditer(text):
        if float(match[1]) <= 100:
            return float(match[1]) / 100
    return None


def _share(done: str, word: str, total: str) -> float | None:
    count, whole = int(done.replace(",", "")), int(total.replace(",", ""))
    if whole == 0 or count > whole:
        return None
    padded = any(len(number) > 1 and number.startswith("0") for number in (done, total))
    month = 1 <= count <= 12 and 1900 <= whole <= 2100
    if "/" in word and (padded or month):  # 09/2026, 05/12: dates
        return None
    return count / whole


# ── durations and sizes ──────────────────────────────────────────────────────────────────────────

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
# The longest durations that are worth spelling out; servers send 1e308.
_LONGEST_CLOCK = 1000 * _HOUR - 1
_LONGEST_HUMANE = 3650 * _DAY


def clock_time(seconds: float) -> str:
    """Elapsed time: `0:05`, `12:40`, `1:02:03`; at most `999:59:59`, and `0:00` for what is no duration."""
    whole = int(_bounded(seconds, _LONGEST_CLOCK))
    hours, rest = divmod(whole, _HOUR)
    minutes, left = divmod(rest, _MINUTE)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def humane(seconds: float, units: int = 2) -> str:
    """A span in its two largest units (or one): `0.4 s`, `5 s`, `10 m`, `23 h 59 m`, `24 h`, `3 d 4 h`."""
    bounded = _bounded(seconds, _LONGEST_HUMANE)
    if bounded >= _LONGEST_HUMANE:
        return "over 10 years"
    if bounded < 9.95:
        return f"{round(bounded, 1):g} s"
    whole = round(bounded) if bounded < _MINUTE else int(bounded)
    if whole < 2 * _DAY:
        hours, rest = divmod(whole, _HOUR)
        minutes, left = divmod(rest, _MINUTE)
        return _largest(units, ("h", hours), ("m", minutes), ("s", left))
    return _largest(units, ("d", whole // _DAY), ("h", whole % _DAY // _HOUR))


def _largest(count: int, *units: tuple[str, int]) -> str:
    first = next(index for index, (_, amount) in enumerate(units) if amount)
    shown = [f"{amount} {unit}" for unit, amount in units[first : first + count] if amount]
    return " ".join(shown)


def _bounded(seconds: float, longest: int) -> float:
    if math.isnan(seconds):
        return 0.0
    return min(max(seconds, 0.0), float(longest))


def size(count: int) -> str:
    """Bytes in decimal units: `812 B`, `12 kB`, `2.1 MB`."""
    if count < 1000:
        return f"{count} B"
    unit = next((unit for unit in _SIZES if count < 999.5 * unit[1]), _SIZES[-1])
    amount = count / unit[1]
    return f"{amount:.0f} {unit[0]}" if amount >= 9.95 else f"{amount:.1f} {unit[0]}"


_SIZES = (("kB", 10**3), ("MB", 10**6), ("GB", 10**9))
