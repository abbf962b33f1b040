"""The course of a `tools/call`: mark it, send it once, store the handle, show it, follow it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mcptask.arguments.parse import parse
from mcptask.commands._answer import Answer
from mcptask.commands._follow import ask_to_cancel, follow_all
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of, server_info
from mcptask.commands._run import GRACE, Interruption, run, within
from mcptask.commands._sessions import Sessions
from mcptask.commands._streams import followed
from mcptask.commands._tools import the_tool
from mcptask.commands._words import interrupted, not_waited_for, unknown_outcome
from mcptask.errors import (
    AnswerNeeded,
    ExitCode,
    HttpRefused,
    Interrupted,
    McptaskError,
    NoCommonVersion,
    ProtocolError,
    RpcError,
    StateError,
    StateUnwritable,
    TimedOut,
    Unreachable,
)
from mcptask.protocol.generations.base import CallAnswer, InputNeeded
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_result
from mcptask.protocol.task import Task
from mcptask.render.human import created_lines
from mcptask.render.report import Report, Subject
from mcptask.render.text import clean, clock_time
from mcptask.servers.endpoint import Endpoint, not_stored, origin_of
from mcptask.store.records import CallRecord, TaskRecord

TOLD_EVERY = 10.0  # s between two words about a call that is still unanswered


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the command line asks for. `raw` is `--args`: JSON, @FILE or `-`."""

    tool: str
    arguments: tuple[str, ...] = ()
    raw: str | None = None
    validate: bool = True
    wait: bool = False


def call_tool(job: Job, wanted: Wanted) -> Answer:
    endpoint = job.endpoint()
    job.read_stdin_early(wanted.raw, *wanted.arguments)
    job.store.read()  # a state file that cannot be used is told before anything is sent

    async def work(interruption: Interruption) -> Answer:
        async with Sessions(job) as sessions:
            return await _Call(job, wanted, endpoint, sessions, interruption).run()

    return run(work)


