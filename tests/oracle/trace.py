"""A trace file (`--trace`) read as evidence: what a real process sent, and what is wrong with it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.oracle import headers, messages


def entries(path: Path) -> list[dict[str, Any]]:
    """The entries of a trace; [] where nothing was traced. A SIGKILL may have cut the last line: no entry."""
    if not path.exists():
        return []
    *lines, _ = path.read_text(encoding="ascii").split("\n")
    return [json.loads(line) for line in lines]


def violations(traced: list[dict[str, Any]]) -> Iterator[str]:
    """Each fault of what was sent, with the message that has it."""
    asked: dict[tuple[int, str], set[Any]] = {}
    for entry in traced:
        if entry["direction"] != "out":
            continue
        message = entry.get("message")
        for fault in _of_entry(entry):
            yield f"{fault}\n  in {json.dumps(message or entry)}"
        if message is None:
            continue
        ids = asked.setdefault((entry["pid"], entry["server"]), set())
        given_up = (message.get("params") or {}).get("requestId")
        if message.get("method") == "notifications/cancelled" and given_up not in ids:
            yield f"no request has the id {given_up!r} that is given up (A6.5)"
        ids.add(message.get("id"))


def _of_entry(entry: dict[str, Any]) -> Iterator[str]:
    message = entry.get("message")
    if message is None:
        if entry.get("method") == "GET":
            yield from _look_for_a_stream(entry["headers"])
        return
    fault = messages.violation(message)
    if fault is not None:
        yield fault
    elif entry.get("transport") == "http":
        if entry["method"] != "POST":
            yield f"a message goes by POST, not by {entry['method']}"
        try:
            yield from headers.violations(entry["headers"], message)
        except ValueError as error:
            yield str(error)


def _look_for_a_stream(sent: dict[str, str]) -> Iterator[str]:
    """A GET is of older revisions only: no header of this one may go with it (A3.8)."""
    named = {name.lower() for name in sent}
    yield from (
        f"{name} on a GET" for name in sorted(named & {*headers.MODERN, *headers.FORBIDDEN})
    )
