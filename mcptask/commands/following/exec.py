"""The command of `--exec`: run for each task that ends or asks, with the document on its stdin.

One at a time and in order, while the tasks are followed on, never through a shell. What it prints is shown
on stderr; how it ends changes nothing but the warnings. Each run is bounded, and has a group of its own.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from mcptask.commands._children import Child, environment, line_by_line, shell_meant
from mcptask.commands._job import Job

LIMIT = 60.0  # s that one run may take
# One that never ends by itself must not be waited for a thousand times.
MOST_IN_A_ROW = 3
MOST_LINES = 200  # of the output of one run


class Run(NamedTuple):
    """One run: `name` says of what, `ref` is the task's number, `body` is for stdin, `variables` are for the
    environment, without what is None."""

    name: str
    ref: int | None
    body: bytes
    variables: Mapping[str, str | None]


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
                shell = shell_meant("--exec", self._command)
                self._job.warn(f"--exec for {run.name} {problem}{shell}")
            if self._overdue == MOST_IN_A_ROW:
                self._waiting.clear()
                self._job.warn(f"--exec is run no more: {self._overdue} times it did not end")

    async def _problem_of(self, run: Run) -> str:
        """Run it; what went wrong, if anything did."""
        said = _at_most(MOST_LINES, lambda line: self._job.say(f"--exec ({run.name}): {line}"))
        hook = Child(line_by_line(said))
        environ = environment(self._job.env.environ, run.variables)
        try:
            await hook.start(self._command, self._job.cwd, environ, run.body)
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


def _at_most(most: int, said: Callable[[str], None]) -> Callable[[str], None]:
    """`said` for so many lines; the last of them tells where there are more."""
    number = count(1)

    def say(line: str) -> None:
        if (this := next(number)) <= most:
            said(line if this < most else "(more is not shown)")

    return say
