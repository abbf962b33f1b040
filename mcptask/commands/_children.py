"""A command of the user's as a process, for `--exec` and `--answer-with`: its words, its output, its end.

Never through a shell. It has a process group of its own, and with that no terminal: it can neither read what
is typed for us nor write between what we print.
"""

import asyncio
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import cast

from mcptask.errors import UsageError
from mcptask.protocol.transports.groups import OWN_GROUP, end_group
from mcptask.protocol.transports.lines import LineReader
from mcptask.protocol.transports.programs import find, why_not_found
from mcptask.servers.command_line import split

GRACE = 2.0  # s between SIGTERM and SIGKILL for one that is ended
LAST_WORDS = 0.5  # s for the rest of its output, which a child of its own may hold open for ever
LONGEST_LINE = 4096  # bytes of a line that is shown
LONGEST_VARIABLE = 4096  # characters: the system bounds what a program starts with
STDOUT, STDERR = 1, 2

# What makes a line one for a shell; and the words that only a shell would not hand to the program.
_SHELL_SIGNS = "|><$;&*`"
_SHELL_WORDS = frozenset({"|", ">", ">>", "<", "&&", "||", ";", "&", "2>", "2>&1"})


def command_of(option: str, text: str, environ: Mapping[str, str], cwd: str) -> tuple[str, ...]:
    """The words of the command that `option` names, with a program that exists; else UsageError."""
    import shlex

    try:
        words = split(text)
    except ValueError as error:
        raise UsageError(f"{option} cannot be split into words: {error}") from None
    if not words or not words[0]:
        raise UsageError(f"{option} names no command")
    name = os.path.join(cwd, words[0]) if os.path.dirname(words[0]) else words[0]
    found = find(name, environ)
    if found is None and os.path.dirname(words[0]) and os.path.isfile(name):
        raise UsageError(
            f"the command of {option} may not be run: {words[0]} is not executable",
            hint=f"chmod +x {shlex.quote(words[0])}",
        )
    if found is None:
        raise UsageError(
            f"the command of {option} does not exist, or cannot be run: {words[0]}",
            hint=why_not_found(name, environ)
            or (_no_shell(option) if any(sign in text for sign in _SHELL_SIGNS) else None),
        )
    return (found, *words[1:])


def shell_meant(option: str, command: Sequence[str]) -> str:
    """What to add to the complaint of a command that was given words for a shell; empty where it was not."""
    return f" ({_no_shell(option)})" if _SHELL_WORDS & set(command) else ""


def _no_shell(option: str) -> str:
    return f"""a line for a shell needs one: {option} "sh -c '…'\""""


def environment(ours: Mapping[str, str], told: Mapping[str, str | None]) -> dict[str, str]:
    """Ours, whole: what is run is the user's own. None of what it is `told` is taken from ours, also where
    there is nothing to tell, or what cannot stand there (A6.4)."""
    environ = {name: value for name, value in ours.items() if name not in told}
    return environ | {name: value for name, value in told.items() if value and _fits(value)}


def _fits(value: str) -> bool:
    """Can it stand in the environment, and harm nobody there?"""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return len(value) <= LONGEST_VARIABLE and "\0" not in value and not value.startswith("()")


Heard = Callable[[bytes], None]  # gets what came, and nothing (b"") at the end


def line_by_line(said: Callable[[str], None]) -> Heard:
    """Hands on the output as lines of text."""
    lines = LineReader(LONGEST_LINE)

    def heard(data: bytes) -> None:
        for line in lines.feed(data) if data else lines.finish():
            said("(a very long line)" if line is None else line.decode("utf-8", "replace"))

    return heard


class Child(asyncio.SubprocessProtocol):
    """One run. `out` gets its output; what it writes on stderr as well, where no `err` is for that."""

    def __init__(self, out: Heard, err: Heard | None = None) -> None:
        self._heard = {STDOUT: out} if err is None else {STDOUT: out, STDERR: err}
        self._open = set(self._heard)
        self._exited, self._silent, self._done = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None

    async def start(
        self, command: Sequence[str], cwd: str, environ: Mapping[str, str], body: bytes
    ) -> None:
        """Raises OSError or ValueError where the system refuses it."""
        self._transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            *command,
            stderr=subprocess.PIPE if STDERR in self._heard else subprocess.STDOUT,
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
        await self._done.wait()
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS):
                await self._silent.wait()

    def break_off(self) -> None:
        """It has said too much: wait for no more."""
        self._done.set()
        self._silent.set()

    @property
    def complaint(self) -> str:
        """How it failed, where it did."""
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
        self._heard[fd](data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd in self._open:
            self._open.remove(fd)
            self._heard[fd](b"")
        if not self._open:
            self._silent.set()

    def process_exited(self) -> None:
        self._exited.set()
        self._done.set()
