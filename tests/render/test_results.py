from __future__ import annotations

import json
from typing import Any

import pytest
from render_samples import HOSTILE

from mcptask.render.results import json_text, result_text

TEXT = {"type": "text", "text": "moved 138, unresolved 4"}


def shown(*blocks: Any, **more: Any) -> str:
    return result_text({"content": list(blocks), **more}, terminal=True)


def test_text_blocks_are_printed_as_they_are() -> None:
    assert shown(TEXT, {"type": "text", "text": "a\n\tb\n"}) == "moved 138, unresolved 4\na\n\tb\n"


def test_structured_content_is_printed_where_there_is_no_text_and_never_twice() -> None:
    assert shown(structuredContent={"moved": 138}) == '{"moved": 138}\n'
    assert shown(TEXT, structuredContent={"moved": 138}) == "moved 138, unresolved 4\n"


@pytest.mark.parametrize("value", [[], 0, None, False, "", {}])
def test_structured_content_counts_whatever_its_value(value: Any) -> None:
    assert shown(structuredContent=value) == json.dumps(value) + "\n"


def test_a_result_with_nothing_in_it_prints_nothing() -> None:
    assert shown() == ""
    assert result_text({}, terminal=True) == ""
    assert result_text({"content": "no list"}, terminal=True) == ""


def test_a_terminal_gets_safe_text_and_a_pipe_gets_it_exactly() -> None:
    block = {"type": "text", "text": HOSTILE}
    assert result_text({"content": [block]}, terminal=False) == HOSTILE + "\n"
    assert shown(block).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"type": "image", "mimeType": "image/png", "data": "A" * 2_800_000}, "image/png, 2.1 MB"),
        ({"type": "image", "mimeType": "image/png", "data": "QQ=="}, "image/png, 1 B"),
        ({"type": "audio", "data": 3}, "audio"),
        (
            {"type": "resource", "resource": {"uri": "file:///x", "blob": "QUJD"}},
            "resource, 3 B, file:///x",
        ),
        ({"type": "video"}, 'a block of type "video"'),
        ({"type": "text"}, 'a block of type "text"'),
        ({"type": HOSTILE}, 'a block of type "'),
        ({}, 'a block of type "None"'),
        (7, "something that is no content block"),
    ],
)
def test_a_block_that_is_no_text_is_named_and_json_has_it(block: Any, expected: str) -> None:
    for terminal in (True, False):
        text = result_text({"content": [block]}, terminal=terminal)
        assert text.startswith(f"[{expected}")
        assert text.endswith(", --json has it]\n")
        assert text[:-1].isprintable()


def test_a_resource_is_its_text_and_a_link_is_named() -> None:
    assert shown({"type": "resource", "resource": {"uri": "u", "text": "inside"}}) == "inside\n"
    link = {"type": "resource_link", "uri": "file:///x", "name": "x", "mimeType": "text/csv"}
    assert shown(link) == "[x: file:///x, text/csv]\n"
    assert shown({"type": "resource_link"}) == "[resource: no address]\n"


def test_structured_content_beside_an_image_is_printed_too() -> None:
    text = shown({"type": "image", "mimeType": "image/png", "data": ""}, structuredContent=[1])
    assert text == "[image/png, 0 B, --json has it]\n[1]\n"


def test_json_for_people_keeps_letters_escapes_controls_and_stays_json() -> None:
    value = {"name": "tâche", "hostile": HOSTILE}
    text = json_text(value)
    assert '"tâche"' in text
    assert text.replace("\n", "").isprintable()
    assert json.loads(text) == value


def test_long_json_is_indented_and_odd_numbers_stay_json() -> None:
    assert json_text({"a": "x" * 80}).count("\n") == 2
    assert json_text([float("inf")]) == "[1e999]"
    deep: Any = "x" * 80
    for _ in range(600):
        deep = [deep]
    assert json.loads(json_text(deep)) == deep
