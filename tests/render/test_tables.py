from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render_samples import HOSTILE, LONG_ID

from mcptask.render.cells import cell_width, pad, shorten, shorten_middle
from mcptask.render.tables import (
    CallRow,
    Column,
    ServerRow,
    TaskRow,
    ToolRow,
    argument_table,
    server_table,
    table,
    task_table,
    tool_details,
    tool_table,
)

TASKS = [
    TaskRow(7, LONG_ID, "reflow_month", "studio", "working", 42.9, "Reflowing 96 of 142 bookings"),
    TaskRow(12, "tâche-1", "export", "books", "queued", 90_000, "順番を待っています " * 4),
    TaskRow(13, "x", None, "books", "tool_error", None, None),
]
CALLS = [CallRow(None, "deploy", "infra", 5)]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_list_fits_the_terminal_and_keeps_every_row(width: int) -> None:
    lines = task_table(TASKS, CALLS, width=width)
    assert len(lines) == 5
    assert all(cell_width(line) <= width for line in lines)
    assert lines[0].split()[:3] == ["REF", "TASK", "TOOL"]


def test_columns_stay_aligned_under_wide_characters() -> None:
    lines = task_table(TASKS, width=80)
    starts = {
        cell_width(line[: line.index(mark)]) for line, mark in zip(lines[1:], "●◌✗", strict=True)
    }
    assert len(starts) == 1


def test_a_pipe_gets_everything_uncut() -> None:
    text = "\n".join(task_table(TASKS, CALLS))
    assert LONG_ID in text
    assert "…" not in text
    assert "? no answer" in text


def test_the_beginning_and_the_end_of_an_id_survive_cutting() -> None:
    line = task_table(TASKS, width=80)[1]
    assert "tsk_0" in line
    assert "12  reflow" in line


def test_an_empty_list_has_no_header() -> None:
    assert task_table([], []) == []


def test_colour_is_on_the_state_alone() -> None:
    lines = task_table(TASKS, CALLS, width=120, colour=True)
    assert "\x1b[36m● working\x1b[0m" in lines[1]
    assert "\x1b" not in lines[0] + lines[4]


def test_tools_show_the_first_line_of_their_description() -> None:
    assert tool_table([ToolRow("a", "\nMoves.\nMore."), ToolRow("bb")]) == [
        "TOOL  DESCRIPTION",
        "a     Moves.",
        "bb",
    ]


def test_a_tool_shows_its_whole_description_and_its_arguments() -> None:
    schema = {
        "properties": {
            "month": {"type": "string", "description": "Which\nmonth"},
            "rooms": {"type": "array", "items": {"type": "string"}, "default": ["b"]},
            "how": {"enum": ["fast", "well"], "default": "well"},
        },
        "required": ["month"],
    }
    assert tool_details(ToolRow("reflow", "Moves.\n\nMore."), schema) == [
        "reflow",
        "Moves.",
        "",
        "More.",
        "",
        "ARGUMENT  TYPE                DEFAULT  DESCRIPTION",
        "month *   text                         Which",
        'rooms     a list (text each)  ["b"]',
        "how       fast · well         well",
        "",
        "* required",
    ]


@pytest.mark.parametrize("schema", [{}, {"properties": {}}, {"properties": 3}])
def test_a_tool_without_arguments_says_so(schema: dict[str, object]) -> None:
    assert argument_table(schema) == []
    assert tool_details(ToolRow("a"), schema) == ["a", "", "It takes no arguments."]


def test_servers_say_where_they_come_from() -> None:
    rows = [ServerRow("studio", "https://x", "config", True), ServerRow("demo", "built in", "–")]
    assert server_table(rows)[1] == "studio (default)  https://x  config"


def test_hostile_words_are_harmless_in_every_table() -> None:
    lines = [
        *task_table([TaskRow(1, HOSTILE, HOSTILE, HOSTILE, HOSTILE, 1, HOSTILE)]),
        *task_table([], [CallRow(1, HOSTILE, HOSTILE, 1)]),
        *tool_details(ToolRow(HOSTILE, HOSTILE), {"properties": {HOSTILE: {"default": HOSTILE}}}),
        *tool_table([ToolRow(HOSTILE, HOSTILE)]),
        *server_table([ServerRow(HOSTILE, HOSTILE, HOSTILE)]),
    ]
    assert all(line.isprintable() for line in lines)


def test_what_must_not_be_cut_makes_the_line_longer_than_the_screen() -> None:
    assert table([Column("A"), Column("B", least=2)], [("aaaa", "bbbb")], 5)[1] == "aaaa  b…"


WORDS = st.text(st.sampled_from("ab日本🚀é́ "), max_size=20)


@given(WORDS, st.integers(0, 12))
def test_cutting_never_gives_more_columns_than_asked_for(text: str, width: int) -> None:
    for cut in (shorten(text, width), shorten_middle(text, width)):
        assert cell_width(cut) <= width
        assert cell_width(pad(cut, width)) == width


def test_wide_and_combining_characters_are_measured_as_terminals_do() -> None:
    texts = ("abc", "日本", "e\u0301", "🚀", "é", "\u0378")
    assert [cell_width(text) for text in texts] == [3, 4, 1, 2, 1, 1]


def test_on_a_narrow_terminal_arguments_are_wrapped_and_nothing_of_them_is_cut() -> None:
    schema = {
        "properties": {
            "offline_rooms": {
                "type": "string",
                "description": "The rooms that are closed all month.",
            }
        }
    }
    narrow = argument_table(schema, width=30)
    assert narrow == ["offline_rooms  text", "    The rooms that are closed", "    all month."]
    assert len(argument_table(schema, width=200)) == 2
