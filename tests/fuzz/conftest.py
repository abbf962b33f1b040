"""Hostile input, made by hypothesis: a value or an error of ours comes out, within bounds, and nothing else.

    MCPTASK_FUZZ=50 pytest tests/fuzz     # fifty times as many examples as usual

Bounds are counted (calls, bytes kept, the peak of tracemalloc), never measured by a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HERE = Path(__file__).parent
Peak = Callable[[], int]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long texts are part of it, and hypothesis only fears that nobody could read them."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:Generating overly large repr"))


@contextmanager
def _measured() -> Iterator[Peak]:
    import tracemalloc

    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture
def peak() -> Iterator[Peak]:
    """The most memory that was in use since the test began, in bytes."""
    with _measured() as peak:
        yield peak
