"""Finding out what a server speaks: the probe, `initialize` for one that sounds older, what is remembered.

Asks no more than it must: a server that has answered in this run is not doubted, one that did so in an
earlier run is asked only after an answer that does not fit (A1.5).
"""

import asyncio
from collections.abc import Callable
from typing import Any

from mcptask import __version__
from mcptask.env import Clock
from mcptask.errors import HttpRefused, NoCommonVersion, RpcError, Unreachable, WireError
from mcptask.protocol.exchange import ATTEMPTS, Caller
from mcptask.protocol.generations.base import Discovered, Generation
from mcptask.protocol.generations.jsonrpc import UNSUPPORTED_VERSION, result_of
from mcptask.protocol.transports.base import Request, Transport
from mcptask.protocol.verdict import (
    NEWEST_OLDER,
    Era,
    Spoken,
    how_taken,
    is_doubtful,
    is_older,
    judge,
    listed_in,
)

PROBE_WAIT = 5.0  # s of silence over stdio before `initialize` is tried beside the probe (A1.3)
SHORT_PROBE_WAIT = 1.0  # the same, for a server that was silent the last time (A1.5)
SSE_REVISION = "2024-11-05"  # the one with HTTP+SSE, whose endpoint takes no POST
UPGRADE = "ask whoever runs the server for an upgrade"

Probed = Discovered | WireError
Initialized = dict[str, Any] | WireError


def unremembered(spoken: Spoken) -> None:
    """`learned` where nobody keeps what is found out."""


