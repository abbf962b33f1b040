"""One server's `subscriptions/listen` stream, and the news of it for each task that wants some (A11).

It is a help and never needed: whatever becomes of the stream, each task is told how changes are learned from
now on, and polling does the rest. Writes nothing, and decides nothing about a task.
"""

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import NamedTuple

from mcptask.env import Clock
from mcptask.errors import Garbled, HttpRefused, McptaskError, RpcError, Unreachable
from mcptask.protocol.generations.base import Acknowledged, Told
from mcptask.protocol.generations.jsonrpc import METHOD_NOT_FOUND, MISSING_CAPABILITY
from mcptask.protocol.session import Session
from mcptask.protocol.view import LONGEST_RETRY_AFTER, NEVER

ACK_WAIT = 10.0  # s for the acknowledgement (A11.4)
FIRST_PAUSE = 1.0  # s before the stream is opened again, GROWTH times that each time (A11.8)
GROWTH = 1.5
LONGEST_PAUSE = 30.0
STEADY = 60.0  # s: a stream that lasted so long was no failed attempt
SHORT_LIVED = 5.0  # s: one that ends sooner by the server's own doing was not worth opening …
SHORT_LIVED_LIMIT = 2  # … and so often in a row is a server that means it
RENEW_EVERY = 60.0  # s between two streams that are given up for being too silent
MUTE_LIMIT = 2  # streams in a row that told nothing, although something happened
MOST_WAITING = 1000  # news of one task that waits; then the stream is read no further


class Mode(NamedTuple):
    """How changes are learned from now on, and why."""

    push: bool
    why: str


News = Mode | Told


class _End(NamedTuple):
    """How a stream ended. `verdict`: what the server is like if it ends so again, at once; `pause`: how long
    it wants to be left alone with subscriptions, in seconds.
    """

    why: str
    verdict: str = ""
    pause: float = 0.0


class _Refused(Exception):
    """This server does not push. `why`: a clause about it; `for_good`: it will not do so tomorrow either."""

    def __init__(self, why: str, *, for_good: bool = False) -> None:
        super().__init__(why)
        self.why, self.for_good = why, for_good


def unheard(text: str) -> None:
    """`told` where nobody wants to know."""


