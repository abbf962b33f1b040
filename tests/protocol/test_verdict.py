"""The table of A1.3, row by row: what each outcome of the probe says, over HTTP and over stdio."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import (
    Garbled,
    HttpRefused,
    ProtocolError,
    RpcError,
    TaskLost,
    Unauthorized,
    Unreachable,
    WireError,
)
from mcptask.protocol.generations.base import Discovered
from mcptask.protocol.verdict import Era, Verdict, how_taken, is_doubtful, is_older, judge
from tests.protocol.fakes import JSON

OURS = "2026-07-28"
OLD = ("2025-11-25", "2025-06-18")
MODERN, LISTED, REFUSED, OTHER, OLDER, UNKNOWN = Era


def discovered(*versions: str) -> Discovered:
    return Discovered(versions=versions, raw={})


def refusal(code: int, **data: Any) -> RpcError:
    return RpcError(code, "no", data=data or None)


# The outcome, and the verdict over HTTP and over stdio.
ROWS: list[tuple[Discovered | WireError, Era, Era]] = [
    (discovered(OURS), MODERN, MODERN),
    (discovered("2099-01-01", *OLD, OURS), MODERN, MODERN),
    (discovered(*OLD), OTHER, OTHER),
    (discovered("2099-01-01"), OTHER, OTHER),
    (discovered(), OTHER, OTHER),
    (ProtocolError("names no supportedVersions"), OLDER, OLDER),
    (refusal(-32022, supported=[OURS]), LISTED, LISTED),
    (refusal(-32022, supported=["2099-01-01", OURS]), LISTED, LISTED),
    (refusal(-32022, supported=list(OLD)), OTHER, OTHER),
    (refusal(-32022, supported=["2099-01-01"]), OTHER, OTHER),
    (refusal(-32022, supported=["DRAFT-2026-v1"]), OTHER, OTHER),
    (refusal(-32022, supported=[]), OLDER, OLDER),
    (refusal(-32022, supported=[7]), OLDER, OLDER),
    (refusal(-32022, supported=OURS), OLDER, OLDER),
    (refusal(-32022), OLDER, OLDER),
    (RpcError(-32022, "no", data="2025-11-25"), OLDER, OLDER),
    (refusal(-32021), REFUSED, REFUSED),
    (refusal(-32021, requiredCapabilities={"sampling": {}}), REFUSED, REFUSED),
    (refusal(-32020), REFUSED, REFUSED),
    # The codes of drafts mean nothing; the shape of what they bring is a hint (A4.6).
    (refusal(-32004, supported=[OURS]), LISTED, LISTED),
    (refusal(-32004, supported=list(OLD)), OTHER, OTHER),
    (refusal(-32003, requiredCapabilities={"extensions": {}}), REFUSED, REFUSED),
    (refusal(-32003, requiredCapabilities=["sampling"]), OLDER, OLDER),
    (refusal(-32004, supported=["csv", "json"]), OLDER, OLDER),
    *((refusal(code), OLDER, OLDER) for code in (-32000, -32001, -32003, -32004)),
    *((refusal(code), OLDER, OLDER) for code in (-32700, -32600, -32601, -32602, -32603, 0, 404)),
    *((HttpRefused("bare", status=status), OLDER, OLDER) for status in (400, 404, 405)),
    *((HttpRefused("bare", status=s), UNKNOWN, UNKNOWN) for s in (301, 303, 402, 406, 410, 415)),
    (Unauthorized("401"), UNKNOWN, UNKNOWN),
    (Unreachable("429", sent=False, retry_after=1.0), UNKNOWN, OLDER),
    (Unreachable("HTTP 500"), UNKNOWN, OLDER),
    (Unreachable("connection refused", sent=False), UNKNOWN, OLDER),
    (Unreachable("no answer within 5 s"), UNKNOWN, OLDER),
    (Unreachable("the server exited with code 1"), UNKNOWN, OLDER),
    (Garbled("<html>"), UNKNOWN, UNKNOWN),
    (TaskLost("what no probe can say"), UNKNOWN, UNKNOWN),
]


@pytest.mark.parametrize(
    ("outcome", "over_http", "over_stdio"), ROWS, ids=lambda row: str(row)[:60]
)
def test_each_outcome_of_the_probe_has_its_verdict_a1_3(
    outcome: Discovered | WireError, over_http: Era, over_stdio: Era
) -> None:
    assert judge(outcome, OURS, stdio=False).era is over_http
    assert judge(outcome, OURS, stdio=True).era is over_stdio


@pytest.mark.parametrize(
    ("outcome", "listed"),
    [
        (discovered(*OLD), OLD),
        (refusal(-32022, supported=[*OLD, 7, None]), OLD),
        (refusal(-32004, supported=list(OLD)), OLD),
        (refusal(-32601), ()),
    ],
)
def test_a_verdict_brings_what_the_server_lists_a1_3(
    outcome: Discovered | WireError, listed: tuple[str, ...]
) -> None:
    assert judge(outcome, OURS, stdio=False).versions == listed


@given(st.integers(-32019, -32000), JSON, st.booleans())
def test_no_code_without_a_meaning_between_servers_decides_anything_a4_6_s15(
    code: int, data: Any, stdio: bool
) -> None:
    """Whichever it is, the verdict is the same: only the data can make a difference."""
    verdicts = {judge(RpcError(c, "no", data=data), OURS, stdio=stdio) for c in (code, -1)}
    assert len(verdicts) == 1
    assert isinstance(verdicts.pop(), Verdict)


@pytest.mark.parametrize(
    ("error", "unknown", "remembered"),
    [
        *((HttpRefused("bare", status=status), True, True) for status in (400, 404, 405)),
        *((HttpRefused("bare", status=status), False, False) for status in (302, 406, 415)),
        (refusal(-32601), True, True),
        (refusal(-32022), True, True),
        (refusal(-32000), True, True),
        (refusal(-32602), True, False),
        (refusal(-32603), True, False),
        (refusal(-32020), False, False),
        (refusal(-32021), False, False),
        (Unauthorized("401"), False, False),
        (Unreachable("500"), False, False),
        (Garbled("<html>"), False, False),
    ],
    ids=str,
)
def test_what_a_modern_server_says_every_day_is_no_reason_to_doubt_one_that_is_remembered_a1_5(
    error: WireError, unknown: bool, remembered: bool
) -> None:
    assert is_doubtful(error, remembered=False) is unknown
    assert is_doubtful(error, remembered=True) is remembered


@pytest.mark.parametrize(
    ("version", "older"),
    [
        ("2025-11-25", True),
        ("2024-11-05", True),
        ("2026-07-28", False),
        ("2099-01-01", False),
        ("DRAFT-2026-v1", False),
        ("1", False),
    ],
)
def test_a_revision_is_older_by_its_date_a1_3(version: str, older: bool) -> None:
    assert is_older(version) is older


@pytest.mark.parametrize(
    ("error", "taken"),
    [
        (refusal(-32601), "refused"),
        (HttpRefused("bare", status=404), "refused"),
        (Unreachable("silence"), "did not answer"),
        (ProtocolError("no discovery"), "did not understand"),
    ],
)
def test_how_a_probe_was_taken_has_a_word_a1_3(error: WireError, taken: str) -> None:
    assert how_taken(error) == taken
