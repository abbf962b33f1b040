import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mcptask.render.ink import Piece, coloured, columns, cropped, line, plain

STYLES = st.sampled_from(["", "dim", "bold cyan"])
TEXTS = st.text(st.sampled_from("ab 日…"), max_size=6)
LINES = st.lists(st.builds(Piece, TEXTS, STYLES), max_size=5).map(lambda pieces: line(*pieces))


def test_a_line_is_made_of_strings_pieces_and_lines() -> None:
    inner = line("b", Piece("c", "red"))
    assert line("a", inner, "", Piece("d", "dim")) == (
        Piece("a"),
        Piece("b"),
        Piece("c", "red"),
        Piece("d", "dim"),
    )


def test_a_style_of_two_words_is_one_escape_and_none_is_no_escape() -> None:
    text = line("a", Piece("b", "bold cyan"), Piece("c", "dim"))
    assert coloured(text) == "a\x1b[1;36mb\x1b[0m\x1b[2mc\x1b[0m"
    assert plain(text) == "abc"


@pytest.mark.parametrize(
    ("width", "expected"),
    [(9, "ab日本cd"), (8, "ab日本cd"), (7, "ab日本…"), (6, "ab日…"), (5, "ab日…"), (1, "…")],
)
def test_what_is_cut_ends_in_an_ellipsis_in_the_style_of_what_was_cut(
    width: int, expected: str
) -> None:
    cut = cropped(line("ab", Piece("日本", "red"), Piece("cd", "dim")), width)
    assert plain(cut) == expected
    assert all(piece.style for piece in cut if piece.text not in ("ab", "…"))


@given(LINES, st.integers(1, 20))
@example(line("a ", Piece("  ", "dim")), 9)
def test_a_cropped_line_fits_and_is_a_beginning_of_the_whole(
    text: tuple[Piece, ...], width: int
) -> None:
    cut = cropped(text, width)
    assert columns(cut) <= width
    assert plain(cut) == plain(cut).rstrip()
    if columns(text) <= width:
        assert plain(cut) == plain(text).rstrip()
    else:
        assert plain(cut).endswith("…")
        assert plain(text).startswith(plain(cut)[:-1])
