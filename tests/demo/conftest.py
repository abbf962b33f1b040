from collections.abc import Iterator

import pytest

from tests.demo.wire import Bench


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()
