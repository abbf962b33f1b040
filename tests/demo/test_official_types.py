"""What the demo server answers, by the official types of results: a client that is tried on a wrong server
learns nothing."""

import json
from typing import Any

import pytest
from mcp_types import _v2026_07_28 as official
from mcp_types.methods import validate_server_result
from pydantic import TypeAdapter, ValidationError

from mcptask.demo.catalog import TOOLS
from mcptask.demo.jsonrpc import Json
from tests.demo.interviewed import ANSWERS, go_through
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


# What a field of a form may be; each of them ignores what it does not know.
FIELDS = [
    TypeAdapter[Any](kind)
    for kind in (
        official.BooleanSchema,
        official.LegacyTitledEnumSchema,
        official.NumberSchema,
        official.StringSchema,
        official.TitledMultiSelectEnumSchema,
        official.TitledSingleSelectEnumSchema,
        official.UntitledMultiSelectEnumSchema,
        official.UntitledSingleSelectEnumSchema,
    )
]
# On purpose: there are servers that ask so.
BEYOND = {"band"}


def _is_official(field: Json) -> bool:
    return any(_says_all_of(kind, field) for kind in FIELDS)


def _says_all_of(kind: TypeAdapter[Any], field: Json) -> bool:
    try:
        read = kind.validate_python(field, strict=True)
    except ValidationError:
        return False
    return bool(kind.dump_python(read, by_alias=True, exclude_unset=True) == field)


@pytest.mark.parametrize("key", ANSWERS)
def test_a_question_of_the_interview_is_of_the_official_type(key: str, bench: Bench) -> None:
    questions, _ = go_through(bench, ANSWERS)
    question = json.loads(json.dumps(questions[key]))
    asking = {"resultType": "input_required", "inputRequests": {key: question}}
    validate_server_result("tools/call", VERSION, asking)
    schema = question.get("params", {}).get("requestedSchema", {})
    fields = schema.get("properties", {}).values()
    assert all(_is_official(field) for field in fields) == (key not in BEYOND)
