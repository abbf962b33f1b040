"""A question as a form, line by line: what a person reads before and after typing."""

from __future__ import annotations

from typing import Any

import pytest
from render_samples import APPROVE, HOSTILE

from mcptask.protocol.questions import Question
from mcptask.render import forms
from mcptask.render.cells import cell_width

TITLED = [{"const": "w", "title": "On hold"}, {"const": "r", "title": "Refund"}]
COUNT = {"type": "integer", "minimum": 0, "maximum": 10}
FORM = APPROVE["params"]["requestedSchema"]


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def one(each: Any, *required: str, width: int = 80, **values: Any) -> str:
    return "\n".join(forms.field_lines("f", schema(*required, f=each), values, width))


def test_who_asks_comes_first_then_the_whole_message_a12_12() -> None:
    asked = Question("approve", APPROVE)
    lines = forms.question_lines("studio", "reflow_month", "7", asked, 80, colour=False)
    assert lines == [
        "◐ studio asks (approve), for reflow_month, task 7:",
        "  4 bookings fit nowhere.",
        "  What should happen to them?",
    ]
    coloured = forms.question_lines("studio", "reflow_month", "7", asked, 80, colour=True)
    assert coloured == ["\x1b[33m◐\x1b[0m" + lines[0][1:], *lines[1:]]


@pytest.mark.parametrize(
    ("each", "required", "values", "expected"),
    [
        ({"type": "string", "maxLength": 9}, (), {}, "f  text of at most 9 characters · "),
        ({"type": "string", "format": "email"}, (), {}, "f  an e-mail address · "),
        (COUNT, ("f",), {}, "f *  an integer from 0 to 10"),
        (COUNT, ("f",), {"f": 5}, "f *  an integer from 0 to 10 · Enter takes 5"),
        (COUNT, (), {"f": 0}, "Enter takes 0 · :x leaves it out"),
        ({"type": "boolean"}, (), {"f": False}, "f  yes or no · Enter takes no · :x leaves it out"),
        ({"type": "string"}, (), {"f": ""}, "Enter takes (an empty text)"),
        ({"enum": ["a", "b"]}, ("f",), {}, "f *  1 a · 2 b"),
        ({"enum": ["a", "b"], "enumNames": ["A", "B"]}, (), {}, "f  1 A (a) · 2 B (b)"),
        (
            {"oneOf": TITLED},
            ("f",),
            {"f": "r"},
            "1 On hold (w) · 2 Refund (r) · Enter takes Refund",
        ),
        ({"type": "integer", "enum": [3, 1]}, ("f",), {}, "f *  3 · 1"),
        (
            {"type": "array", "items": {"anyOf": TITLED}, "minItems": 1},
            ("f",),
            {"f": ["w", "r"]},
            "1 On hold (w) · 2 Refund (r) · at least 1 of them · several with commas",
        ),
        ({"type": "array", "items": {"anyOf": TITLED}}, (), {"f": []}, "takes (an empty list)"),
        ({"type": "array", "items": {"type": "string"}}, (), {}, "f  a list (text each) · several"),
        ({"type": "object"}, (), {}, "f  a JSON object · Enter leaves it out"),
        (
            {"type": "string", "description": "who\nit is"},
            ("f",),
            {},
            "  f *  text\n    who\n    it is",
        ),
        ({"$ref": "#/nowhere"}, (), {}, "f  any value · Enter leaves it out"),
    ],
)
def test_a_field_tells_what_to_type_and_what_enter_does_a12_12(
    each: Any, required: tuple[str, ...], values: dict[str, Any], expected: str
) -> None:
    assert expected in one(each, *required, width=200, **values)


def test_a_long_list_of_choices_is_numbered_and_bounded() -> None:
    lines = one({"enum": [f"room-{n}-x" for n in range(300)]}, width=60)
    assert "200 room-199-x · and 100 more" in lines.replace("\n    ", " · ")
    assert "room-200" not in lines


def test_the_ways_out_are_told_before_the_first_field() -> None:
    out = " · ".join([":d declines", ":c cancels the question", ":l leaves it for later"])
    assert forms.way_out_lines(schema(), 80, started=True) == [out]
    assert forms.way_out_lines(schema("f", f={}), 80, started=True) == [f"* needed · {out}"]


def test_the_last_look_shows_the_whole_answer_a12_12() -> None:
    values = {"action": "refund"}
    assert forms.review_lines(FORM, values, 80) == [
        "  action  refund",
        "  note    (left out)",
    ]
    assert forms.review_ways(edits=True) == ["Enter sends", "e edits"]
    assert forms.review_lines(schema(), {}, 80) == ["  (no fields)"]
    assert forms.review_ways(edits=False) == ["Enter sends"]


def test_what_cannot_be_sent_is_not_offered_for_sending() -> None:
    assert forms.review_ways(edits=True, problem="action is needed") == ["e edits"]


@pytest.mark.parametrize(
    ("how", "started", "told"),
    [
        ("decline", True, "Answer given to go: no (declined)."),
        ("cancel", False, "Answer given to go: neither yes nor no (cancelled)."),
        ("later", True, "No answer to go: left for later."),
        ("later", False, "No answer to go: nothing is started."),
    ],
)
def test_what_became_of_a_question_that_was_left_is_told(
    how: str, started: bool, told: str
) -> None:
    assert forms.left_lines("go", how, 80, started=started) == [told]


