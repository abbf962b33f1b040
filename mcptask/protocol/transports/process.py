"""One child process and its group: started without a shell, read by lines, and surely ended (A6).

Knows nothing of JSON. Its pipes are always read, whoever listens, so the child never blocks on them.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from mcptask.errors import ConfigError, Unreachable
from mcptask.protocol.transports.groups import OWN_GROUP, end_group, within
from mcptask.protocol.transports.lines import LineReader
from mcptask.protocol.transports.programs import find, why_not_found

# The tail of stderr that an error message may show.
TAIL_LINES = 20
TAIL_LINE_CHARS = 400
STDERR_LINE_BYTES = 64 * 1024

# A child that has exited may have left words in its pipes, and a grandchild may hold them open for ever.
LAST_WORDS = 0.5

_INHERITED = frozenset({"HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER"})
_INHERITED_PREFIXES = ("LC_", "XDG_")
_WINDOWS = frozenset(
    {
        "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT",
        "PROCESSOR_ARCHITECTURE", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP",
        "USERNAME", "USERPROFILE", "WINDIR",
    }
)  # fmt: skip


def child_environ(
    own: Mapping[str, str], extra: Mapping[str, str], *, windows: bool = os.name == "nt"
) -> dict[str, str]:
    """What a server may see of our environment, and what it was given on top (A6.4).

    Values that begin with `()` are shell functions in disguise and stay out.
    """
    names = _INHERITED | (_WINDOWS if windows else frozenset())
    kept = {
        name: value
        for name, value in own.items()
        if (name in names or name.startswith(_INHERITED_PREFIXES)) and not value.startswith("()")
    }
    return {**kept, **extra}


def resolve(command: Sequence[str], cwd: str | None, environ: Mapping[str, str]) -> list[str]:
    """The argument list with a program that exists, by its full path: no later search finds another.

    Raises ConfigError where the program or the folder does not exist, Unreachable where it cannot run.
    """
    if not command or not command[0]:
        raise ConfigError("the server's command is empty")
    if cwd is not None and not os.path.isdir(cwd):
        raise ConfigError(f"the server's folder does not exist: {cwd}")
    name = command[0]
    if os.path.dirname(name):
        name = os.path.join(cwd or "", name)  # as the child would see it
    found = find(name, environ)
    if found is None and os.path.exists(name) and os.path.dirname(name):
        raise Unreachable(f"the server's command is not executable: {name}", sent=False)
    if found is None:
        raise ConfigError(
            f"the server's command does not exist: {command[0]}",
            hint=why_not_found(name, environ)
            or "give its full path, or set PATH in the server's env",
        )
    return [found, *command[1:]]


class Child(asyncio.SubprocessProtocol):
    """A running child.

    `on_line` gets each line of stdout (None for one over the limit), `on_stderr` each of stderr, and
    `on_end`, once, how a child ended that nobody stopped.
    """

    def __init__(
        self,
        limit: int,
        on_line: Callable[[bytes | None], None],
        on_stderr: Callable[[str], None],
        on_end: Callable[[str], None],
    ) -> None:
        self._stdout = LineReader(limit)
        self._stderr = LineReader(STDERR_LINE_BYTES)
        self._on_line = on_line
        self._on_stderr = on_stderr
        self._on_end = on_end
        self._exited = asyncio.Event()
        self._lost = asyncio.Event()
        self._transport: asyncio.SubprocessTransport
        self._last_words: asyncio.TimerHandle | None = None
        self.ended = False
        self.tail: deque[str] = deque(maxlen=TAIL_LINES)

    async def start(
        self, command: Sequence[str], cwd: str | None, environ: Mapping[str, str]
    ) -> None:
        """Raises Unreachable(sent=False) where the system refuses, ConfigError for words with a NUL."""
        loop = asyncio.get_running_loop()
        try:
            await loop.subprocess_exec(
                lambda: self, *command, cwd=cwd, env=dict(environ), **OWN_GROUP
            )
        except ValueError as exc:
            raise ConfigError(f"the server's command cannot be run: {exc}") from exc
        except OSError as exc:
            text = f"the server's command cannot be run: {command[0]}: {exc.strerror}"
            raise Unreachable(text, sent=False) from exc

    @property
    def pid(self) -> int:
        return self._transport.get_pid()

    def write(self, line: bytes) -> None:
        """Queue a line. A child that is gone says so through `on_end`, not here."""
        if not self.ended:
            cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0)).write(line + b"\n")

    def how_it_ended(self) -> str:
        """One sentence, then the tail of stderr."""
        code = self._transport.get_returncode()
        if code is None:
            text = "the server closed its output"
        elif code < 0:
            text = f"the server was killed by signal {-code}"
        else:
            text = f"the server exited with code {code}"
        return text + (": " + "\n".join(self.tail) if self.tail else "")

    async def stop(self, grace: float) -> None:
        """End of input, then SIGTERM, then SIGKILL to the group, each after `grace` seconds (A6.6).

        Returns with every process of the group gone. Cancelled half-way, it kills them at once.
        """
        self.ended = True
        stdin = cast(asyncio.WriteTransport, self._transport.get_pipe_transport(0))
        stdin.close()
        try:
            await end_group(self.pid, self._exited.is_set, grace, patience=grace)
        finally:
            if stdin.get_write_buffer_size():
                stdin.abort()  # what was not read by now never will be
            self._transport.close()
            self._forget_timer()
            await within(grace, self._lost.is_set)

    # ── asyncio calls these ──

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            for line in self._stdout.feed(data):
                self._on_line(line)
        else:
            for text in self._stderr.feed(data):
                self._said(text)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            for line in self._stdout.finish():
                self._on_line(line)
            self._end_soon()
        elif fd == 2:
            for line in self._stderr.finish():
                self._said(line)

    def process_exited(self) -> None:
        self._exited.set()
        self._end_soon()

    def connection_lost(self, exc: Exception | None) -> None:
        """The child has exited and every pipe is at its end."""
        self._lost.set()
        self._end()

    # ──

    def _said(self, line: bytes | None) -> None:
        text = "(a very long line)" if line is None else line.decode("utf-8", "replace")
        self.tail.append(text[:TAIL_LINE_CHARS])
        self._on_stderr(text)

    def _end_soon(self) -> None:
        if self._last_words is None and not self.ended:
            loop = asyncio.get_running_loop()
            self._last_words = loop.call_later(LAST_WORDS, self._end)

    def _end(self) -> None:
        self._forget_timer()
        if not self.ended:
            self.ended = True
            self._on_end(self.how_it_ended())

    def _forget_timer(self) -> None:
        if self._last_words is not None:
            self._last_words.cancel()
