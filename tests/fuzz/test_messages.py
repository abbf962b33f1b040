"""What is read as JSON-RPC: any bytes, any values, odd numbers, deep nesting."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError, RpcError, TooLarge
from mcptask.protocol.generations.jsonrpc import result_of
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.messages import (
    DEEPEST,
    Noise,
    Sieve,
    answers,
    error_in,
    is_response,
    is_server_request,
    parse,
    rpc_messages,
)
from tests.fuzz.hostile import (
    LONGEST_MESSAGE,
    OBJECTS,
    PLAUSIBLE,
    VALUES,
    nested,
    outcome,
    scraps,
    spoiled,
    tries,
)

MESSAGES: list[dict[str, Any]] = [
    *({"jsonrpc": "2.0", "id": 7, "result": result} for result in PLAUSIBLE),
    {"jsonrpc": "2.0", "id": "7", "error": {"code": -32602, "message": "no", "data": {}}},
    {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no"}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 7}},
    {"jsonrpc": "2.0", "id": 0, "method": "ping"},
]
ANY_MESSAGE = spoiled(MESSAGES) | OBJECTS
BYTES = scraps(
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b'"jsonrpc":"2.0"', b'"result":', b'"error":',
    b"NaN", b"-Infinity", b"1e999", b"-", b"9" * 50, b"null", b"\\ud800", b"\xef\xbb\xbf", b"\xff",
)  # fmt: skip
REQUEST = Request(7, "tasks/get", {})


# ── reading ──────────────────────────────────────────────────────────────────────────────────────


def depth(value: Any) -> int:
    inner = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    )
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


@tries(200)
@given(BYTES | st.binary() | VALUES.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_json_value_of_bounded_depth_or_no_json_a5_9(data: bytes) -> None:
    value = outcome(ValueError, parse, data)
    if isinstance(value, ValueError):
        assert error_in(data) is None
        return
    assert depth(value) <= DEEPEST
    json.dumps(value)
    error = error_in(data)
    assert error is None or isinstance(error["error"], dict)


@tries(100)
@given(VALUES)
def test_what_is_json_is_read_as_it_was_written_c2(value: Any) -> None:
    assert json.dumps(parse(json.dumps(value).encode())) == json.dumps(without_nan(value))


@pytest.mark.parametrize("brackets", [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_is_read_to_a_stated_depth_and_no_further_a5_9(
    brackets: tuple[bytes, bytes],
) -> None:
    opening, closing = brackets
    assert depth(parse(opening * DEEPEST + b"1" + closing * DEEPEST)) == DEEPEST
    for levels in (DEEPEST + 1, 990, 5_000, 1_000_000):
        with pytest.raises(TooLarge, match=r"128 levels deep|over 81920 arrays"):
            parse(opening * levels + b"1" + closing * levels)


def test_many_brackets_side_by_side_are_not_deep_a5_9() -> None:
    wide = [[]] * 10_000
    assert parse(json.dumps(wide).encode()) == wide
    assert parse(b'"' + b"[" * 10_000 + b'"') == "[" * 10_000


def test_a_value_that_was_read_can_be_quoted_from_any_place_t11() -> None:
    """An error that is no object is quoted in a message, more calls deep than it was read."""
    message = parse(json.dumps({"error": nested(DEEPEST - 1)}).encode())

    def further_down(calls: int) -> None:
        if calls:
            further_down(calls - 1)
        else:
            result_of(message)

    with pytest.raises(RpcError):
        further_down(500)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"1e999", math.inf),
        (b"-1e999", -math.inf),
        (b"Infinity", math.inf),
        (b"-Infinity", -math.inf),
        (b"NaN", None),
        (b"1e-999", 0.0),
        (b"9" * 4300, 10**4300 - 1),
    ],
    ids=lambda odd: odd[:10].decode() if isinstance(odd, bytes) else "",
)
def test_odd_numbers_are_read_as_far_as_they_can_be_t13(text: bytes, value: Any) -> None:
    assert parse(b'{"n":' + text + b"}") == {"n": value}


@pytest.mark.parametrize(
    "text",
    [b"9" * 4301, b"-" + b"9" * 100_000, b"+1", b"0x1", b"nan", b"-NaN"],
    ids=["4301 digits", "more digits", "a plus", "hexadecimal", "lower case", "minus"],
)
def test_what_is_no_number_to_python_is_no_json_a4_3_t13(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (of several kinds)
        parse(b'{"n":' + text + b"}")


@tries(100)
@given(ANY_MESSAGE)
def test_any_response_is_a_result_object_or_an_error_t11(message: dict[str, Any]) -> None:
    found = outcome((RpcError, ProtocolError), result_of, message)
    if isinstance(found, RpcError):
        assert message["error"] is not None
        assert (type(found.code), type(found.message)) == (int, str)
    elif isinstance(found, ProtocolError):
        assert len(found.message) < LONGEST_MESSAGE
        assert message.get("error") is None
    else:
        assert found is message["result"]


@tries(100)
@given(st.lists(ANY_MESSAGE | VALUES, max_size=4) | ANY_MESSAGE | VALUES)
def test_whatever_comes_on_a_stream_only_the_own_messages_pass_a5_5(value: Any) -> None:
    remarks: list[str] = []
    noise = Noise(remarks.append)
    own = list(Sieve(REQUEST, noise).own(value))
    found = rpc_messages(value)
    assert all(any(message is each for each in found) for message in own)
    for message in own:
        assert not is_server_request(message)
        assert not is_response(message) or answers(message, REQUEST)
    assert len(own) + sum(noise.counts.values()) == max(len(found), 1)
    noise.tell_totals()
    assert all(len(remark) < LONGEST_MESSAGE for remark in remarks)


def test_a_remark_quotes_only_the_start_of_what_it_is_about_c2() -> None:
    remarks: list[str] = []
    Noise(remarks.append).heard("a notification belongs to no open request", "x\n" * 10**6)
    assert len(remarks[0]) < LONGEST_MESSAGE
    assert "\n" not in remarks[0]
