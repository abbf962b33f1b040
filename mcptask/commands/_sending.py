"""One `tools/call` on its way: noted before it is sent, sent once, and what is known if no answer comes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcptask.commands._job import Job
from mcptask.commands._run import GRACE, Interruption, within
from mcptask.commands._words import not_waited_for, unknown_outcome, with_next_step
from mcptask.errors import (
    HttpRefused,
    Interrupted,
    McptaskError,
    NoCommonVersion,
    NotStarted,
    ProtocolError,
    StateError,
    StateUnwritable,
    TimedOut,
    Unreachable,
    WireError,
)
from mcptask.protocol.generations.base import CallAnswer, Reply
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.servers.endpoint import Endpoint, origin_of
from mcptask.store.records import CallRecord


@dataclass
class Sending:
    """`mark` is the note of a call whose answer is not known yet, or whose task is to take its place."""

    job: Job
    endpoint: Endpoint
    session: Session
    interruption: Interruption
    tool: str
    mark: CallRecord | None = None

    async def send(
        self,
        arguments: Mapping[str, Any],
        schema: Mapping[str, Any],
        reply: Reply | None,
    ) -> CallAnswer:
        """One round, sent once. The note stays where a task came, or where nothing is known (A4.5)."""
        self.mark = self._note()
        if self.interruption.signum is not None:  # while the state file was waited for
            self._drop()
            raise Interrupted("interrupted; nothing was sent", signum=self.interruption.signum)
        try:
            answer = await self._sent(arguments, schema, reply)
        except McptaskError as error:
            judged = self._judged(error)
            if judged is error:
                raise
            raise judged from error
        if not isinstance(answer, Task):
            self._drop()
        return answer

    def _note(self) -> CallRecord | None:
        """A note that the call is about to be sent, so that nothing can vanish without a trace."""
        try:
            return self.job.store.begin_call(
                origin=origin_of(self.endpoint), tool=self.tool, protocol=self.session.version
            )
        except StateUnwritable as error:
            self.job.warn(f"nothing can be remembered: {error.message}")
            return None

    def _drop(self) -> None:
        mark, self.mark = self.mark, None
        if mark is not None:
            with suppress(StateError):
                self.job.store.drop_call(mark.ref)

    async def _sent(
        self, arguments: Mapping[str, Any], schema: Mapping[str, Any], reply: Reply | None
    ) -> CallAnswer:
        """The first Ctrl-C waits for the handle: closing the request would cancel it (A5.10)."""
        async with within(self.job):
            call = self.session.call(self.tool, arguments, schema, reply)
            return await self.interruption.patiently(call, self._tell_of_grace)

    def _tell_of_grace(self) -> None:
        self.job.say(
            f"Waiting up to {GRACE:.0f} s for the task's id, so that it is not lost. "
            "Ctrl-C again leaves at once."
        )

    def _judged(self, error: McptaskError) -> McptaskError:
        """The error in words that say what is known of the call."""
        if _outcome_unknown(error):
            ref = self.mark.ref if self.mark else None
            return unknown_outcome(error, self.tool, self.endpoint.name, ref)
        if isinstance(error, Interrupted):
            return not_waited_for(error, self.tool, self.endpoint.name)
        self._drop()
        if isinstance(error, WireError):
            return with_next_step(error, self.endpoint, "nothing was started")
        return error


def _outcome_unknown(error: McptaskError) -> bool:
    """The call was sent, and nothing says that it was not done: no answer, or none that can be read."""
    if isinstance(error, Unreachable):
        return error.sent
    refused = isinstance(error, HttpRefused | NoCommonVersion | NotStarted)
    return isinstance(error, TimedOut) or (isinstance(error, ProtocolError) and not refused)
