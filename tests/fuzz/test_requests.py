"""What is sent, whatever is put into it: one line of ASCII and headers that are none but headers."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import UsageError
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.headers import encode, param_headers
from mcptask.protocol.transports.http_client import encoded
from mcptask.protocol.transports.messages import dump
from tests.fuzz.hostile import (
    LONGEST_MESSAGE,
    OBJECTS,
    SCHEMA,
    TEXTS,
    VALUES,
    nested,
    outcome,
    tries,
)


@tries(150)
@given(OBJECTS, TEXTS)
def test_a_call_with_any_arguments_is_one_line_of_ascii_or_refused_a6_1(
    arguments: dict[str, Any], name: str
) -> None:
    call = next(V20260728().call_tool(name, arguments, None))
    message = Request(1, call.method, call.params).message()
    line = outcome(UsageError, dump, message)
    if isinstance(line, UsageError):
        assert len(line.message) < LONGEST_MESSAGE
        assert any(word in json.dumps(message) for word in ("NaN", "Infinity"))
        return
    assert line.isascii()
    assert not {10, 13} & set(line)
    assert json.loads(line) == message
    assert all(value.isascii() for _, value in encoded({"mcp-name": encode(name)}))


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, {1}, b"x", 10**5000, nested(100_000), {("a",): 1}],
    ids=["NaN", "infinity", "a set", "bytes", "5001 digits", "deep", "no text for a key"],
)
def test_what_has_no_json_form_is_refused_before_it_is_sent_a6_1(value: Any) -> None:
    with pytest.raises(UsageError, match="JSON"):
        dump({"params": value})


@tries(100)
@given(st.dictionaries(st.sampled_from(["month", "room", "x"]), VALUES))
def test_headers_of_any_arguments_can_be_sent_or_are_refused_a3_4_a3_6(
    arguments: dict[str, Any],
) -> None:
    headers = outcome(UsageError, param_headers, SCHEMA, arguments)
    if isinstance(headers, UsageError):
        assert len(headers.message) < LONGEST_MESSAGE
        return
    assert headers.keys() <= {"Mcp-Param-Month", "Mcp-Param-No"}
    assert len(encoded(headers)) == len(headers)
