"""A form that is filled in key by key, as lines: the field in hand, what was filled in, what is to come."""

from __future__ import annotations

from typing import Any

import pytest
from render_samples import HOSTILE

from mcptask.commands.answering.by_hand.form import begin, drawn, pressed
from mcptask.commands.answering.by_hand.keys import Key
from mcptask.render import entries
from mcptask.render.ink import columns, plain

TITLED = [{"const": "w", "title": "On hold"}, {"const": "r", "title": "Refund"}]


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def lines(form: Any, width: int = 79, high: int = 40) -> list[str]:
    return [plain(line).rstrip() for line in drawn(form, width, high)[0]]


def keys(form: Any, *names: str) -> Any:
    for name in names:
        form = pressed(form, Key(name) if len(name) > 1 else Key("text", name))
    return form


def test_titles_are_shown_and_a_value_where_two_titles_are_alike() -> None:
    two = [*TITLED, {"const": "x", "title": "Refund"}]
    shown = lines(begin(schema(a={"oneOf": two}), {}))
    assert shown[0] == "  a    1 On hold    2 Refund (r)    3 Refund (x)"


def test_a_default_is_called_one_and_looks_like_no_hint() -> None:
    fields = {
        "a": {"type": "string"},
        "takes": {"type": "integer", "default": 3},
        "mail": {"type": "string", "format": "email"},
    }
    form = begin(schema(**fields), {"takes": 3})
    shown, _ = drawn(form, 79, 40)
    (takes,) = [each for each in shown if plain(each).strip().startswith("takes")]
    (mail,) = [each for each in shown if plain(each).strip().startswith("mail")]
    assert plain(takes) == "  takes  3 (default)"
    assert plain(mail) == "  mail   an e-mail address"
    assert ({piece.style for piece in takes}, {piece.style for piece in mail}) == ({""}, {"dim"})
    changed = begin(schema(**fields), {"takes": 4})
    assert "  takes  4" in lines(changed)
    assert "  takes  3" in lines(keys(form, "enter", "enter"))


def test_many_choices_are_numbered_below_each_other_around_the_mark() -> None:
    form = begin(schema("a", a={"enum": [f"room {n} of the house" for n in range(30)]}), {})
    shown = lines(form)
    assert shown[0] == "  a *     1 room 0 of the house"
    assert len([line for line in shown if "of the house" in line]) == 8
    shown = lines(keys(form, "2", "0"))
    assert "› 20 room 19 of the house" in [line.strip() for line in shown[:8]]
    assert any("20 of 30" in line for line in shown)


def test_choices_that_just_fit_stand_side_by_side() -> None:
    form = begin(schema(a={"enum": ["x", "y"]}), {})
    assert plain(drawn(form, 17, 40)[0][0]) == "  a    1 x    2 y"
    assert [plain(line) for line in drawn(form, 16, 40)[0][:2]] == ["  a    1 x", "       2 y"]


def test_the_cursor_stands_in_the_text_or_at_the_mark() -> None:
    form = begin(schema("a", a={"type": "string"}, b={"enum": ["x", "y"]}), {"a": "hello"})
    assert drawn(form, 79, 40)[1] == (0, 2 + 3 + 2 + 2 + 5)
    form = keys(form, "left", "left")
    assert drawn(form, 79, 40)[1] == (0, 2 + 3 + 2 + 2 + 3)
    assert drawn(keys(form, "enter"), 79, 40)[1] == (1, 2 + 3 + 2)
    assert drawn(keys(form, "escape"), 79, 40)[1] is None


def test_a_form_that_is_longer_than_the_screen_shows_what_is_around_the_field() -> None:
    form = begin(schema(**{f"field{n}": {"type": "string"} for n in range(40)}), {})
    form = keys(form, *["enter"] * 20)
    shown = lines(form, 79, 12)
    assert len(shown) == 12
    assert any("field20" in line for line in shown)
    assert any("field19" in line for line in shown)
    assert any("field21" in line for line in shown)


def test_where_rows_are_few_what_can_be_done_comes_before_what_it_means() -> None:
    form = keys(begin(schema(a={"type": "string"}), {}), "escape")
    assert lines(form, 79, 3)[1].startswith("d declines")
    assert len(lines(form, 79, 3)) == 3


def test_a_name_that_is_cut_is_told_whole_below() -> None:
    name = "a_rather_long_name_for_one_field_of_a_form"
    shown = lines(begin(schema(**{name: {"type": "string"}}), {}), 59)
    assert "…" in shown[0]
    assert name in "".join(line.strip() for line in shown[1:3])


@pytest.mark.parametrize("width", [24, 40, 59])
@pytest.mark.parametrize("pressed_", [[], ["x", "enter"], ["escape"], ["enter", "enter", "right"]])
def test_no_line_is_wider_than_the_terminal_or_begins_with_what_the_server_wrote(
    width: int, pressed_: list[str]
) -> None:
    fields = {
        HOSTILE: {"type": "string", "description": f"::warning::{HOSTILE}", "maxLength": 0},
        "::error::": {"oneOf": [{"const": HOSTILE, "title": "::x"}, *TITLED]},
        "漢字" * 20: {
            "type": "array",
            "items": {"enum": ["漢字" * 40, HOSTILE]},
            "title": HOSTILE * 9,
        },
    }
    form = keys(begin(schema(*fields, **fields), {"::error::": HOSTILE}), *pressed_)
    shown, _ = drawn(form, width, 40)
    assert [line for line in shown if columns(line) > width] == []
    assert [plain(line) for line in shown if not plain(line).isprintable()] == []
    assert [plain(line) for line in shown if plain(line).startswith(("::", "\\x1b"))] == []


def test_colour_only_repeats_what_the_text_says() -> None:
    form = keys(begin(schema("a", a={"enum": ["x", "y"]}), {}), "right")
    (styled,) = [piece for piece in drawn(form, 79, 40)[0][0] if "x" in piece.text]
    assert styled == ("› 1 x", "bold cyan")
    assert plain(entries.text_entry("x")[0]) == "› x"
