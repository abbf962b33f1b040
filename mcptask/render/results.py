"""A CallToolResult as text for stdout: what a person, or a pipe, wants of it. `--json` has the whole.

Text for a pipe is data and is passed on exactly, every byte that the server sent; on a terminal it is made
safe first, since there a control character acts instead of being read, and what is ours stands among it. Our
own words about a block (`[image/png, 2.1 MB]`) are safe in both.
"""

import json
from collections.abc import Mapping
from typing import Any

from mcptask.render.jsonout import dump, line
from mcptask.render.text import clean, clean_json, leading_block, size

# JSON up to this long stays on one line.
_ONE_LINE = 78
WHOLE = "--json has it"


def result_text(result: Mapping[str, Any], *, terminal: bool) -> str:
    """What stdout gets, ending in a newline; empty where the result holds nothing to print."""
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    parts = [_block(block, terminal) for block in blocks]
    if not any(_is_text(block) for block in blocks) and "structuredContent" in result:
        parts.append(json_text(result["structuredContent"]))
    return "".join(part if part.endswith("\n") else part + "\n" for part in parts)


def json_text(value: Any) -> str:
    """JSON for people: one line if it is short, letters as they are, everything unsafe escaped."""
    short = _readable(value, None)
    return short if len(short) <= _ONE_LINE else _readable(value, 2)


def _readable(value: Any, indent: int | None) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except (ValueError, RecursionError):  # infinity, or too deep to indent
        return dump(value) if indent else line(value)
    return clean_json(text)


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("text"), str)


def _block(block: Any, terminal: bool) -> str:
    if not isinstance(block, dict):
        return f"[something that is no content block, {WHOLE}]"
    kind = block.get("type")
    if kind == "text" and _is_text(block):
        return _text(block["text"], terminal)
    if kind in {"image", "audio"}:
        return _note(_word(block, "mimeType", str(kind)), _data_size(block.get("data")), WHOLE)
    if kind == "resource" and isinstance(block.get("resource"), dict):
        return _resource(block["resource"], terminal)
    if kind == "resource_link":
        name = _word(block, "title", _word(block, "name", "resource"))
        return _note(f"{name}: {_word(block, 'uri', 'no address')}", _optional(block, "mimeType"))
    return _note(f'a block of type "{clean(str(kind))}"', WHOLE)


def _resource(resource: Mapping[str, Any], terminal: bool) -> str:
    if isinstance(resource.get("text"), str):
        return _text(resource["text"], terminal)
    kind = _word(resource, "mimeType", "resource")
    return _note(kind, _data_size(resource.get("blob")), _optional(resource, "uri"), WHOLE)


def _text(text: str, terminal: bool) -> str:
    return leading_block(text) if terminal else text


def _note(*words: str) -> str:
    return f"[{', '.join(word for word in words if word)}]"


def _word(values: Mapping[str, Any], key: str, otherwise: str) -> str:
    value = values.get(key)
    return clean(value) if isinstance(value, str) and value else otherwise


def _optional(values: Mapping[str, Any], key: str) -> str:
    return _word(values, key, "")


def _data_size(data: Any) -> str:
    """The size of what base64 text holds, without decoding it."""
    if not isinstance(data, str):
        return ""
    length = len(data.rstrip("="))
    return size(length * 3 // 4)
