"""The answers to one task's questions on their way: one `tasks/update` at a time, until each was taken.

What goes out was noted before, and goes out again as it was (A12.8); but never to another question than
it was made for (A12.3).
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from mcptask.env import Clock
from mcptask.errors import Garbled, HttpRefused, RpcError, Unreachable
from mcptask.protocol.desk import Desk
from mcptask.protocol.generations.jsonrpc import INTERNAL_ERROR
from mcptask.protocol.generations.refusals import quoted
from mcptask.protocol.questions import (
    NOTHING_ANSWERED,
    Answer,
    Ledger,
    Name,
    names_of,
)
from mcptask.protocol.replies import Acknowledged, Refused, Reply, Superseded, Undelivered
from mcptask.protocol.session import Session
from mcptask.protocol.view import FIRST_BACKOFF, LONGEST_BACKOFF, LONGEST_RETRY_AFTER

NOT_FOUND = 404


class Updates:
    """`send` answers; `told` hears what becomes of them. `begin` runs a coroutine beside the caller; after
    `give_up_after` seconds without a word about one the following ends.

    `own` are the names of what was sent from here.
    """

    def __init__(
        self,
        session: Session,
        task_id: str,
        desk: Desk,
        clock: Clock,
        told: Callable[[Reply], None],
        begin: Callable[[Coroutine[Any, Any, None]], object],
        give_up_after: float,
    ) -> None:
        self._session = session
        self._task_id = task_id
        self._desk = desk
        self._clock = clock
        self._told = told
        self._begin = begin
        self._give_up_after = give_up_after
        self.own: set[Name] = set()
        self.refusals: dict[Name, tuple[str, float]] = {}  # what the server said, and when
        self._latest: dict[str, str] = {}  # what each key was seen to be last
        self._new: dict[str, Answer] = {}
        self._again: dict[str, Answer] = {}
        self._sent: Ledger = {}
        self._sending = False

    @property
    def under_way(self) -> frozenset[Name]:
        """What was answered and has not had a word yet."""
        return names_of(self._sent) | names_of(self._new) | names_of(self._again)

    def notice(self, names: Mapping[str, str]) -> None:
        """What the task asks now: key → fingerprint."""
        self._latest.update(names)

    def send(self, new: Ledger, again: Ledger = NOTHING_ANSWERED) -> None:
        """What is ready at one moment goes out together, and waits for nothing else. `again`: what is noted
        already, and had no acknowledgement.
        """
        self._new.update(new)
        self._again.update(again)
        if not self._sending:
            self._sending = True
            self._begin(self._send_all())

    async def _send_all(self) -> None:
        await asyncio.sleep(0)
        try:
            while self._new or self._again:
                new, again, self._new, self._again = self._new, self._again, {}, {}
                claimed = self._desk.claim(new) if new else {}
                if outrun := new.keys() - claimed.keys():
                    self._told(Superseded(outrun))
                due = {**again, **claimed}
                self._sent = due
                self.own |= names_of(due)
                await self._deliver(due)
                self._sent = {}
        finally:
            self._sending = False

    async def _deliver(self, due: Ledger) -> None:
        """Until each of these was taken or refused, or another question is in its place."""
        began, pause = self._clock.now(), FIRST_BACKOFF
        while due := self._still_meant(due):
            responses = {key: answer.response or {} for key, answer in due.items()}
            try:
                await self._session.update(self._task_id, responses, attempts=1)
            except (Unreachable, Garbled, HttpRefused, RpcError) as error:
                if refuses(error):
                    await self._refused(due, quoted(error.message))
                    return
                wait = max(
                    pause, min(getattr(error, "retry_after", None) or 0.0, LONGEST_RETRY_AFTER)
                )
                if not passes(error) or self._clock.now() + wait - began > self._give_up_after:
                    raise
                if pause == FIRST_BACKOFF:  # once is enough
                    self._told(Undelivered(due.keys(), error.message))
            else:
                self._desk.acknowledged(due)
                self._told(Acknowledged(names_of(due)))
                return
            await self._clock.sleep(wait)
            pause = min(2 * pause, LONGEST_BACKOFF)

    async def _refused(self, due: Ledger, message: str) -> None:
        """Which of several it was is not said."""
        if len(due) > 1:
            for key, answer in due.items():
                await self._deliver({key: answer})
            return
        self._forget(due)
        for name in names_of(due):
            self.refusals[name] = (message, self._clock.now())
            self._told(Refused(name[0], message))

    def _still_meant(self, due: Ledger) -> Ledger:
        """Without those whose key is another question by now, or was since: they go nowhere any more."""
        over = {
            key: answer
            for key, answer in due.items()
            if self._latest.get(key, answer.fingerprint) != answer.fingerprint
        }
        if over:
            self._forget(over)
        return {key: answer for key, answer in due.items() if key not in over}

    def _forget(self, answers: Ledger) -> None:
        self._desk.refused(answers)
        self.own -= names_of(answers)


def refuses(error: Exception) -> bool:
    """Does it say that the answer was not taken? -32603 may be a fault in the middle of taking it."""
    return isinstance(error, RpcError) and error.code != INTERNAL_ERROR


def passes(error: Exception) -> bool:
    """May the same request get an answer later, and is it unknown what became of this one? An address is not
    found for a while where a server is being replaced.
    """
    if isinstance(error, HttpRefused):
        return error.status == NOT_FOUND
    return isinstance(error, Unreachable | Garbled | RpcError)
