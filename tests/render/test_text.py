import json
import re
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.render.text import (
    clean,
    clean_block,
    clean_json,
    clock_time,
    first_line,
    flat,
    humane,
    leading,
    leading_block,
    progress_of,
    size,
    uncommanding,
    unmistaken,
)

HOSTILE = "\x1b[2J\x1b]0;x\x07\x9b31m\r\x7f\u202e\u200b\u2028\ud800\U000e0041"
ACTING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# Letters of a few scripts have a format character of their own, which shows as something.
SHOWN = set(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
ANYTHING = st.text(st.characters(categories=None), max_size=80)


def acting(text: str) -> set[str]:
    found = {c for c in text if unicodedata.category(c) in ACTING}
    return found - SHOWN


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_no_character_that_acts_survives_cleaning_s17(text: str) -> None:
    assert acting(clean(text)) == set()
    assert acting(flat(text)) == set()
    assert acting(clean_block(text)) <= {"\n", "\t"}
    assert acting(first_line(text)) == set()


def test_no_character_of_all_of_unicode_that_acts_gets_through() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    assert acting(clean(everything)) == set()


@pytest.mark.parametrize("code", [*range(0x20), *range(0x7F, 0xA0), 0xAD, 0x202E, 0x200D, 0xFEFF])
def test_every_control_character_is_shown_as_an_escape(code: int) -> None:
    assert re.fullmatch(r"a\\[nrtxu][0-9a-f]*b", clean(f"a{chr(code)}b"))


def test_escapes_read_as_a_programmer_writes_them() -> None:
    expected = r"\x1b[2J\x1b]0;x\x07\x9b31m\r\x7f\u202e\u200b\u2028\ud800\U000e0041"
    assert clean(HOSTILE) == expected
    assert clean("a\nb\tc") == r"a\nb\tc"


def test_a_block_keeps_its_lines_and_tabs_but_no_carriage_return() -> None:
    assert clean_block("a\n\tb\r\nc\rd\x1b") == "a\n\tb\nc\\rd\\x1b"


@pytest.mark.parametrize("text", ["tâche", "日本語", "🚀", "é", "[bold]x[/bold]", "نص", "a\\x1b"])
def test_letters_and_brackets_stay_as_they_are(text: str) -> None:
    assert clean(text) == text


ANYWHERE = [
    ("##[error]x", r"##\x5berror]x"),
    ("done ##vso[task.complete]", r"done ##vso\x5btask.complete]"),
    ("##VSO[x] ##[y]", r"##VSO\x5bx] ##\x5by]"),
    ("a###teamcity[buildStop]", r"a###teamcity\x5bbuildStop]"),
    ("travis_fold:start:a travis_time:end:b", r"travis_fold\x3astart:a travis_time\x3aend:b"),
]


@pytest.mark.parametrize(("text", "shown"), ANYWHERE)
def test_commands_that_a_ci_system_obeys_in_mid_line_are_broken(text: str, shown: str) -> None:
    assert clean(text) == flat(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error file=a.py::x", r"\x3a:error file=a.py::x"),
        ("  \u3000::add-mask::x", "  \u3000\\x3a:add-mask::x"),
        ("::1 refused the connection", "::1 refused the connection"),
        ("std::vector::at", "std::vector::at"),
    ],
)
def test_commands_that_a_ci_system_obeys_at_the_start_of_a_line_are_broken(
    text: str, shown: str
) -> None:
    assert clean(text) == leading(text) == shown


@pytest.mark.parametrize("mark", ["---", "+++", "~~~", "^^^"])
def test_a_heading_of_a_log_is_broken_only_at_the_very_start_of_a_line(mark: str) -> None:
    assert leading(f"{mark} a") == f"\\{mark} a"
    assert leading(mark) == f"\\{mark}"
    assert leading(f" {mark} a") == clean(f" {mark} a") == f" {mark} a"
    assert leading(f"{mark}a") == f"{mark}a"
    assert clean(f"{mark} a") == f"{mark} a"


@pytest.mark.parametrize("ours", ["mcptask: 0:48 a", "error: a", "hint: a", "warning: a"])
def test_at_the_very_start_of_a_line_nothing_passes_for_a_line_of_ours(ours: str) -> None:
    assert leading(ours) == unmistaken(ours) == f"\\{ours}"
    assert leading(f" {ours}") == unmistaken(f" {ours}") == f" {ours}"
    assert clean(ours) == ours
    assert leading_block(f"a\r\n{ours}\n\r{ours}") == f"a\n\\{ours}\n\\r{ours}"
    assert leading_block("errors: 1\n\n") == "errors: 1\n\n"


