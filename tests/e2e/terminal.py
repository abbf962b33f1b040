"""mcptask on a real pseudo-terminal, and the screen that a person would see on it."""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pyte

from tests.e2e.running import MCPTASK, PATIENCE, environment

ROWS = 24
# A session's leader without a terminal gets the first one that it opens, as after a login.
LOGIN = ["sh", "-c", 'exec "$@" <>"$0" >&0 2>&0']


class Terminal:
    """stdin and stderr are the terminal; stdout too, unless `piped`: then `piped_out` has it.

    `controlling`: it sends the signals of its keys, and SIGHUP when it is closed. `command` is run in place
    of mcptask, a shell for example.
    """

    def __init__(
        self,
        argv: tuple[str, ...],
        cwd: Path,
        more: Mapping[str, str],
        columns: int,
        *,
        piped: bool = False,
        controlling: bool = False,
        command: Sequence[str] = MCPTASK,
    ) -> None:
        self._fd, slave = pty.openpty()
        termios.tcsetwinsize(slave, (ROWS, columns))
        login = [*LOGIN, os.ttyname(slave)] if controlling else []
        self.process = subprocess.Popen(
            [*login, *command, *argv],
            cwd=cwd,
            env=environment({"TERM": "xterm-256color", **more}),
            stdin=slave,
            stdout=subprocess.PIPE if piped else slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)
        self._screen = pyte.HistoryScreen(columns, ROWS, history=1000)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self.seen: list[list[str]] = []
        self.piped_out = ""

    @property
    def lines(self) -> list[str]:
        """What is on the screen, and above it, without the empty rest."""
        above = [
            "".join(row[x].data for x in range(self._screen.columns)).rstrip()
            for row in self._screen.history.top
        ]
        lines = [*above, *(line.rstrip() for line in self._screen.display)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    @property
    def cursor_hidden(self) -> bool:
        return bool(self._screen.cursor.hidden)

    def until(self, true: Callable[[list[str]], bool]) -> list[str]:
        """Read until the screen looks like this; returns it."""
        deadline = time.monotonic() + PATIENCE
        while not true(self.lines):
            left = deadline - time.monotonic()
            heard = left > 0 and self._read(left)
            assert heard, "\n".join(["the screen is:", *self.lines])
        return self.lines

    def type(self, text: str) -> None:
        os.write(self._fd, text.encode())

    def send(self, signum: signal.Signals) -> None:
        self.process.send_signal(signum)

    def hang_up(self) -> int:
        """The window is closed; returns the exit code."""
        os.close(self._fd)
        self._fd = -1
        return self.process.wait(PATIENCE)

    @property
    def modes(self) -> int:
        """The terminal's local modes: echo, line by line, …"""
        modes: int = termios.tcgetattr(self._fd)[3]
        return modes

    def end(self) -> int:
        """Read to the end; returns the exit code."""
        try:
            deadline = time.monotonic() + PATIENCE
            while self._read(deadline - time.monotonic()):
                assert time.monotonic() < deadline, "\n".join(self.lines)
            if self.process.stdout:
                self.piped_out = self.process.stdout.read().decode()
            code = self.process.wait(PATIENCE)
        finally:
            self.close()
        assert b"Traceback" not in self.raw, self.raw.decode()
        return code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _read(self, seconds: float) -> bool:
        """One piece of output; False when there will be no more."""
        if not select.select([self._fd], [], [], max(seconds, 0.0))[0]:
            return False
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # EIO: the last process that had it is gone
            return False
        self.raw += data
        self._stream.feed(data)
        self.seen.append(self.lines)
        return bool(data) or sys.platform != "linux"
