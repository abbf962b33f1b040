"""The course of a `tools/call`: mark it, send it once, store the handle, show it, follow it."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from mcptask.commands import _arguments
from mcptask.commands._answer import Answer
from mcptask.commands._connect import connected, origin_of, server_info
from mcptask.commands._follow import check_on_interrupt, follow_all, rules_of
from mcptask.commands._job import Job
from mcptask.commands._reports import answer_of
from mcptask.commands._run import GRACE, Interruption, run
from mcptask.commands._streams import followed
from mcptask.commands._tools import the_tool
from mcptask.commands._words import interrupted, not_waited_for, unknown_outcome
from mcptask.errors import (
    AnswerNeeded,
    ExitCode,
    Garbled,
    Interrupted,
    McptaskError,
    RpcError,
    StateError,
    StateUnwritable,
    Unreachable,
)
from mcptask.protocol.generations.base import CallAnswer, InputNeeded
from mcptask.protocol.outcome import Outcome, outcome_of_error, outcome_of_result
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from mcptask.render.human import created_lines
from mcptask.render.report import Report, Subject
from mcptask.servers.resolve import Endpoint
from mcptask.store.records import CallRecord, TaskRecord


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the command line asks for. `raw` is `--args`: JSON, @FILE or `-`."""

    tool: str
    arguments: tuple[str, ...] = ()
    raw: str | None = None
    validate: bool = True
    wait: bool = False


def call_tool(job: Job, wanted: Wanted) -> Answer:
    check_on_interrupt(job)
    endpoint = job.endpoint()
    job.store.read()  # a state file that cannot be used is told before anything is sent

    async def work(interruption: Interruption) -> Answer:
        async with connected(job, endpoint) as session:
            return await _Call(job, wanted, endpoint, session, interruption).run()

    return run(work)


@dataclass
class _Call:
    job: Job
    wanted: Wanted
    endpoint: Endpoint
    session: Session
    interruption: Interruption

    async def run(self) -> Answer:
        tool = await the_tool(self.job, self.endpoint, self.session, self.wanted.tool)
        schema = tool.get("inputSchema")
        schema = schema if isinstance(schema, dict) else {}
        arguments = self._arguments(schema)
        mark = self._mark()
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
        return _arguments.parse(
            list(self.wanted.arguments),
            self.wanted.raw,
            schema,
            tool=self.wanted.tool,
            validate=self.wanted.validate,
            read_file=self.job.read_file,
            read_stdin=self.job.env.stdin.read,
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
        return await self.interruption.patiently(
            sent,
            lambda: self.job.say(
                f"Waiting up to {GRACE:.0f} s for the task's id, so that it is not lost. "
                "Ctrl-C again leaves at once."
            ),
        )

    def _failed(self, error: McptaskError, mark: CallRecord | None) -> Answer:
        unknown = isinstance(error, Garbled) or (isinstance(error, Unreachable) and error.sent)
        if unknown:
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
        for warning in task.warnings:
            self.job.warn(f"{self.endpoint.name}: {warning}")
        if self.endpoint.server is None and "?" in (self.endpoint.url or ""):
            self.job.warn("the query of the URL is not stored: give -s URL again to come back")
        item = followed(self.job, record, self.endpoint, seed=task)
        if self.interruption.signum is not None:
            error = interrupted(item.name, self.interruption.signum, cancelled=False)
            return answer_of(self.job, self._report(outcome_of_error(error, task), record))
        if not self.wanted.wait:
            return self._detached(task, record, item.subject)
        rules = rules_of(self.job)
        (report,) = await follow_all(
            self.job, [item], self.interruption, rules, session=self.session
        )
        return answer_of(self.job, report)

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
                ref=0, task_id=task.task_id, status=task.status, tool=self.wanted.tool
            )

    def _detached(self, task: Task, record: TaskRecord, subject: Subject) -> Answer:
        # Left to itself, any state is what was asked for: only a waiting call answers for its end.
        outcome = Outcome(name=task.status, exit_code=ExitCode.OK, task=task)
        remarks = created_lines(subject, task)
        report = self._report(outcome, record)
        return answer_of(self.job, report, remarks=remarks, text=task.task_id)

    def _report(self, outcome: Outcome, record: TaskRecord | None = None) -> Report:
        return Report(
            outcome=outcome,
            server=server_info(self.endpoint, self.session.version),
            ref=(record.ref or None) if record else None,
            tool=self.wanted.tool,
            warnings=tuple(self.job.warnings),
        )


def _asks_first(asked: InputNeeded) -> AnswerNeeded:
    return AnswerNeeded(
        "the tool asks something before it starts, and mcptask cannot answer that yet",
        data={"inputRequests": dict(asked.requests)},
        hint="nothing was started",
    )