@dataclass
class _Call:
    job: Job
    wanted: Wanted
    endpoint: Endpoint
    sessions: Sessions
    interruption: Interruption

    async def run(self) -> Answer:
        self.session = self.sessions.to(self.endpoint, known=False)
        async with within(self.job):
            tool = await the_tool(self.job, self.endpoint, self.session, self.wanted.tool)
        schema = tool.get("inputSchema")
        schema = schema if isinstance(schema, dict) else {}
        arguments = self._arguments(schema)
        mark = self._mark()
        if self.interruption.signum is not None:  # while the state file was waited for
            self._drop(mark)
            raise Interrupted("interrupted; nothing was sent", signum=self.interruption.signum)
        try:
            answer = await self._send(arguments, schema)
        except McptaskError as error:
            return self._failed(error, mark)
        if isinstance(answer, Task):
            return await self._created(answer, mark)
        self._drop(mark)
        if isinstance(answer, InputNeeded):
            return answer_of(self.job, self._report(outcome_of_error(_asks_first(answer))))
        return answer_of(self.job, self._report(outcome_of_result(answer.result)))

    def _arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        return parse(
            list(self.wanted.arguments),
            self.wanted.raw,
            schema,
            tool=self.wanted.tool,
            server=self.job.options.server,
            validate=self.wanted.validate,
            read_file=self.job.read_file,
            read_stdin=lambda: self.job.stdin_text,
        )

    def _mark(self) -> CallRecord | None:
        """A note that the call is about to be sent, so that nothing can vanish without a trace."""
        try:
            return self.job.store.begin_call(
                origin=origin_of(self.endpoint),
                tool=self.wanted.tool,
                protocol=self.session.version,
            )
        except StateUnwritable as error:
            self.job.warn(f"nothing can be remembered: {error.message}")
            return None

    def _drop(self, mark: CallRecord | None) -> None:
        if mark is not None:
            with suppress(StateError):
                self.job.store.drop_call(mark.ref)

    async def _send(self, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> CallAnswer:
        """The one `tools/call`. The first Ctrl-C waits for the handle: closing would cancel (A5.10)."""
        sent = self.session.call(self.wanted.tool, arguments, schema)
        telling = asyncio.create_task(self._tell_of_waiting())
        try:
            async with within(self.job):
                return await self.interruption.patiently(sent, self._tell_of_grace)
        finally:
            telling.cancel()

    async def _tell_of_waiting(self) -> None:
        started = self.job.env.clock.now()
        while True:
            await self.job.env.clock.sleep(TOLD_EVERY)
            waited = clock_time(self.job.env.clock.now() - started)
            what = f"{self.wanted.tool} was sent to {self.endpoint.name}"
            self.job.say(clean(f"mcptask: {waited} {what}; it has not answered yet"))

    def _tell_of_grace(self) -> None:
        self.job.say(
            f"Waiting up to {GRACE:.0f} s for the task's id, so that it is not lost. "
            "Ctrl-C again leaves at once."
        )

    def _failed(self, error: McptaskError, mark: CallRecord | None) -> Answer:
        if _outcome_unknown(error):
            ref = mark.ref if mark else None
            error = unknown_outcome(error, self.wanted.tool, self.endpoint.name, ref)
        elif isinstance(error, Interrupted):
            error = not_waited_for(error, self.wanted.tool, self.endpoint.name)
        else:
            self._drop(mark)
        outcome = outcome_of_error(error)
        if isinstance(error, RpcError):  # the answer to the call itself: it was tried, and failed
            outcome = replace(outcome, name="failed", exit_code=ExitCode.FAILED)
        return answer_of(self.job, self._report(outcome))

    async def _created(self, task: Task, mark: CallRecord | None) -> Answer:
        record = self._stored(task, mark)
        if (untold := not_stored(self.endpoint)) is not None:
            self.job.warn(untold)
        item = followed(self.job, record, self.endpoint, seed=task)
        if self.interruption.signum is not None:
            return await self._caught_just_in_time(task, record, item.name)
        if not self.wanted.wait:
            return self._detached(task, record, item.subject)
        (report,) = await follow_all(self.job, [item], self.interruption, self.sessions)
        return answer_of(self.job, report)

    async def _caught_just_in_time(self, task: Task, record: TaskRecord, name: str) -> Answer:
        """The handle came after the signal: it is stored, and the user is told how to come back."""
        cancel = self.job.options.on_interrupt == "cancel"
        cancelled = cancel and await ask_to_cancel(self.session, task.task_id)
        assert self.interruption.signum is not None
        error = interrupted(name, self.interruption.signum, cancelled=cancelled)
        report = self._report(outcome_of_error(error, task), record)
        return answer_of(
            self.job, report, text="" if self.wanted.wait else self._id_for_stdout(task)
        )

    def _stored(self, task: Task, mark: CallRecord | None) -> TaskRecord:
        """The handle goes to disk before anyone sees it; if it cannot, the id is at least printed."""
        try:
            return self.job.store.add(
                task,
                origin=origin_of(self.endpoint),
                tool=self.wanted.tool,
                protocol=self.session.version,
                ref=mark.ref if mark else None,
            )
        except StateError as error:
            self.job.warn(f"task {task.task_id} could not be stored: {error.message}")
            return TaskRecord(
                ref=0,
                task_id=task.task_id,
                status=task.status,
                tool=self.wanted.tool,
                protocol=self.session.version,
            )

    def _detached(self, task: Task, record: TaskRecord, subject: Subject) -> Answer:
        for warning in task.warnings:
            self.job.warn(warning)
        # Left to itself, any state is what was asked for: only a waiting call answers for its end.
        outcome = Outcome(name=task.status, exit_code=ExitCode.OK, task=task)
        report = self._report(outcome, record)
        remarks = created_lines(subject, task, where="" if record.ref else self.endpoint.address)
        return answer_of(self.job, report, remarks=remarks, text=self._id_for_stdout(task))

    def _id_for_stdout(self, task: Task) -> str:
        """Exact for a script that catches it, harmless for a terminal."""
        return clean(task.task_id) if self.job.env.stdout.isatty() else task.task_id

    def _report(self, outcome: Outcome, record: TaskRecord | None = None) -> Report:
        return Report(
            outcome=outcome,
            server=server_info(self.endpoint, self.session.version),
            ref=(record.ref or None) if record else None,
            tool=self.wanted.tool,
            warnings=tuple(self.job.warnings),
        )


def _outcome_unknown(error: McptaskError) -> bool:
    """The call was sent, and nothing says that it was not done: no answer, or none that can be read."""
    if isinstance(error, Unreachable):
        return error.sent
    refused = isinstance(error, HttpRefused | NoCommonVersion)
    return isinstance(error, TimedOut) or (isinstance(error, ProtocolError) and not refused)


def _asks_first(asked: InputNeeded) -> AnswerNeeded:
    return AnswerNeeded(
        "the tool asks something before it starts, and mcptask cannot answer that yet",
        data={"inputRequests": dict(asked.requests)},
        hint="nothing was started",
    )