def test_before_there_is_a_task_nothing_is_left_for_later_a8_4() -> None:
    assert forms.leaving(started=True)[-1] == "l leaves it for later"
    assert forms.leaving(started=False)[-1] == "l stops here, nothing is started"
    meaning = " ".join(forms.leaving_lines(80, started=True))
    assert "the task waits" in meaning
    assert "task" not in " ".join(forms.leaving_lines(80, started=False))


def test_wrong_input_is_told_with_what_would_be_right() -> None:
    lines = forms.wrong_lines("n: expected\nan integer", "did you mean 3?", 80, colour=False)
    assert lines == ["  ! n: expected an integer", "    did you mean 3?"]
    assert forms.wrong_lines("x", None, 80, colour=True) == ["  \x1b[31m!\x1b[0m x"]


def test_an_address_is_shown_whole_on_one_line_with_its_host_a12_13() -> None:
    url = "https://x.example/" + "a" * 200
    lines = forms.address_lines(url, "x.example", ["look out"], None, 80)
    assert lines == [
        f"  {url}",
        "  host: x.example",
        "  ! look out",
    ]
    assert forms.no_browser_lines("no $DISPLAY", 200) == [
        "No browser can be opened here: no $DISPLAY. Open it yourself, here or elsewhere, and say so:"
    ]
    assert forms.no_browser_lines(None, 80) == []
    assert forms.address_ways(allowed=True, browser=False) == ["y agrees to open it"]
    assert forms.address_ways(allowed=True, browser=True) == [
        "o opens it in the browser",
        "y agrees, and you open it yourself",
    ]
    assert forms.address_ways(allowed=False, browser=True) == []


def test_an_address_that_is_refused_cannot_be_agreed_to_a12_13() -> None:
    lines = forms.address_lines("file:///x", "", [], "only http and https are opened", 80)
    assert any("nobody can agree" in line for line in lines)
    assert forms.address_lines(None, "", [], "there is no address", 80)[0].startswith("  !")


def test_other_requests_are_shown_as_they_came() -> None:
    request = {"method": "sampling/createMessage", "params": {"maxTokens": 9, "a\x1b": "\x9b2J"}}
    lines = forms.unanswerable_lines(request, "7 -s x", 80)
    assert lines[0] == "  sampling/createMessage"
    assert '    "maxTokens": 9,' in lines
    told = " ".join(lines)
    assert "With --answer-with COMMAND mcptask answers it" in told
    assert "mcptask update 7 -s x --responses JSON" in told
    assert all(line.isprintable() for line in lines)
    many = {"method": "x", "params": {str(number): number for number in range(40)}}
    assert "  … and 30 more lines" in forms.unanswerable_lines(many, "", 80)
    roots = " ".join(forms.unanswerable_lines({"method": "roots/list"}, "", 80))
    assert "--root PATH" in roots
    assert "update" not in roots  # there is no task yet


def test_one_line_more_than_there_is_room_for_is_shown_in_the_place_of_its_number() -> None:
    def described(lines: int) -> str:
        return one({"description": "\n".join(f"line {number}" for number in range(lines))}, 80)

    assert described(5).endswith("line 4")
    assert described(6).endswith("line 3\n    … and 2 more lines")


@pytest.mark.parametrize("width", [24, 40, 60])
def test_no_line_is_wider_than_the_terminal_or_begins_with_what_the_server_wrote(
    width: int,
) -> None:
    hostile = {
        "method": HOSTILE,
        "params": {
            "message": f"::error::x\n{HOSTILE}\n" + "word " * 40,
            HOSTILE: HOSTILE,
        },
    }
    fields = schema(
        HOSTILE,
        **{
            HOSTILE: {"oneOf": [{"const": HOSTILE, "title": "::x"}], "description": "::warning::"},
            "漢字" * 20: {"type": "string", "title": HOSTILE * 9},
        },
    )
    asked = Question(HOSTILE, hostile, changed=True, refused=HOSTILE)
    values = {HOSTILE: HOSTILE, "漢字" * 20: ["漢字" * 40, {"a": HOSTILE}]}
    lines = [
        *forms.question_lines(HOSTILE, HOSTILE, HOSTILE, asked, width, colour=False),
        *forms.unanswerable_lines(hostile, "7", width),
        *forms.json_lines([HOSTILE, "::x"], HOSTILE, width, editor=False),
        *forms.json_review_lines(values, width),
        *forms.way_out_lines(fields, width, started=True),
        *forms.left_lines(HOSTILE, "later", width, started=True),
        *forms.leaving_lines(width, started=True),
        *forms.no_browser_lines(HOSTILE, width),
        *(line for name in values for line in forms.field_lines(name, fields, values, width)),
        *forms.review_lines(fields, values, width),
        *forms.wrong_lines(HOSTILE, HOSTILE, width, colour=False),
        *forms.address_lines(HOSTILE, HOSTILE, [HOSTILE], HOSTILE, width)[1:],
    ]
    assert [line for line in lines if not line.isprintable()] == []
    assert [line for line in lines if line.startswith(("::", "\\x1b"))] == []
    assert [line for line in lines if cell_width(line) > width] == []


@pytest.mark.parametrize("broken", [3, {"properties": 3}, {"properties": {"a": 3}, "required": 3}])
def test_a_schema_that_is_none_is_shown_without_falling_over(broken: Any) -> None:
    form = broken if isinstance(broken, dict) else {}
    lines = [*forms.field_lines("a", form, {}, 80), *forms.way_out_lines(form, 80, started=False)]
    lines += forms.review_lines(form, {}, 80)
    asked = Question("k", {"method": "m", "params": broken})
    lines += forms.question_lines("s", "t", "", asked, 80, colour=True)
    assert all(isinstance(line, str) for line in lines)
