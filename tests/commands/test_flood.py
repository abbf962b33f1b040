"""A program that prints without end, and how much of it is shown."""

from mcptask.commands._flood import MOST, bounded
from tests.protocol.fakes import FakeClock


def test_of_a_flood_the_first_lines_of_each_second_are_shown_and_that_there_were_more() -> None:
    fake, shown = FakeClock(), list[str]()
    show = bounded(shown.append, fake.clock)
    for second in range(2):
        for number in range(MOST + 500):
            show(f"{second}: {number}")
        assert shown[-2:] == [
            f"{second}: {MOST - 1}",
            "(it prints too much: the rest of this second is not shown)",
        ]
        fake.time += 1.0
    assert len(shown) == 2 * (MOST + 1)


def test_what_prints_now_and_then_is_shown_whole() -> None:
    fake, shown = FakeClock(), list[str]()
    show = bounded(shown.append, fake.clock)
    for number in range(5 * MOST):
        show(str(number))
        fake.time += 0.02
    assert shown == [str(number) for number in range(5 * MOST)]
