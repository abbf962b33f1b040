"""The person's terminal while a question is put to them: keys in, lines out."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from mcptask.arguments.responses import CANCEL, DECLINE
from mcptask.commands.answering.by_hand.keyboard import AGAIN, Keyboard
from mcptask.commands.answering.by_hand.keys import ESCAPE, TEXT
from mcptask.commands.answering.by_hand.paper import Paper
from mcptask.render import entries, forms
from mcptask.render.ink import Line
from mcptask.render.parts import flow

ENTER = "enter"
LATER = "later"
LEAVING: Mapping[str, str] = {"d": DECLINE, "c": CANCEL, "l": LATER}


class LeftError(Exception):
    """The question was left without an answer: by DECLINE, CANCEL or LATER."""

    def __init__(self, how: str) -> None:
        self.how = how


class Terminal(NamedTuple):
    """`started`: there is a task, which waits where its question is left for later."""

    keys: Keyboard
    paper: Paper
    started: bool = True

    @property
    def width(self) -> int:
        return self.paper.size[0]

    async def letter(
        self,
        ways: Sequence[str],
        letters: Collection[str],
        above: Callable[[int], Sequence[str]] = lambda width: (),
    ) -> str:
        """One of the letters, which `ways` tell of, below the lines of `above`; ENTER may be among them.

        Raises LeftError for the letters that leave, also after Esc, and for the end of the input. What was
        typed before the lines were there is none.
        """
        self.keys.forget()
        wrong = asked = False
        while True:
            self.paper.draw(self._lines(above, ways, wrong=wrong, asked=asked))
            key = await self.keys.key()
            if key == AGAIN:
                continue
            word = key.text.lower() if key.name == TEXT else key.name
            if key.name == "end of input" or word in LEAVING:
                raise LeftError(LEAVING.get(word, LATER))
            if asked:
                asked = word not in (ENTER, ESCAPE)
                self.keys.forget()
            elif word in letters:
                return word
            else:
                asked = word == ESCAPE
                wrong = not asked

    def _lines(
        self,
        above: Callable[[int], Sequence[str]],
        ways: Sequence[str],
        *,
        wrong: bool,
        asked: bool,
    ) -> list[Line]:
        width, high = self.paper.size
        shown = entries.plain_lines(above(width))
        if asked:
            below = entries.ways_out(width, started=self.started)
        else:
            told = [*ways, *forms.leaving(started=self.started)]
            below = entries.plain_lines(flow(told, width, cut=False))
            if wrong:
                below += entries.plain_lines(
                    forms.wrong_lines("one of these keys, please", None, width, colour=False)
                )
        return [*shown, *below[: max(high - len(shown), 1)]]

    def fits(self, above: Sequence[str]) -> bool:
        """Can it be drawn again and again, with all that may come below it?"""
        width, high = self.paper.size
        return len(above) + len(entries.ways_out(width, started=self.started)) <= high