class Push:
    """The stream of one session. `run` it beside the followers of the tasks.

    `known` says why this server does not push, as found out earlier: then it is not asked. `learned` gets
    that clause where it holds for longer than this command, `told` every remark for `-v`, about "it".
    """

    def __init__(
        self,
        session: Session,
        task_ids: Iterable[str],
        clock: Clock,
        *,
        known: str | None = None,
        learned: Callable[[str], None] = unheard,
        told: Callable[[str], None] = unheard,
        ack_wait: float = ACK_WAIT,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._session = session
        self._clock = clock
        self._known = known
        self._learned = learned
        self._told = told
        self._ack_wait = ack_wait
        self._chance = chance
        self._inboxes: dict[str, Inbox] = {each: Inbox(self, each) for each in task_ids}
        self._wanted = asyncio.Event()
        self._enough = asyncio.Event()  # of the stream that is open
        self._renewed_at = NEVER
        self._doubted = False  # is a change that was not told the reason?
        self._mute = 0  # streams in a row that told nothing, and were doubted
        self._has_told = False  # of any change, in this run

    def inbox(self, task_id: str) -> "Inbox":
        return self._inboxes[task_id]

    async def run(self) -> None:
        """Keep the stream open for as long as the server and somebody want it; raises nothing."""
        await self._wanted.wait()
        try:
            if self._known is not None:
                raise _Refused(self._known)
            await self._keep_listening()
        except _Refused as refused:
            self._told(f"{refused.why}; polling")
            if refused.for_good and not self._has_told:
                self._learned(refused.why)
            await self._tell_all(Mode(False, refused.why))

    def want(self) -> None:
        """Someone follows a task that goes on: only then is a stream of use."""
        self._wanted.set()

    def doubt(self) -> None:
        """A change came that was not told: the stream may be dead without a sign (A11.5)."""
        self._doubted = True
        self.renew()

    def renew(self) -> None:
        """Open another stream in place of this one, but not all the time."""
        if self._clock.now() - self._renewed_at >= RENEW_EVERY:
            self._renewed_at = self._clock.now()
            self._enough.set()

    def leave(self, task_id: str) -> None:
        self._inboxes.pop(task_id, None)
        if not self._inboxes:
            self._doubted = False
            self._enough.set()

    async def _keep_listening(self) -> None:
        pause, short_lived = FIRST_PAUSE, 0
        while self._inboxes:
            await self._session.quiet()
            began = self._clock.now()
            end = await self._one_stream()
            if not self._inboxes:
                return
            lasted = self._clock.now() - began
            short_lived = short_lived + 1 if end.verdict and lasted < SHORT_LIVED else 0
            if short_lived >= SHORT_LIVED_LIMIT:
                raise _Refused(end.verdict, for_good=end.verdict in LASTING_VERDICTS)
            pause = max(FIRST_PAUSE if lasted >= STEADY else pause, end.pause)
            self._told(f"{end.why}; polling, and subscribing again in {pause:.3g} s")
            await self._tell_all(Mode(False, end.why))
            await self._clock.sleep(pause * (1 + self._chance() / 10))
            pause = min(pause * GROWTH, LONGEST_PAUSE)

    async def _one_stream(self) -> _End:
        """From the request to the end of its stream, or until there is enough of it."""
        self._enough.clear()
        self._doubted = False
        reading = asyncio.ensure_future(self._read())
        enough = asyncio.ensure_future(self._enough.wait())
        try:
            await asyncio.wait((reading, enough), return_when=asyncio.FIRST_COMPLETED)
            return reading.result() if reading.done() else self._given_up()
        finally:
            for each in (reading, enough):
                each.cancel()
            await asyncio.gather(reading, enough, return_exceptions=True)

    def _given_up(self) -> _End:
        """The stream was too silent: dead, or one of a server that acknowledges and then tells nothing."""
        if not self._doubted:
            return _End("the subscription is renewed after a sleep")
        self._mute += 1
        if self._mute >= MUTE_LIMIT:
            text = "it acknowledges a subscription, and does not tell of changes"
            raise _Refused(text, for_good=True)
        return _End("it did not tell of a change")

    async def _read(self) -> _End:
        """Whatever comes before the acknowledgement is of another time, and is asked for anyway (A11.4)."""
        ids, begun, life = list(self._inboxes), False, self._session.life
        try:
            async with (
                asyncio.timeout(self._ack_wait) as patience,
                aclosing(self._session.listen(ids)) as notices,
            ):
                async for notice in notices:
                    if isinstance(notice, Acknowledged):
                        patience.reschedule(None)
                        begun = begun or await self._begin(notice, ids)
                    elif isinstance(notice, Told) and begun:
                        self._mute, self._has_told = 0, True
                        await self._pass_on(notice)
            return _End("it ended the subscription", ENDS_AT_ONCE)
        except TimeoutError:
            text = f"it did not acknowledge the subscription within {self._ack_wait:g} s"
            raise _Refused(text) from None
        except McptaskError as error:  # whatever else it means, the polls will meet and tell it
            if begun or isinstance(error, Unreachable | Garbled):
                became = "was lost" if begun else "could not be made"
                busy = isinstance(error, Unreachable) and error.busy
                pause = (isinstance(error, Unreachable) and error.retry_after) or 0.0
                verdict = DIES if self._session.life != life else BUSY if busy else ""
                why = f"the subscription {became} ({error.message})"
                return _End(why, verdict, min(pause, LONGEST_RETRY_AFTER))
            raise _refusal(error) from error

    async def _begin(self, acknowledged: Acknowledged, ids: Sequence[str]) -> bool:
        """True. The ids are those that were asked for: some of them may be followed no more."""
        honoured = (acknowledged.task_ids or frozenset()).intersection(ids)
        if not honoured:
            # A server that names none of these may still tell of others.
            for_good = acknowledged.task_ids is None
            raise _Refused("it acknowledges no subscription to tasks", for_good=for_good)
        count = f"{len(honoured)} of {len(ids)} tasks"
        self._told(f"it tells of changes by itself: it acknowledged a subscription to {count}")
        yes = Mode(True, "it acknowledged a subscription")
        no = Mode(False, "it acknowledged no subscription to this task")
        for task_id, inbox in list(self._inboxes.items()):
            await inbox.put(yes if task_id in honoured else no)
        return True

    async def _pass_on(self, told: Told) -> None:
        inbox = self._inboxes.get(told.task_id)
        if inbox is not None:  # else of a task that nobody follows any more, or never did
            await inbox.put(told)

    async def _tell_all(self, mode: Mode) -> None:
        for inbox in list(self._inboxes.values()):
            await inbox.put(mode)


class Inbox:
    """The news of one task. `leave` it when the task is followed no more."""

    def __init__(self, push: Push, task_id: str) -> None:
        self._push = push
        self._task_id = task_id
        self._news: asyncio.Queue[News] = asyncio.Queue(MOST_WAITING)
        self.want, self.doubt, self.renew = push.want, push.doubt, push.renew

    async def put(self, news: News) -> None:
        await self._news.put(news)

    async def get(self) -> News:
        return await self._news.get()

    def leave(self) -> None:
        """Nobody reads any more, so that nobody must wait for that."""
        self._push.leave(self._task_id)
        while not self._news.empty():
            self._news.get_nowait()


def _refusal(error: McptaskError) -> _Refused:
    """Why there will be no subscription. There may be one tomorrow where these ids, or the number of streams,
    are what the server refuses, or where nobody can tell what it means (A4.6).
    """
    told = f"it refuses subscriptions ({error.message})"
    if isinstance(error, RpcError):
        return _Refused(MEANINGS.get(error.code, told), for_good=error.code in LASTING)
    return _Refused(told, for_good=isinstance(error, HttpRefused))


ENDS_AT_ONCE = "it ends each subscription at once"
DIES = "its process ends when it is asked for a subscription"
BUSY = "it is too busy for a subscription"
LASTING_VERDICTS = frozenset({ENDS_AT_ONCE, DIES})
MEANINGS: Mapping[int, str] = {METHOD_NOT_FOUND: "it does not offer subscriptions"}
LASTING = frozenset({METHOD_NOT_FOUND, MISSING_CAPABILITY})
