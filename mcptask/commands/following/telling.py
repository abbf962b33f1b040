"""Telling people and programs that a task has ended, or asks: `--notify` and `--exec`.

The terminal is rung once a second at most, however many tasks end. What is told of is what was waited for;
a signal that ends the waiting is no news to whoever sent it.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from mcptask.commands._job import Job
from mcptask.env import Env
from mcptask.protocol.events import Ended, InputRequired, TaskEvent
from mcptask.protocol.outcome import Outcome, outcome_of_task
from mcptask.protocol.questions import Ledger
from mcptask.protocol.task import Status
from mcptask.render.jsonout import document, line
from mcptask.render.questions import asked, task_name
from mcptask.render.report import Report, ServerInfo, Subject
from mcptask.render.streams import try_write
from mcptask.render.style import look
from mcptask.render.terminals import notification, terminal_of

if TYPE_CHECKING:
    from mcptask.commands.following.exec import Hooks, Run

GAP = 1.0  # s between two rings
PATIENCE = 2.0  # s of waiting for `--exec` before a person is told what is waited for


@asynccontextmanager
async def telling(
    job: Job, settle: Callable[[int], None] = lambda ref: None
) -> AsyncIterator["Telling"]:
    """At the end it waits until all that came up was told; on the way out by an error or a signal it does
    not. `settle` is that of `Hooks`."""
    telling = Telling(job, settle)
    try:
        yield telling
        await telling.finish()
    finally:
        await telling.stop()


async def tell_of(job: Job, report: Report) -> None:
    """The same for what had come when it was asked for."""
    async with telling(job) as told:
        told.tell(report)


class Telling:
    """What happens to followed tasks comes in by `hear`; `finish` and `stop` are those of `Hooks`."""

    def __init__(self, job: Job, settle: Callable[[int], None]) -> None:
        self._job = job
        self._bell = Bell(job.env) if job.options.notify and job.env.live else None
        self._hooks = _hooks(job, settle)
        self._asking: set[Subject] = set()

    def hear(
        self,
        subject: Subject,
        event: TaskEvent,
        report: Callable[[Outcome], Report],
        answered: Ledger,
    ) -> None:
        """`report` makes the report of this task from an outcome; `answered` was answered so far."""
        if self._bell is None and self._hooks is None:
            return
        if isinstance(event, InputRequired) and event.task is not None:
            self._asking.add(subject)
            self.tell(report(outcome_of_task(event.task, answered)), subject.task_id)
        elif isinstance(event, Ended):
            stopped_asking = event.outcome.name == Status.INPUT_REQUIRED
            if not (stopped_asking and subject in self._asking):  # told when it asked
                self.tell(report(event.outcome), subject.task_id)

    def tell(self, report: Report, task_id: str | None = None) -> None:
        """`task_id` where the outcome may not know it."""
        if self._bell is not None:
            self._bell.ring(Ring(*_words(report)))
        if self._hooks is not None:
            task = report.outcome.task
            self._hooks.run(_run(report, task_id or (task.task_id if task else None)))

    async def finish(self) -> None:
        if self._hooks is None:
            return
        slow = asyncio.get_running_loop().call_later(PATIENCE, self._say_why)
        try:
            await self._hooks.finish()
        finally:
            slow.cancel()

    async def stop(self) -> None:
        try:
            if self._hooks is not None:
                await self._hooks.stop()
        finally:
            if self._bell is not None:
                self._bell.close()

    def _say_why(self) -> None:
        self._job.say("Waiting for the command of --exec to end. Ctrl-C ends it.")


def _hooks(job: Job, settle: Callable[[int], None]) -> "Hooks | None":
    if job.hook is None:
        return None
    from mcptask.commands.following.exec import Hooks

    return Hooks(job, job.hook, settle)


class Ring(NamedTuple):
    """`kind` is what is counted where several come at once."""

    kind: str
    text: str


class Bell:
    """Rings at once, then gathers for `GAP` seconds what comes after."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._terminal = terminal_of(env.environ)
        self._gathered: list[Ring] = []
        self._waiting: asyncio.Task[None] | None = None

    def ring(self, ring: Ring) -> None:
        self._gathered.append(ring)
        if self._waiting is None or self._waiting.done():
            self._write()
            self._waiting = asyncio.create_task(self._gather())

    def close(self) -> None:
        if self._waiting is not None and not self._waiting.cancel():
            self._waiting.result()  # what it raised, if anything
        self._write()

    async def _gather(self) -> None:
        await self._env.clock.sleep(GAP)
        while self._gathered:
            self._write()
            await self._env.clock.sleep(GAP)

    def _write(self) -> None:
        rings, self._gathered = self._gathered, []
        if rings:
            try_write(self._env.stderr, notification(self._terminal, summed_up(rings)))


def summed_up(rings: list[Ring]) -> str:
    """`✓ reflow_month on studio: completed`; of several: `3 completed · 1 failed · 1 asks`."""
    if len(rings) == 1:
        return rings[0].text
    counts = Counter(each.kind for each in rings)
    return " · ".join(f"{count} {kind}" for kind, count in counts.items())


def _words(report: Report) -> tuple[str, str]:
    outcome = report.outcome
    style = look(outcome.name)
    server = f" on {report.server.label}" if report.server else ""
    what = f"{style.glyph} {report.tool or 'task'}{server}"
    if outcome.name == Status.INPUT_REQUIRED:
        requests = ((outcome.error and outcome.error.data) or {}).get("inputRequests", {})
        return "asks", f"{what} asks: {', '.join(map(asked, requests.values()))}"
    why = f" ({outcome.error.message})" if outcome.error else ""
    return style.word, f"{what}: {style.word}{why}"


def _run(report: Report, task_id: str | None) -> "Run":
    """What one run of the command of `--exec` is told."""
    from mcptask.commands.following.exec import Run

    ref, server = report.ref, report.server
    told = {
        "MCPTASK_TASK_ID": task_id,
        "MCPTASK_REF": None if ref is None else str(ref),
        "MCPTASK_OUTCOME": report.outcome.name,
        "MCPTASK_SERVER": (server.name or _address(server)) if server else None,
    }
    name = f"task {task_name(ref, task_id or '')}" if ref or task_id else report.tool or "the call"
    return Run(name, ref, f"{line(document(report))}\n".encode("ascii"), told)


def _address(server: ServerInfo) -> str | None:
    """What `MCPTASK_SERVER` takes for a server without a name: a URL, not a command."""
    return server.endpoint if server.endpoint.startswith(("http://", "https://")) else None
