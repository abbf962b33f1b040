"""The whole answer, once more before it goes (A12.12)."""

from collections.abc import Callable

from mcptask.commands.answering.by_hand.terminal import ENTER, Terminal
from mcptask.render import forms
from mcptask.render.entries import plain_lines

Lines = Callable[[int], list[str]]  # of a width


async def sends(
    terminal: Terminal, key: str, answer: Lines, *, edits: bool = True, problem: str | None = None
) -> bool:
    """Does it go? Else it is edited. Raises LeftError. `problem` is why it cannot go like this."""

    def look(width: int) -> list[str]:
        wrong = forms.wrong_lines(problem, None, width, colour=False) if problem else []
        return [*forms.answer_head("Your answer to", key, ":", width), *answer(width), *wrong]

    fits = terminal.fits(look(terminal.width))
    if not fits:  # drawn in place, it would leave a copy of itself with every key
        terminal.paper.settle(plain_lines(look(terminal.width)))
    letters = {*("e" if edits else ()), *(() if problem else (ENTER,))}
    ways = forms.review_ways(edits=edits, problem=problem)
    letter = await terminal.letter(ways, letters, look if fits else lambda width: [])
    if letter != ENTER:
        return False
    width = terminal.width
    given = forms.answer_head("Answer given to", key, ":" if fits else ".", width)
    terminal.paper.settle(plain_lines([*given, *(answer(width) if fits else ())]))
    return True
