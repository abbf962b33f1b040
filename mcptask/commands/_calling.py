"""The course of a `tools/call`: send it, with answers again where it asks first, store the handle, follow."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from mcptask.arguments.parse import parse
from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._opening import Opening
from mcptask.commands._reports import answer_of, server_info
from mcptask.commands._run import Interruption, run, within
from mcptask.commands._sending import Sending
from mcptask.commands._sessions import Sessions
from mcptask.commands._tools import Tool, input_schema, listed_tools, the_one, the_tool
from mcptask.commands._where import where, where_unless_stored
from mcptask.commands._words import not_begun, with_next_step
from mcptask.commands.following.events import Followed, followed
from mcptask.commands.following.leaving import cancelled_on_leaving, interrupted
from mcptask.commands.following.loop import follow_all
from mcptask.commands.following.telling import tell_of
from mcptask.errors import (
    EndlessRounds,
    ExitCode,
    Interrupted,
    McptaskError,
    RpcError,
    StateError,
    TimedOut,
    WireError,
)
from mcptask.protocol.generations.base import CallAnswer, Immediate, InputNeeded, Reply
from mcptask.protocol.generations.jsonrpc import HEADER_MISMATCH
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_result
from mcptask.protocol.rounds import MAX_ROUNDS, Responses, call_in_rounds
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.render.human import created_lines
from mcptask.render.report import Report, Subject
from mcptask.render.text import leading
from mcptask.servers.endpoint import Endpoint, not_stored, origin_of
from mcptask.store.records import TaskRecord


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the command line asks for. `raw` is `--args`: JSON, @FILE or `-`."""

    tool: str
    arguments: tuple[str, ...] = ()
    raw: str | None = None
    validate: bool = True
    wait: bool = False
    max_rounds: int = MAX_ROUNDS
    dry_run: bool = False


def call_tool(job: Job, wanted: Wanted) -> Answer:
    endpoint = job.endpoint()
    job.read_stdin_early(wanted.raw, *wanted.arguments)
    asking = Opening(job, endpoint.name, wanted.tool)
    if wanted.dry_run:
        from mcptask.commands._dry_run import dry_call

        return dry_call(
            job, endpoint, wanted.tool, lambda tool: _typed(job, wanted, endpoint, tool)
        )
    job.store.read()  # a state file that cannot be used is told before anything is sent

    async def work(interruption: Interruption) -> Answer:
        async with Sessions(job) as sessions:
            session = sessions.to(endpoint, known=False)
            sending = Sending(job, endpoint, session, interruption, wanted.tool)
            return await _Call(job, wanted, endpoint, asking, sessions, interruption, sending).run()

    return run(work)


class _Prepared(NamedTuple):
    """What a call says: its arguments, and the schema that tells which of them go into headers too."""

    arguments: Mapping[str, Any]
    schema: Mapping[str, Any]


