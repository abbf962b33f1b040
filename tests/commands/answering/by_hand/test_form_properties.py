"""Whatever is typed at a form, nothing that does not fit comes out of it (A12.12)."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mcptask.arguments.responses import content_problem, defaults, lacking
from mcptask.commands.answering.by_hand.form import begin, drawn, pressed
from mcptask.commands.answering.by_hand.keys import Key
from mcptask.render.ink import columns, plain

NAMED = [
    "enter",
    "tab",
    "back tab",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "backspace",
    "delete",
]
KEYS = st.one_of(
    st.sampled_from(
        [Key(name) for name in [*NAMED, "cut before", "cut after", "cut word", "escape"]]
    ),
    st.sampled_from([Key("text", each) for each in "0129.-aey @:/TZ漢\u202e"]),
    st.sampled_from([Key("enter")]),  # so that some get to the end
    st.just(Key("paste", "one,\ntwo\x1b")),
)
FIELDS: list[dict[str, Any]] = [
    {"type": "string", "minLength": 1, "maxLength": 3},
    {"type": "string", "format": "email", "default": "a@b"},
    {"type": "integer", "minimum": 0, "maximum": 99, "default": 0},
    {"type": "number", "minimum": 0.5},
    {"type": "boolean", "default": False},
    {"type": "boolean"},
    {"enum": ["yes", "no", "9"], "default": "never"},
    {"oneOf": [{"const": 1, "title": "One"}, {"const": True, "title": "True"}]},
    {"type": "array", "items": {"enum": ["a", "e", "y"]}, "minItems": 1, "maxItems": 2},
    {"type": "array", "items": {"type": "string"}, "default": ["a, b"]},
]
SCHEMAS = st.lists(st.tuples(st.sampled_from(FIELDS), st.booleans()), min_size=1, max_size=4).map(
    lambda chosen: {
        "type": "object",
        "properties": {f"f{n}": each for n, (each, _) in enumerate(chosen)},
        "required": [f"f{n}" for n, (_, needed) in enumerate(chosen) if needed],
    }
)


@settings(max_examples=200)
@given(SCHEMAS, st.lists(KEYS, max_size=60), st.integers(30, 90))
def test_what_is_filled_in_fits_and_every_frame_too_a12_12(
    schema: dict[str, Any], keys: list[Key], width: int
) -> None:
    form = begin(schema, defaults(schema))
    for key in keys:
        lines, cursor = drawn(form, width, 24)
        assert all(columns(line) <= width and plain(line).isprintable() for line in lines)
        assert len(lines) <= 24
        assert cursor is None or (cursor[0] < len(lines) and cursor[1] <= width)
        form = pressed(form, key)
        if form.done or form.left is not None:
            break
    if form.done:
        assert lacking(form.content, schema) == []
        assert content_problem(form.content, schema) is None
