"""What is shown of a program that prints more than anyone reads: some of it, so that it holds up nothing."""

from collections.abc import Callable

from mcptask.env import Clock

MOST = 100  # lines a second


def bounded(show: Callable[[str], None], clock: Clock) -> Callable[[str], None]:
    """`show`, for the first `MOST` lines of a second; of the rest it is said once that they are left out."""
    since, shown = float("-inf"), 0

    def line(text: str) -> None:
        nonlocal since, shown
        if (now := clock.now()) - since >= 1.0:
            since, shown = now, 0
        shown += 1
        if shown <= MOST:
            show(text)
        elif shown == MOST + 1:
            show("(it prints too much: the rest of this second is not shown)")

    return line