@dataclass
class _Call:
    job: Job
    wanted: Wanted
    endpoint: Endpoint
    asking: Opening
    sessions: Sessions
    interruption: Interruption
    sending: Sending
    prepared: _Prepared = field(init=False)

    @property
    def session(self) -> Session:
        return self.sending.session

    async def run(self) -> Answer:
        try:
            async with within(self.job):
                tool = await the_tool(self.job, self.endpoint, self.session, self.wanted.tool)
                self.prepared = self._prepare(tool)
                # Before the call is noted: what ends here has sent nothing.
                await self.session.greet()
        except WireError as error:
            raise with_next_step(error, self.endpoint, "nothing was started") from None
        try:
            answer = await self._in_rounds()
        except McptaskError as error:
            return await self._at_once(_failed(error))
        if isinstance(answer, Task):
            return await self._created(answer)
        return await self._at_once(outcome_of_result(answer.result))

    async def _at_once(self, outcome: Outcome) -> Answer:
        """The end of a call of which no task came: it may have been waited for as long."""
        self.job.sources.close()
        if self.wanted.wait and outcome.name != "interrupted":
            # A signal is of the telling now, and not of the call.
            with suppress(Interrupted), self.interruption.as_error():
                await tell_of(self.job, self._report(outcome))
        return answer_of(self.job, self._report(outcome))

    def _prepare(self, tool: Tool) -> _Prepared:
        return _Prepared(_typed(self.job, self.wanted, self.endpoint, tool), input_schema(tool))

    async def _in_rounds(self) -> Task | Immediate:
        try:
            return await call_in_rounds(
                self._round, self._answered, self.job.env.clock, most=self.wanted.max_rounds
            )
        except EndlessRounds as error:
            error.hint = (
                f"--max-rounds {2 * self.wanted.max_rounds} would go on; nothing was started"
            )
            raise

    async def _round(self, reply: Reply | None) -> CallAnswer:
        """One `tools/call`. Refused for its headers it has done nothing, and goes out once more (A4.3)."""
        try:
            return await self._send(reply)
        except RpcError as error:
            if error.code != HEADER_MISMATCH:
                raise
            await self._refresh(error)
        try:
            return await self._send(reply)
        except RpcError as error:
            if error.code == HEADER_MISMATCH:
                error.hint = (
                    "the headers were made anew; something between here and there changes them"
                )
            raise

    async def _send(self, reply: Reply | None) -> CallAnswer:
        return await self.sending.send(self.prepared.arguments, self.prepared.schema, reply)

    async def _refresh(self, refusal: RpcError) -> None:
        """The headers follow the tool's schema, and the one that is kept here may be out of date."""
        self.job.explain(
            f"{self.endpoint.name} refused the headers ({refusal.message}): "
            "listing its tools anew, then one more try"
        )
        try:
            async with within(self.job):
                tools = await listed_tools(self.job, self.endpoint, self.session)
        except (WireError, TimedOut):
            raise refusal from None
        self.prepared = self._prepare(the_one(self.job, self.endpoint, tools, self.wanted.tool))

    async def _answered(self, asked: InputNeeded) -> Responses:
        try:
            with self.interruption.as_error():
                async with within(self.job):
                    return await self.asking.answered(asked)
        except (Interrupted, TimedOut) as error:
            raise not_begun(error, self.wanted.tool) from None

    async def _created(self, task: Task) -> Answer:
        record = self._stored(task)
        if (untold := not_stored(self.endpoint)) is not None:
            self.job.warn(untold)
        item = followed(self.job, record, self.endpoint, seed=task)
        if self.interruption.signum is not None:
            return await self._caught_just_in_time(task, record, item)
        if not self.wanted.wait:
            return self._detached(task, record, item.subject)
        (report,) = await follow_all(self.job, [item], self.interruption, self.sessions)
        return answer_of(self.job, report)

    async def _caught_just_in_time(self, task: Task, record: TaskRecord, item: Followed) -> Answer:
        """The handle came after the signal: it is stored, and the user is told how to come back."""
        (cancelled,) = await cancelled_on_leaving(
            self.job, [(self.endpoint, task.task_id)], self.interruption, self.sessions
        )
        assert self.interruption.signum is not None
        error = interrupted(item, self.interruption.signum, cancelled=cancelled)
        report = self._report(outcome_of_error(error, task), record)
        return answer_of(
            self.job, report, text="" if self.wanted.wait else self._id_for_stdout(task)
        )

    def _stored(self, task: Task) -> TaskRecord:
        """The handle goes to disk before anyone sees it; if it cannot, the id is at least printed."""
        mark = self.sending.mark
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
        self.job.sources.close()
        for warning in task.warnings:
            self.job.warn(warning)
        # Left to itself, any state is what was asked for: only a waiting call answers for its end.
        outcome = Outcome(name=task.status, exit_code=ExitCode.OK, task=task)
        report = self._report(outcome, record)
        remarks = created_lines(subject, task)
        return answer_of(self.job, report, remarks=remarks, text=self._id_for_stdout(task))

    def _id_for_stdout(self, task: Task) -> str:
        """Exact for a script that catches it, harmless for a terminal."""
        return leading(task.task_id) if self.job.env.stdout.isatty() else task.task_id

    def _report(self, outcome: Outcome, record: TaskRecord | None = None) -> Report:
        return Report(
            outcome=outcome,
            server=server_info(self.endpoint, self.session.version),
            ref=(record.ref or None) if record else None,
            tool=self.wanted.tool,
            warnings=tuple(self.job.warnings),
            where=where_unless_stored(self.job, self.endpoint, record.ref) if record else "",
        )


def _failed(error: McptaskError) -> Outcome:
    outcome = outcome_of_error(error)
    if isinstance(error, RpcError):  # the answer to the call itself: it was tried, and failed
        return replace(outcome, name="failed", exit_code=ExitCode.FAILED)
    return outcome


def _typed(job: Job, wanted: Wanted, endpoint: Endpoint, tool: Tool) -> dict[str, Any]:
    """The arguments, typed by what the tool expects."""
    return parse(
        list(wanted.arguments),
        wanted.raw,
        input_schema(tool),
        tool=wanted.tool,
        where=where(job, endpoint) if job.selection.explicit else "",
        validate=wanted.validate,
        read_file=job.read_file,
        read_stdin=lambda: job.stdin_text,
    )
