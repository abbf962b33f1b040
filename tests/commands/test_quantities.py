import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.commands._quantities import seconds
from mcptask.errors import UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90", 90),
        ("90s", 90),
        ("0.5", 0.5),
        ("10m", 600),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1d", 86400),
        ("1d2h3m4s5ms", 93784.005),
        ("500ms", 0.5),
        ("1m500ms", 60.5),
        ("1.5h", 5400),
        (" 90s ", 90),
    ],
)
def test_a_duration_is_read_as_seconds(text: str, expected: float) -> None:
    assert seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    "text",
    [
        *[
            "",
            "0",
            "0s",
            "-5",
            "-5s",
            "inf",
            "nan",
            "ten",
            "1h-5m",
            "5x",
            "30m1h",
            "1m1m",
            "1e3",
            "٣s",
            "1_000",
            "1h 30m",
            "s",
            "10M",
        ],
        "9" * 400,
    ],
)
def test_anything_else_is_refused_with_the_accepted_forms(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        seconds(text)
    assert "1h30m" in (refused.value.hint or "")


@given(st.text(alphabet="0123456789.dhms -e", max_size=12))
def test_nothing_but_a_positive_number_or_a_usage_error_comes_out(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert 0 < seconds(text) < float("inf")
