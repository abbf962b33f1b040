"""Requests that were not sent, as text: what `--dry-run` prints. They come masked, as in the trace."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from mcptask.protocol.transports.messages import dump
from mcptask.render.text import clean


def request_text(requests: Sequence[Mapping[str, Any]], *, terminal: bool) -> str:
    """Over HTTP the request line, the headers and the body; over stdio the line.

    On a terminal the JSON is laid out to be read. For a pipe it is what would go out, byte for byte.
    """
    parts = [_head(request) + _json(request["message"], terminal) for request in requests]
    apart = terminal or any("headers" in request for request in requests)
    return ("\n\n" if apart else "\n").join(parts)


def _head(request: Mapping[str, Any]) -> str:
    if "headers" not in request:
        return ""
    headers = [f"{name}: {value}" for name, value in request["headers"].items()]
    first = f"{request['method']} {request['url']}"
    return "".join(f"{clean(text)}\n" for text in (first, *headers)) + "\n"


def _json(message: Mapping[str, Any], terminal: bool) -> str:
    return json.dumps(message, indent=2) if terminal else dump(dict(message)).decode("ascii")
