"""The JSON that programs rely on, held to the types of `mcptask.render.contract`, nothing more allowed."""

import json
import typing
from typing import Any

import typing_extensions
from pydantic import ConfigDict, TypeAdapter

from mcptask.render import contract


def _closed(kind: Any) -> Any:
    """The same type, refusing every key that it does not name and every conversion."""
    if typing.is_typeddict(kind):
        found = typing.get_type_hints(kind, include_extras=True)  # also what is not required
        hints = {name: _closed(hint) for name, hint in found.items()}
        made = typing_extensions.TypedDict(kind.__name__, hints)  # type: ignore[misc]
        made.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[attr-defined]
        return made
    parts = typing.get_args(kind)
    if typing.get_origin(kind) is typing.NotRequired:
        return typing.NotRequired[_closed(parts[0])]
    if typing.get_origin(kind) is list:
        return list[_closed(parts[0])]  # type: ignore[misc]
    if any(typing.is_typeddict(part) for part in parts):
        return typing.Union[tuple(map(_closed, parts))]  # noqa: UP007
    return kind


DOCUMENT = TypeAdapter(_closed(contract.Document))
DOCUMENTS = TypeAdapter(_closed(contract.Documents))
DRY_RUN = TypeAdapter(_closed(contract.DryRunDocument))
LISTED = TypeAdapter(_closed(contract.ListDocument))
EVENT = TypeAdapter(_closed(contract.TaskEventLine))


def document(text: str) -> dict[str, Any]:
    """The one document of a task or a call."""
    body: dict[str, Any] = json.loads(text)
    DOCUMENT.validate_python(body)
    assert body["ok"] is (body["exitCode"] == 0)
    return body


def documents(text: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(text)
    DOCUMENTS.validate_python(body)
    return body


def dry_run(text: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(text)
    DRY_RUN.validate_python(body)
    return body


def listed(text: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(text)
    LISTED.validate_python(body)
    return body


def events(text: str) -> list[dict[str, Any]]:
    """The lines of `--jsonl`: numbered from 1, the last one with the document."""
    assert text.endswith("\n")
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    for line in lines:
        EVENT.validate_python(line)
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[-1]["event"] == "ended"
    return lines
