"""The sessions of one command: one a server, opened when first needed, all closed at the end."""

import asyncio
from contextlib import suppress
from types import TracebackType

from mcptask.commands._connect import open_session
from mcptask.commands._job import Job
from mcptask.commands._tracing import open_trace
from mcptask.protocol.generations.base import Call
from mcptask.protocol.session import Session
from mcptask.render.text import clean, clock_time
from mcptask.servers.endpoint import Endpoint

IMPATIENT = 2  # signals while sessions are closed, until there is no patience left
TOLD_EVERY = 10.0  # s between two words about a request that is still unanswered


class Sessions:
    """`async with Sessions(job) as sessions: session = sessions.to(endpoint)`

    `hurry`: whoever waits has asked to stop, so a server that does not end by itself gets no patience.
    UsageError where what they say is to be traced and the file cannot be opened.
    """

    def __init__(self, job: Job, *, traced: bool = True) -> None:
        self.hurry = False
        self._telling: asyncio.Task[None] | None = None
        self._trace = open_trace(job) if traced else None
        self._job = job
        self._open: dict[object, tuple[str, Session]] = {}  # by the endpoint's key: its name too

    def to(self, endpoint: Endpoint, *, known: bool = True) -> Session:
        """The session with this server. `known`: it spoke our revision before."""
        # By identity, never by the address that is shown: that one hides what tells two servers apart.
        if endpoint.key not in self._open:
            session = open_session(self._job, endpoint, known=known, trace=self._trace)
            self._open[endpoint.key] = endpoint.name, session
        return self._open[endpoint.key][1]

    async def __aenter__(self) -> "Sessions":
        if self._job.reporter is None:
            self._telling = asyncio.create_task(self._tell_of_waiting())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """A signal that arrives now finds the work done: it must not tear the closing, or the result."""
        if self._telling is not None:
            self._telling.cancel()
        hurry = self.hurry or isinstance(error, asyncio.CancelledError | BrokenPipeError)
        sessions = self._open.values()
        closing = asyncio.gather(*(session.close(hurry=hurry) for _, session in sessions))
        signals = 0
        try:
            while not closing.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.shield(closing)
                    continue
                signals += 1
                if signals == IMPATIENT:
                    closing.cancel()  # a server that does not end by itself is killed
        finally:
            if self._trace is not None:
                self._trace.close()

    async def _tell_of_waiting(self) -> None:
        """Nobody waits without knowing what for. A reporter shows it in its own way, from then on."""
        clock = self._job.env.clock
        await clock.sleep(TOLD_EVERY)
        while self._job.reporter is None:
            for name, session in self._open.values():
                for call, since in session.under_way:
                    self._say(name, call, clock.now() - since)
            await clock.sleep(TOLD_EVERY)

    def _say(self, name: str, call: Call, waited: float) -> None:
        about = f" ({call.subject})" if call.subject else ""
        text = f"{clock_time(waited)} {name} has not answered {call.method}{about} yet"
        self._job.say(clean(f"mcptask: {text}"))
