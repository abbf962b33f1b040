"""Where a terminal wraps a long line, no row begins as a line of ours does."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.render.cells import chop
from mcptask.render.rows import in_rows, row_width, tell

WIDTH = 20
PAD = "x" * WIDTH


@pytest.mark.parametrize("word", ["mcptask: 0:48", "error: no", "hint: run", "warning: a"])
def test_what_would_begin_a_row_as_ours_begin_is_marked(word: str) -> None:
    assert in_rows(f"{PAD}{word}", WIDTH) == f"{PAD}\\{word}"
    assert in_rows(f"{PAD}{PAD}{word}", WIDTH) == f"{PAD}{PAD}\\{word}"
    assert in_rows(f"{PAD[1:]}\x1b[31m日{word}", WIDTH) == f"{PAD[1:]}\x1b[31m日{word}"
    assert in_rows(f"{PAD[2:]}日{word}", WIDTH) == f"{PAD[2:]}日\\{word}"
    assert in_rows(f"\x1b[31m{PAD}\x1b[0m{word}", WIDTH) == f"\x1b[31m{PAD}\x1b[0m\\{word}"
    assert in_rows(f"{PAD[12:]}\t{PAD[16:]}{word}", WIDTH) == f"{PAD[12:]}\t{PAD[16:]}\\{word}"


def test_the_beginning_of_a_line_and_what_stands_in_a_row_are_left_alone() -> None:
    for text in (
        f"error: {PAD}{PAD}",
        f"{PAD[:5]}error: no {PAD}",
        f"{PAD}\nerror: {PAD}",
        "error: x",
    ):
        assert in_rows(text, WIDTH) == text
    assert in_rows(f"{PAD}error: no", None) == f"{PAD}error: no"


@given(st.lists(st.sampled_from(["error:", "hint:", "x", " ", "日", "é", "e\u0301"]), max_size=60))
def test_no_row_passes_for_a_line_of_ours(parts: list[str]) -> None:
    text = "".join(["x", *parts])
    rows = chop(in_rows(text, WIDTH), WIDTH)
    assert not any(row.startswith(("error:", "hint:")) for row in rows)
    assert in_rows(text, WIDTH).replace("\\", "") == text


def test_what_is_no_terminal_has_no_rows() -> None:
    closed = io.StringIO()
    closed.close()
    assert row_width(io.StringIO()) is None
    assert row_width(closed) is None
    stream = io.StringIO()
    assert tell(stream, f"{PAD * 20}error: no")
    assert stream.getvalue() == f"{PAD * 20}error: no\n"
