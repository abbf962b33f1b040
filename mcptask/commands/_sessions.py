"""The sessions of one command: one a server, opened when first needed, all closed at the end."""

import asyncio
from types import TracebackType

from mcptask.commands._connect import open_session
from mcptask.commands._job import Job
from mcptask.protocol.session import Session
from mcptask.servers.endpoint import Endpoint


class Sessions:
    """`async with Sessions(job) as sessions: session = sessions.to(endpoint)`

    `hurry`: whoever waits has asked to stop, so a server that does not end by itself gets no patience.
    """

    def __init__(self, job: Job) -> None:
        self.hurry = False
        self._job = job
        self._open: dict[object, Session] = {}

    def to(self, endpoint: Endpoint, *, known: bool = True) -> Session:
        """The session with this server. `known`: it spoke our revision before."""
        # By identity, never by the address that is shown: that one hides what tells two servers apart.
        if endpoint.key not in self._open:
            self._open[endpoint.key] = open_session(self._job, endpoint, known=known)
        return self._open[endpoint.key]

    async def __aenter__(self) -> "Sessions":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """A signal that arrives now finds the work done: it must not tear the closing, or the result."""
        hurry = self.hurry or isinstance(error, asyncio.CancelledError)
        sessions = self._open.values()
        closing = asyncio.gather(*(session.close(hurry=hurry) for session in sessions))
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
