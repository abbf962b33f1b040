"""How many requests one server gets at once, and when it says that it is busy (A10.10)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from mcptask.errors import RpcError, Unreachable
from mcptask.protocol.pacing import AT_ONCE, FIRST_GAP, LONGEST_GAP, SHORTEST_GAP, Pace
from tests.protocol.virtual import Clocks, now, run, until


class Requests:
    """What is asked of one server through its `Pace`: when each began, in order."""

    def __init__(self) -> None:
        self.pace = Pace(Clocks().clock)
        self.began: list[tuple[float, str]] = []
        self.under_way = self.most = 0

    async def one(
        self, name: str = "", takes: float = 1.0, error: Exception | None = None, at: float = 0.0
    ) -> None:
        await until(at)
        try:
            async with self.pace.turn():
                self.began.append((round(now(), 3), name))
                self.under_way += 1
                self.most = max(self.most, self.under_way)
                try:
                    await asyncio.sleep(takes)
                    if error is not None:
                        raise error
                finally:
                    self.under_way -= 1
        except (Unreachable, RpcError):
            return

    @property
    def times(self) -> list[float]:
        return [when for when, _ in self.began]

    @property
    def gaps(self) -> list[float]:
        return [b - a for a, b in pairwise(self.times)]


def paced(work: Callable[[Requests], Any]) -> Requests:
    requests = Requests()

    async def all_of_it() -> None:
        await asyncio.gather(*work(requests))

    run(all_of_it())
    return requests


def busy(retry_after: float | None = None) -> Unreachable:
    return Unreachable("429", sent=False, busy=True, retry_after=retry_after)


def test_eight_are_under_way_at_most_and_the_others_follow_in_order_a10_10() -> None:
    requests = paced(lambda r: [r.one(f"{n:03}") for n in range(100)])
    assert requests.most == AT_ONCE == 8
    assert [name for _, name in requests.began] == [f"{n:03}" for n in range(100)]
    assert requests.times == [n // 8 for n in range(100)], "and nothing else slows them down"


@pytest.mark.parametrize(
    ("retry_after", "pause"), [(None, 1), (0.0, 1), (0.2, 0.2), (7.0, 7), (1e9, 300)]
)
def test_a_busy_server_gets_nothing_at_all_until_then_a10_10_a4_4(
    retry_after: float | None, pause: float
) -> None:
    requests = paced(
        lambda r: [
            r.one("refused", takes=0.1, error=busy(retry_after)),
            *(r.one(f"{n}", takes=0, at=0.1 + n / 100) for n in range(1, 6)),
        ]
    )
    later = requests.began[1:]
    assert [name for _, name in later] == ["1", "2", "3", "4", "5"]
    assert later[0][0] == pytest.approx(max(0.1 + pause, 0.11), abs=2e-3)


def test_after_that_they_come_one_by_one_and_faster_with_each_answer_a10_10() -> None:
    requests = paced(
        lambda r: [
            r.one(takes=0, error=busy()),
            *(r.one(takes=0, at=0.01) for _ in range(40)),
        ]
    )
    gaps = requests.gaps[1:]
    assert gaps[0] == pytest.approx(FIRST_GAP, abs=2e-3)
    assert all(later <= earlier + 2e-3 for earlier, later in pairwise(gaps))
    assert 10 < sum(gap > 0 for gap in gaps) < 20, "not all at once"
    assert gaps[-1] == 0, "in the end all is as it was"
    assert SHORTEST_GAP < FIRST_GAP


def test_each_further_refusal_doubles_the_gap_up_to_a_second_a10_10() -> None:
    requests = paced(
        lambda r: [
            *(r.one(takes=0, error=busy(0.5), at=n) for n in range(12)),
            r.one(takes=0, at=11.01),
            r.one(takes=0, at=11.01),
        ]
    )
    assert requests.gaps[-1] == pytest.approx(LONGEST_GAP, abs=2e-3)


@pytest.mark.parametrize(
    "error", [Unreachable("reset"), Unreachable("503"), RpcError(-32603, "oops")]
)
def test_other_faults_slow_nothing_down_a10_10(error: Exception) -> None:
    requests = paced(lambda r: [r.one(takes=0, error=error), *(r.one(takes=0) for _ in range(20))])
    assert requests.times == [0] * 21


@pytest.mark.parametrize(("first", "second", "until"), [(2.0, 9.0, 10.0), (9.0, 2.0, 9.1)])
def test_of_two_refusals_the_one_that_holds_longer_counts_a10_10(
    first: float, second: float, until: float
) -> None:
    requests = paced(
        lambda r: [
            r.one("a", takes=0.1, error=busy(first)),
            r.one("slow", takes=1.0, error=busy(second)),
            r.one("b", takes=0, at=1.2),
        ]
    )
    assert requests.began[-1] == (until, "b")


def test_who_waits_keeps_his_place_a10_10() -> None:
    """Even before one that asks at the very moment in which the pause is over."""
    requests = paced(
        lambda r: [
            r.one("refused", takes=0, error=busy(1.0)),
            *(r.one(f"{n}", takes=5, at=0.5 + n / 100) for n in range(4)),
            r.one("newcomer", takes=0, at=1.0),
        ]
    )
    assert [name for _, name in requests.began] == ["refused", "0", "1", "2", "3", "newcomer"]


@pytest.mark.parametrize("moment", [0.5, 1.5], ids=["waiting for a turn", "in it"])
def test_who_is_cancelled_gives_his_turn_back_a10_10(moment: float) -> None:
    async def all_of_it() -> list[float]:
        requests = Requests()
        left = [asyncio.ensure_future(requests.one("left", takes=1.0)) for _ in range(16)]
        await until(moment)
        for each in left:
            each.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await asyncio.gather(*(requests.one("after", takes=1.0) for _ in range(8)))
        return [when for when, name in requests.began if name == "after"]

    assert run(all_of_it()) == [moment] * 8


def test_a_subscription_waits_for_quiet_and_takes_no_turn_a10_10() -> None:
    async def all_of_it() -> float:
        requests = Requests()
        turns = [requests.one(takes=99) for _ in range(7)]
        others = [asyncio.ensure_future(turn) for turn in (*turns, requests.one(takes=2))]
        await until(1)
        await requests.pace.quiet()
        assert now() == 1, "eight requests are under way, and it goes out all the same"
        await until(2)
        others.append(asyncio.ensure_future(requests.one(takes=0, error=busy(5.0))))
        await until(2.5)
        await requests.pace.quiet()
        for each in others:
            each.cancel()
        return now()

    assert run(all_of_it()) == 7
