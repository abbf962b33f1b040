"""What the demo server answers, by the official types of results: a client that is tried on a wrong server
learns nothing."""

import json
from typing import Any

import pytest
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from mcptask.demo.catalog import TOOLS
from tests.demo.wire import EVERYTHING, Bench
from tests.oracle.messages import VERSION

ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "what it is": ("server/discover", {}),
    "its tools": ("tools/list", {}),
    "a result": ("tools/call", {"name": "quick", "arguments": {"text": "é"}}),
    "an error of the tool": ("tools/call", {"name": "quick", "arguments": {"nonsense": 1}}),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_answer_of_the_demo_is_of_the_official_type(name: str, bench: Bench) -> None:
    method, params = ASKED[name]
    result = bench.result(method, EVERYTHING, **params)
    validate_server_result(method, VERSION, json.loads(json.dumps(result)))


def test_the_official_type_is_one_that_can_refuse(bench: Bench) -> None:
    result = bench.result("tools/list") | {"tools": [{"name": next(iter(TOOLS))}]}
    with pytest.raises(ValidationError, match="inputSchema"):
        validate_server_result("tools/list", VERSION, result)