class Negotiation:
    """What one session knows of its server.

    `memory` is what an earlier run has found out; `forced` takes it for granted that the server speaks our
    revision. `learned` is told what this run finds out.
    """

    def __init__(
        self,
        caller: Caller,
        generation: Generation,
        transport: Transport,
        clock: Clock,
        *,
        stdio: bool,
        memory: Spoken | None = None,
        forced: bool = False,
        probe_wait: float = PROBE_WAIT,
        learned: Callable[[Spoken], None] = unremembered,
    ) -> None:
        self._caller = caller
        self._generation = generation
        self._transport = transport
        self._clock = clock
        self._stdio = stdio
        self._memory = memory
        self._forced = forced
        was_silent = memory is not None and memory.silent
        self._probe_wait = min(probe_wait, SHORT_PROBE_WAIT) if was_silent else probe_wait
        self._learned = learned
        self._met: int | None = None  # the life of the server in which it answered …
        self._refused: tuple[int, NoCommonVersion] | None = None  # … or told that it cannot
        self._alone = asyncio.Lock()  # many requests at once are no reason for many probes

    async def greet(self) -> None:
        """Before a request: the probe, where it has to go first. Each new process gets its own (A1.2, A6.7).

        Over HTTP it goes first only to a server that spoke an older revision the last time. Raises
        `NoCommonVersion`, and `Unreachable` that says that nothing of the caller's own was sent.
        """
        if not self.has_to_greet():
            return
        async with self._alone:
            if not self.has_to_greet():  # someone else has done it meanwhile
                return
            try:
                await self._probe()
            except Unreachable as error:
                error.sent = False
                raise

    async def doubt(self, error: WireError) -> None:
        """A request was refused: raise `NoCommonVersion` if that is why; else its own error counts."""
        async with self._alone:
            ours = self._memory is not None and not self._memory.older
            if self._sure or not is_doubtful(error, remembered=ours):
                return
            try:
                await self._probe()
            except NoCommonVersion:
                raise
            except WireError:  # no word on the matter
                return

    def lists_ours(self, error: WireError) -> bool:
        """Does a refusal of our version list it all the same (A1.9)? `NoCommonVersion`: it lists others."""
        if not isinstance(error, RpcError) or error.code != UNSUPPORTED_VERSION:
            return False
        versions = listed_in(error)
        if versions and self._generation.version not in versions:
            raise self._named_others(versions)
        return bool(versions)

    def answered(self, method: str) -> None:
        """The server has answered a request of our revision, so it needs no probe any more."""
        if not self._sure and not self._stdio:
            self._meet(self._transport.life, method)

    async def discover(self) -> Discovered:
        """What the server says of itself. `NoCommonVersion` where it speaks other revisions (A1.3)."""
        # A refused version is tried once more and a slow starter probed again, but never in a circle (S9).
        for _ in range(2):
            life = self._transport.life
            outcome, initialized = await self._asked()
            verdict = judge(outcome, self._generation.version, stdio=self._stdio)
            if verdict.era is Era.OTHER:
                raise self._named_others(verdict.versions)
            if isinstance(outcome, Discovered):
                self._meet(life, "server/discover")
                return outcome
            if verdict.era is Era.OLDER:
                await self._initialize(outcome, initialized)
            elif verdict.era is not Era.LISTED:
                raise outcome
        version = self._generation.version
        raise NoCommonVersion(
            f"the server refuses MCP {version}, and names no other revision to speak", hint=UPGRADE
        )

    @property
    def _sure(self) -> bool:
        """Has this very server, this very process, answered in this run?"""
        return self._forced or self._met == self._transport.life

    def has_to_greet(self) -> bool:
        """Does a probe go before the next request?"""
        was_older = self._memory is not None and self._memory.older
        return not self._sure and (self._stdio or was_older or self._refused is not None)

    def _meet(self, life: int, method: str) -> None:
        self._met = life
        self._learned(Spoken(version=self._generation.version, why=f"it answered {method}"))

    async def _probe(self) -> None:
        """Does the server speak our revision? `NoCommonVersion` where it does not: found out once."""
        life = self._transport.life
        if self._refused is not None and self._refused[0] == life:
            raise NoCommonVersion(self._refused[1].message, hint=UPGRADE)
        try:
            await self.discover()
        except NoCommonVersion as error:
            self._refused = self._transport.life, error
            raise
        except RpcError:
            # A refusal that only our generation has. What it is about, the request itself will tell.
            self._meet(life, "server/discover")

    async def _asked(self) -> tuple[Probed, Initialized | None]:
        """The outcome of the probe, and that of `initialize` where it was tried meanwhile."""
        return await self._asked_twice() if self._stdio else (await self._outcome(), None)

    async def _outcome(self) -> Probed:
        steps = self._generation.discover()
        call = next(steps)
        try:
            # Over stdio silence is an answer (A1.3), so it is waited for once.
            steps.send(await self._caller.attempt(call, 1 if self._stdio else ATTEMPTS))
        except StopIteration as stop:
            found: Discovered = stop.value
            return found
        except WireError as error:
            return error
        raise AssertionError("discovery is one call")  # pragma: no cover - for the type checker

    async def _asked_twice(self) -> tuple[Probed, Initialized | None]:
        """Over stdio a server may be silent because it is older, or because it is still starting.

        So after a while `initialize` is sent as well, and whichever tells counts: no older server is
        waited for long, and no modern one is given up for being slow. That `initialize` is refused may
        mean that it is unknown: only a refusal of its version tells.
        """
        life = self._transport.life
        probe = asyncio.ensure_future(self._outcome())
        pause = asyncio.ensure_future(self._clock.sleep(self._probe_wait))
        older = None
        try:
            await asyncio.wait((probe, pause), return_when=asyncio.FIRST_COMPLETED)
            if probe.done():
                return probe.result(), None
            older = asyncio.ensure_future(self._initialized())
            await asyncio.wait((probe, older), return_when=asyncio.FIRST_COMPLETED)
            said = older.result() if older.done() else None
            if not probe.done() and (isinstance(said, dict) or _is_out_of_date(said)):
                return Unreachable(f"no answer within {self._probe_wait:g} s"), said
            outcome = await probe
            # What ended with the process says nothing: the next one is asked anew.
            unanswered = isinstance(outcome, Unreachable) and life == self._transport.life
            return outcome, await older if unanswered else None
        finally:
            left = [task for task in (probe, pause, older) if task is not None]
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _initialized(self) -> Initialized:
        params = {
            "protocolVersion": NEWEST_OLDER,
            "capabilities": {},
            "clientInfo": {"name": "mcptask", "version": __version__},
        }
        request = Request(id=self._caller.next_id(), method="initialize", params=params)
        try:
            return result_of(await self._caller.answer(request))
        except WireError as error:
            return error

    async def _initialize(self, refusal: WireError, initialized: Initialized | None) -> None:
        """Ask a server that sounds older for its revision, and stop, politely: `NoCommonVersion`.

        Returns if it takes `initialize` for out of date: it started slowly, and is modern after all.
        Raises `refusal` again where nothing there speaks MCP.
        """
        said = initialized if initialized is not None else await self._initialized()
        if _is_out_of_date(said):
            return
        if not isinstance(refusal, RpcError) and not isinstance(said, dict | RpcError):
            if isinstance(said, HttpRefused) and await self._transport.announces_endpoint():
                raise self._older(SSE_REVISION, "its endpoint is one of HTTP+SSE")
            raise refusal
        named = said.get("protocolVersion") if isinstance(said, dict) else None
        silent = isinstance(refusal, Unreachable) and initialized is not None
        why = f"it answered initialize, and {how_taken(refusal)} server/discover"
        if isinstance(named, str):
            raise self._older(named, why, silent=silent)
        raise self._too_old(_unnamed(said))

    def _older(self, version: str, why: str, *, silent: bool = False) -> NoCommonVersion:
        self._learned(Spoken(version=version, why=why, older=True, silent=silent))
        return self._too_old(f"MCP {version}")

    def _too_old(self, spoken: str) -> NoCommonVersion:
        return NoCommonVersion(
            f"the server speaks {spoken}; mcptask needs MCP {self._generation.version} "
            "with the Tasks extension",
            hint=UPGRADE,
        )

    def _named_others(self, versions: tuple[str, ...]) -> NoCommonVersion:
        listed = ", ".join(versions) or "nothing that it names"
        if versions and all(map(is_older, versions)):
            self._learned(Spoken(version=max(versions), why=f"it lists {listed}", older=True))
        return NoCommonVersion(
            f"the server speaks MCP {listed}; mcptask speaks {self._generation.version}",
            hint=UPGRADE,
        )


def _unnamed(said: Initialized) -> str:
    """What is known of the revision of a server that `initialize` got no revision from."""
    if isinstance(said, dict):
        return "MCP of an older revision"
    if isinstance(said, Unreachable):
        return "no revision that it names: it did not answer initialize"
    return "no revision that mcptask knows"


def _is_out_of_date(said: Initialized | None) -> bool:
    """Is `initialize` refused by a server that has gone on to our revision?"""
    return isinstance(said, RpcError) and said.code == UNSUPPORTED_VERSION