@pytest.mark.parametrize(("text", "shown"), ANYWHERE)
def test_json_holds_no_command_and_the_same_value(text: str, shown: str) -> None:
    plain = json.dumps({"a": [text], text: 1})
    broken = uncommanding(plain)
    assert json.loads(broken) == json.loads(plain)
    assert clean(broken) == broken


def test_a_message_of_several_lines_becomes_one() -> None:
    assert flat(" 4 bookings fit nowhere.\r\n\tWhat now?\n") == "4 bookings fit nowhere. What now?"
    assert flat("a  b\rc") == "a  b\\rc"


def test_the_first_line_is_the_first_with_anything_on_it() -> None:
    assert first_line("\n  \n  Moves bookings.\nMore.") == "Moves bookings."
    assert first_line("") == ""


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=80))
def test_json_made_readable_is_the_same_value(text: str) -> None:
    shown = clean_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert acting(shown) == set()


@pytest.mark.parametrize(
    ("message", "share"),
    [
        ("Reflowing 96 of 142 bookings", 96 / 142),
        ("3/7", 3 / 7),
        ("step 3/7: migrating", 3 / 7),
        ("(3 / 7)", 3 / 7),
        ("done 7 of 7.", 1.0),
        ("0 of 142", 0.0),
        ("1,200 of 4,800 rows", 0.25),
        ("41%", 0.41),
        ("41.5 % of it", 0.415),
        ("100%", 1.0),
        ("CPU 95%, 1 of 4", 0.25),
    ],
)
def test_a_message_that_counts_gives_a_share(message: str, share: float) -> None:
    assert progress_of(message) == pytest.approx(share)


@pytest.mark.parametrize(
    "message",
    [
        None,
        "",
        "2026/09",
        "09/2026",
        "9/2026",
        "05/12",
        "2026/09/12",
        "1/0",
        "0/0",
        "5 of 3",
        "101%",
        "-5%",
        "/3/7",
        "v1.3/7",
        "3/7-rc1",
        "http://host/1/2",
        "a3/7",
        "24/7 support",
        "½ of it",
    ],
)
def test_a_message_that_only_looks_like_counting_gives_none(message: str | None) -> None:
    assert progress_of(message) is None


@given(ANYTHING)
def test_progress_is_a_share_or_nothing_whatever_the_message(message: str) -> None:
    share = progress_of(message)
    assert share is None or 0 <= share <= 1


@given(st.integers(0, 10**6), st.integers(1, 10**6))
def test_n_of_m_is_understood_for_all_numbers(done: int, total: int) -> None:
    expected = done / total if done <= total else None
    assert progress_of(f"Reflowing {done} of {total} bookings") == expected


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0:00"),
        (5.9, "0:05"),
        (760, "12:40"),
        (3723, "1:02:03"),
        (-3, "0:00"),
        (1e308, "999:59:59"),
        (float("inf"), "999:59:59"),
        (float("nan"), "0:00"),
    ],
)
def test_clock_time_is_bounded(seconds: float, shown: str) -> None:
    assert clock_time(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (0.4, "0.4 s"),
        (5, "5 s"),
        (1.5, "1.5 s"),
        (59.6, "1 m"),
        (90, "1 m 30 s"),
        (600, "10 m"),
        (86399, "23 h 59 m"),
        (86400, "24 h"),
        (273600, "3 d 4 h"),
        (172800, "2 d"),
        (1e300, "over 10 years"),
        (float("nan"), "0 s"),
        (-1, "0 s"),
    ],
)
def test_a_span_is_told_in_its_two_largest_units(seconds: float, shown: str) -> None:
    assert humane(seconds) == shown


@given(st.floats())
def test_any_number_is_a_time_that_can_be_shown(seconds: float) -> None:
    assert len(clock_time(seconds)) <= 9
    assert len(humane(seconds)) <= 13


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (12345, "12 kB"),
        (2_100_000, "2.1 MB"),
        (999_600, "1.0 MB"),
        (3 * 10**12, "3000 GB"),
    ],
)
def test_sizes_are_decimal_and_short(count: int, shown: str) -> None:
    assert size(count) == shown
