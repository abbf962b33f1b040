"""The command of `--exec`: run for each task that ends or asks, with the document on its stdin.

One at a time and in order, while the tasks are followed on, never through a shell. What it prints is shown
on stderr; how it ends changes nothing but the warnings. Each run is bounded, and has a group of its own.
"""

import asyncio
import os
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from mcptask.commands._job import Job
from mcptask.errors import UsageError
from mcptask.protocol.transports.groups import OWN_GROUP, end_group
from mcptask.protocol.transports.lines import LineReader
from mcptask.servers.command_line import split

LIMIT = 60.0  # s that one run may take
GRACE = 2.0  # s between SIGTERM and SIGKILL for one that took longer
# One that never ends by itself must not be waited for a thousand times.
MOST_IN_A_ROW = 3
# Of the output of one run: bytes of a line, and lines.
LONGEST_LINE = 4096
MOST_LINES = 200
LAST_WORDS = 0.5  # s for the rest of its output, which a child of its own may hold open for ever


# What makes a line one for a shell; and the words that only a shell would not hand to the program.
_SHELL_SIGNS = "|><$;&*`"
_SHELL_WORDS = frozenset({"|", ">", ">>", "<", "&&", "||", ";", "&", "2>", "2>&1"})
NO_SHELL = """a line for a shell needs one: --exec "sh -c '…'\""""


class Run(NamedTuple):
    """One run: `name` says of what, `ref` is the task's number, `body` is for stdin, `variables` are for the
    environment, without what is None."""

    name: str
    ref: int | None
    body: bytes
    variables: Mapping[str, str | None]


def command_of(text: str, environ: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    """The words of `--exec`, with a program that exists. UsageError where there is none."""
    import shutil

    try:
        words = split(text)
    except ValueError as error:
        raise UsageError(f"--exec cannot be split into words: {error}") from None
    if not words or not words[0]:
        raise UsageError("--exec names no command")
    name = os.path.join(cwd, words[0]) if os.path.dirname(words[0]) else words[0]
    found = shutil.which(name, path=environ.get("PATH", os.defpath))
    if found is None:
        raise UsageError(
            f"the command of --exec does not exist, or cannot be run: {words[0]}",
            hint=NO_SHELL if any(sign in text for sign in _SHELL_SIGNS) else None,
        )
    return (os.path.abspath(found), *words[1:])


class Hooks:
    """The runs of one command. `finish` waits for them, `stop` ends them. `settle` sees to it that the state
    file has the end of a task before the command can look for it there."""

    def __init__(self, job: Job, command: Sequence[str], settle: Callable[[int], None]) -> None:
        self._job = job
        self._command = command
        self._settle = settle
        self._waiting: deque[Run] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._overdue = 0

    def run(self, run: Run) -> None:
        """Returns at once. Raises what an earlier one raised that should not have."""
        if self._overdue == MOST_IN_A_ROW:
            return
        self._waiting.append(run)
        if self._worker is not None and self._worker.done():
            self._worker.result()
            self._worker = None
        self._worker = self._worker or asyncio.create_task(self._work())

    async def finish(self) -> None:
        """Returns when all have run. Cancelled, it ends the one that runs."""
        if self._worker is not None:
            await self._worker

    async def stop(self) -> None:
        """Ends the one that runs, and forgets the others."""
        if self._waiting:
            self._job.warn(f"--exec was interrupted before {len(self._waiting)} more of its runs")
            self._waiting.clear()
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])
            if not self._worker.cancelled():
                self._worker.result()  # what it raised, if anything

    async def _work(self) -> None:
        while self._waiting:
            run = self._waiting.popleft()
            if run.ref is not None:
                self._settle(run.ref)
            if problem := await self._problem_of(run):
                shell = f" ({NO_SHELL})" if _SHELL_WORDS & set(self._command) else ""
                self._job.warn(f"--exec for {run.name} {problem}{shell}")
            if self._overdue == MOST_IN_A_ROW:
                self._waiting.clear()
                self._job.warn(f"--exec is run no more: {self._overdue} times it did not end")

    def _environ(self, run: Run) -> dict[str, str]:
        """Ours, whole: what is run is the user's own. None of what it says itself is taken from ours."""
        environ = {**self._job.env.environ, **run.variables}
        return {name: value for name, value in environ.items() if value is not None}

    async def _problem_of(self, run: Run) -> str:
        """Run it; what went wrong, if anything did."""
        hook = _Hook(lambda line: self._job.say(f"--exec ({run.name}): {line}"))
        try:
            await hook.start(self._command, self._job.cwd, self._environ(run), run.body)
            async with asyncio.timeout(LIMIT):
                await hook.ended()
        except TimeoutError:
            self._overdue += 1
            return f"did not end within {LIMIT:g} s, and was ended"
        except asyncio.CancelledError:
            self._job.warn(f"--exec for {run.name} was ended by the interruption")
            raise
        except (OSError, ValueError) as error:
            return f"could not be run: {getattr(error, 'strerror', None) or error}"
        finally:
            await hook.stop()
        self._overdue = 0
        return hook.complaint


class _Hook(asyncio.SubprocessProtocol):
    """One run. `said` gets the lines that it prints, wherever to."""

    def __init__(self, said: Callable[[str], None]) -> None:
        self._said = said
        self._lines = LineReader(LONGEST_LINE)
        self._shown = 0
        self._exited, self._silent = asyncio.Event(), asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None

    async def start(
        self, command: Sequence[str], cwd: str, environ: Mapping[str, str], body: bytes
    ) -> None:
        """Raises OSError or ValueError where the system refuses it."""
        self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            *command,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=environ,
            **OWN_GROUP,
        )
        self._stdin.write(body)
        self._stdin.close()  # once all is written

    @property
    def _stdin(self) -> asyncio.WriteTransport:
        assert self._transport is not None
        return cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))

    async def ended(self) -> None:
        await self._exited.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._silent.wait()

    @property
    def complaint(self) -> str:
        code = self._transport.get_returncode() if self._transport else None
        if not code:
            return ""
        return f"exited with code {code}" if code > 0 else f"was killed by signal {-code}"

    async def stop(self) -> None:
        """Where it still runs: SIGTERM, then SIGKILL, to its whole group. What one that has ended left in the
        background is its own affair."""
        if self._transport is None:
            return
        try:
            if not self._exited.is_set():
                await end_group(self._transport.get_pid(), self._exited.is_set, GRACE)
        finally:
            if self._stdin.get_write_buffer_size():
                self._stdin.abort()  # it did not care to read all, which is no error
            self._transport.close()

    # ── asyncio calls these ──

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self._shown < MOST_LINES:
            for line in self._lines.feed(data):
                self._show(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            for line in self._lines.finish():
                self._show(line)
            self._silent.set()

    def process_exited(self) -> None:
        self._exited.set()

    # ──

    def _show(self, line: bytes | None) -> None:
        self._shown += 1
        if self._shown < MOST_LINES:
            self._said("(a very long line)" if line is None else line.decode("utf-8", "replace"))
        elif self._shown == MOST_LINES:
            self._said("(more is not shown)")
