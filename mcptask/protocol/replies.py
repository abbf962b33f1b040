"""What becomes of a task's questions and of the answers to them, and what a view makes of it. Pure.

view = remembering(view, ledger)    what was answered so far, from any terminal
view = replied(view, reply, now)    one question was answered, refused, left, …
"""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

from mcptask.protocol.questions import (
    Ledger,
    Name,
    Request,
    being_applied,
    fingerprint,
    is_another,
    open_questions,
)
from mcptask.protocol.view import View, asked_soon, warned

STUCK_AFTER = 60.0  # s that an answer may take to be applied until a word is said of it (A12.15)


class LeftOpen(NamedTuple):
    """Nobody here answers this question."""

    name: Name


class Acknowledged(NamedTuple):
    """The server took these answers."""

    names: frozenset[Name]


class Refused(NamedTuple):
    """It did not take this one, and this is what it said."""

    key: str
    message: str


class Superseded(NamedTuple):
    """Another process answered these meanwhile; nothing was sent."""

    keys: Collection[str]


class Undelivered(NamedTuple):
    """No answer came to an update; it goes out again as it is."""

    keys: Collection[str]
    reason: str


Reply = LeftOpen | Acknowledged | Refused | Superseded | Undelivered


def replied(view: View, reply: Reply, now: float) -> View:
    """After news of an answer the task is asked for: what the server made of it is one question away."""
    match reply:
        case LeftOpen(name):
            return replace(view, left=view.left | {name})
        case Acknowledged():
            return asked_soon(replace(view, sent_at=now), now)
        case Refused(key, message):
            # Whether it is still asked is for `tasks/get` to say (A12.8).
            return asked_soon(warned(view, f"the answer to {key} was refused: {message}"), now)
        case Undelivered(keys, reason):
            which = ", ".join(sorted(keys))
            return warned(view, f"the answer to {which} is not acknowledged yet ({reason})")
        case _:  # another process was first: the ledger says so
            return view


def remembering(view: View, ledger: Ledger, own: Collection[Name] = ()) -> View:
    """What was answered so far, from any terminal, is open no more, even if it is still listed. `own`: what
    was answered from here.
    """
    if ledger == view.answered and view.sent.issuperset(own):
        return view  # as after nearly every poll of a task that asks nothing
    return replace(view, answered=ledger, sent=view.sent.union(own))


def is_changed(view: View, key: str, request: Request) -> bool:
    """Was this key another question before (A12.3)? Then nothing but a person may answer it."""
    other = any(each == key and was != fingerprint(request) for each, was in view.asked)
    return other or is_another(key, request, view.answered)


def oddities(view: View, now: float) -> list[str]:
    """What is odd about them, in words."""
    changed = [
        f"the server asks {key} again, and it is another question than before"
        for key, request in open_questions(view.task, view.answered).items()
        if is_changed(view, key, request)
    ]
    late = view.sent if now - view.sent_at >= STUCK_AFTER else ()
    stuck = [
        f"{key} was answered and acknowledged, and the server still asks it"
        for key, request in being_applied(view.task, view.answered).items()
        if (key, fingerprint(request)) in late
    ]
    return changed + stuck
