"""What a JSON-RPC response says."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings

from mcptask.errors import ProtocolError, RpcError
from mcptask.protocol.generations.jsonrpc import INTERNAL_ERROR, result_of
from tests.protocol.fakes import JSON_OBJECTS


def test_a_result_object_is_returned_as_it_came() -> None:
    result = {"tools": []}
    assert result_of({"jsonrpc": "2.0", "id": 1, "result": result}) is result


@pytest.mark.parametrize("message", [{}, {"result": None}, {"result": []}, {"error": None}])
def test_neither_result_nor_error_breaks_the_protocol(message: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        result_of(message)


def test_an_error_of_null_beside_a_result_is_no_error_c2() -> None:
    assert result_of({"result": {}, "error": None}) == {}


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"code": -32602, "message": "no"}, -32602, "no"),
        ({"code": -32602}, -32602, "the server gave no reason"),
        ({"code": "E1", "message": "no"}, INTERNAL_ERROR, "no"),
        ({"code": True, "message": "no"}, INTERNAL_ERROR, "no"),
        ({}, INTERNAL_ERROR, "the server gave no reason"),
        ("broken", INTERNAL_ERROR, "broken"),
        ([1], INTERNAL_ERROR, "[1]"),
    ],
)
def test_a_broken_error_is_still_an_error_t11(error: Any, code: int, message: str) -> None:
    with pytest.raises(RpcError) as caught:
        result_of({"error": error, "result": {}})
    assert (caught.value.code, caught.value.message) == (code, message)


def test_the_data_of_an_error_is_kept_as_it_came() -> None:
    with pytest.raises(RpcError) as caught:
        result_of({"error": {"code": -32022, "message": "no", "data": {"supported": []}}})
    assert caught.value.data == {"supported": []}


@settings(max_examples=40)
@given(JSON_OBJECTS)
def test_any_message_is_a_result_or_an_error_of_ours(message: dict[str, Any]) -> None:
    with suppress(ProtocolError, RpcError):
        assert isinstance(result_of(message), dict)
