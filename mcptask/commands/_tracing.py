"""`--trace FILE`: everything that passes the wire, a JSON object a line, readable while it is written.

Several processes may share the file: it is only appended to, each line by one write.
"""

import errno
import os
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any, Literal

from mcptask.errors import UsageError
from mcptask.render.jsonout import line
from mcptask.store import atomic, paths

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcptask.commands._job import Job
    from mcptask.protocol.transports.secrets import Secrets
    from mcptask.protocol.transports.trace import Trace

VARIABLE = "MCPTASK_TRACE"


@dataclass
class TraceFile:
    """The open file of one run. `number` is None after it could not be written: there the trace ends."""

    job: "Job"
    path: str
    number: int | None
    seq: int = 0

    def of(self, server: str, secrets: "Callable[[], Secrets]") -> "Trace":
        """What a transport to this server tells."""
        from mcptask.protocol.transports.trace import masked_entry

        def trace(direction: Literal["out", "in"], kind: str, **fields: Any) -> int:
            self.seq += 1
            head = {"at": self._now(), "seq": self.seq, "pid": os.getpid(), "server": server}
            entry = {"direction": direction, "kind": kind, **masked_entry(fields, secrets())}
            self._write(head | entry)
            return self.seq

        return trace

    def close(self) -> None:
        number, self.number = self.number, None
        if number is not None:
            os.close(number)

    def _now(self) -> str:
        at = self.job.env.clock.wall().astimezone(UTC)
        return at.isoformat(timespec="microseconds").replace("+00:00", "Z")

    def _write(self, entry: dict[str, Any]) -> None:
        if self.number is None:
            return
        data = (line(entry) + "\n").encode("ascii")
        try:
            if os.write(self.number, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self.close()
            self.job.warn(f"the trace {self.path} cannot be written any more: {error.strerror}")


def open_trace(job: "Job") -> TraceFile | None:
    """The file that `--trace` or MCPTASK_TRACE names; None where neither does.

    UsageError where it cannot be opened.
    """
    named = job.options.trace or job.env.environ.get(VARIABLE)
    if not named:
        return None
    option = "--trace" if job.options.trace else VARIABLE
    path = job.env.cwd / named
    if any(
        _same(path, kept)
        for kept in (
            paths.state_file(job.env, job.options.state),
            paths.config_file(job.env, job.options.config),
        )
    ):
        raise UsageError(f"{option}: {named} is a file that mcptask keeps: name another")
    # What is seen of a task may act as a token for it, so the file is for its owner only. Without
    # O_NONBLOCK a named pipe that nobody reads would hold the command up for ever.
    at_once = getattr(os, "O_NONBLOCK", 0)
    try:
        number = atomic.append_to(path, at_once)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{option}: {named} cannot be written: {why}") from error
    if at_once:
        os.set_blocking(number, True)
    return TraceFile(job, str(named), number)


def _same(path: "Path", kept: "Path | None") -> bool:
    """Also by another name, as through a link."""
    try:
        return kept is not None and os.path.realpath(path) == os.path.realpath(kept)
    except ValueError:  # a null character in a name: there is no such file
        return False
