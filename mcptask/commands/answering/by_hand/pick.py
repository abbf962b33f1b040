"""Choosing from a list: what each key makes of it. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from mcptask.commands.answering.by_hand.keys import Key
from mcptask.protocol.schemas import Choice, countable


class Pick(NamedTuple):
    """`at` is the place of the mark, None where there is none. Of `several`, `chosen` has the places that are
    in the list. `word` is what was typed so far of a number or a name; `unknown` is what nothing begins with,
    until another key.
    """

    options: tuple[Choice, ...]
    several: bool = False
    at: int | None = None
    chosen: frozenset[int] = frozenset()
    word: str = ""
    unknown: str = ""

    @property
    def places(self) -> list[int]:
        """What is chosen, in the order of the list."""
        return sorted(self.chosen) if self.several else [self.at] if self.at is not None else []


def picked(pick: Pick, key: Key) -> Pick | None:
    """The list after the key; None where it is no key for a list."""
    moved = pick._replace(word="", unknown="")
    last = len(pick.options) - 1
    at = pick.at
    match key.name:
        case "left" | "up":
            return moved._replace(at=last if at is None else max(at - 1, 0))
        case "right" | "down":
            return moved._replace(at=0 if at is None else min(at + 1, last))
        case "home":
            return moved._replace(at=0)
        case "end":
            return moved._replace(at=last)
        case "backspace" | "delete" if pick.unknown:
            return moved
        case "backspace" | "delete":
            return moved._replace(
                at=at if pick.several else None, chosen=frozenset() if pick.several else pick.chosen
            )
        case "text" if pick.several and key.text == " ":
            return moved._replace(chosen=pick.chosen ^ {at or 0}, at=at or 0)
        case "text" if key.text != " " or pick.word:
            return _sought(pick, key.text)
    return None


def _sought(pick: Pick, character: str) -> Pick:
    """The mark at what begins with all that was typed, else with this character alone."""
    for word in (pick.word + character, character):
        if (place := _place(pick.options, word)) is not None:
            return pick._replace(at=place, word=word, unknown="")
    return pick._replace(word="", unknown=pick.word + character)


def _place(options: Sequence[Choice], word: str) -> int | None:
    if word.isdecimal() and countable(options):
        return int(word) - 1 if 0 < int(word) <= len(options) else None
    sought = word.casefold()
    titles = [str(each.title).casefold() for each in options]
    # A value that is not shown counts only when it is typed whole.
    whole = (
        n for n, each in enumerate(options) if sought in (titles[n], str(each.value).casefold())
    )
    begun = (n for n, title in enumerate(titles) if title.startswith(sought))
    return next(whole, next(begun, None))
