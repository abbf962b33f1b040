"""The keyboard while a form is open: key by key instead of line by line. The only part that reads a terminal.

Ctrl-C and Ctrl-Z stay signals. Whatever way a form is left, the terminal is as it was.
"""

import asyncio
import os
import select
import signal
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any

from mcptask.commands.answering.by_hand.keys import Key, decoded
from mcptask.commands.following.job_control import stoppable
from mcptask.env import Env
from mcptask.render.streams import try_write

# Of a key that begins with ESC the rest comes at once; after so long (s) it was ESC alone.
ESCAPE_DELAY = 0.05
# In the background there is no word of being in the foreground again: how often to look (s).
LOOK_EVERY = 0.25
AGAIN = Key("again")  # the screen is to be drawn again
_PIECE = 65536
_PASTES_MARKED, _PASTES_PLAIN = "\x1b[?2004h", "\x1b[?2004l"
_IFLAG, _LFLAG, _CC = 0, 3, 6  # places in what termios gives


class GoneError(Exception):
    """The terminal is gone: nobody types any more."""


class Keyboard:
    """`leave` is called before the terminal is given back to a shell: the cursor goes below the form."""

    def __init__(self, env: Env, leave: Callable[[], None]) -> None:
        self._env = env
        self._fd = env.stdin.fileno()
        self._leave = leave
        self._loop = asyncio.get_running_loop()
        self._usual: list[Any] | None = None  # its settings; None while it is not ours
        self._later: asyncio.TimerHandle | None = None
        self._lent = False
        self._keys: deque[Key] = deque()
        self._begun = b""
        self._pressed = asyncio.Event()
        self._gone = False

    async def key(self) -> Key:
        """The next one. GoneError where there will be none."""
        while not self._keys:
            if self._gone:
                raise GoneError
            self._pressed.clear()
            await self._pressed.wait()
        return self._keys.popleft()

    async def ready(self) -> None:
        """Returns once the terminal is ours: in the background a form waits."""
        while await self.key() != AGAIN:
            pass

    def forget(self) -> None:
        """A key that was meant for something else must not agree to what nobody has seen."""
        import termios

        again = AGAIN in self._keys
        self._keys.clear()
        self._begun = b""
        if again:
            self._keys.append(AGAIN)
        if self._usual is not None:
            with suppress(termios.error, OSError):
                termios.tcflush(self._fd, termios.TCIFLUSH)

    def aside(self, stop: Callable[[], None]) -> None:
        """Ctrl-Z: the terminal is the shell's until `stop` returns."""
        if self._usual is not None:
            self._leave()
        self.give_back()
        stop()
        self.take()

    def take(self) -> None:
        """As soon as it may be: to set a terminal from the background would stop the process."""
        import termios

        self._later = None
        if self._lent or self._usual is not None:
            return
        if not in_foreground(self._fd):
            self._later = self._loop.call_later(LOOK_EVERY, self.take)
            return
        try:
            self._usual = termios.tcgetattr(self._fd)
            termios.tcsetattr(self._fd, termios.TCSAFLUSH, _key_by_key(self._usual, self._fd))
        except (termios.error, OSError):
            self._end()
            return
        try_write(self._env.stderr, _PASTES_MARKED)
        self._loop.add_reader(self._fd, self._readable)
        self._press([AGAIN])

    def give_back(self) -> None:
        """What was typed and not yet read is dropped."""
        import termios

        if self._later is not None:
            self._later.cancel()
            self._later = None
        if self._usual is None:
            return
        usual, self._usual = self._usual, None
        self._loop.remove_reader(self._fd)
        if in_foreground(self._fd):
            try_write(self._env.stderr, _PASTES_PLAIN)
            with suppress(termios.error, OSError):
                termios.tcsetattr(self._fd, termios.TCSAFLUSH, usual)

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Inside, the terminal is another program's, and Ctrl-C as well."""
        import termios

        usual = self._usual
        self.give_back()
        self._lent = True
        try:
            with _unheard(signal.SIGINT):
                yield
        finally:
            self._lent = False
            if usual is not None and in_foreground(self._fd):
                with suppress(termios.error, OSError):  # as one that was killed could not
                    termios.tcsetattr(self._fd, termios.TCSAFLUSH, usual)
            self.take()

    def resized(self) -> None:
        self._press([AGAIN])

    def _readable(self) -> None:
        data = read_now(self._fd)
        if data is None:
            return
        if not data:
            self._end()
            return
        keys, self._begun = decoded(self._begun + data)
        self._press(keys)
        if self._begun:
            self._loop.call_later(ESCAPE_DELAY, self._no_more, self._begun)

    def _no_more(self, begun: bytes) -> None:
        if begun == self._begun:  # nothing has come since
            keys, self._begun = decoded(begun, ended=True)
            self._press(keys)

    def _end(self) -> None:
        self._gone = True
        self._loop.remove_reader(self._fd)
        self._pressed.set()

    def _press(self, keys: list[Key]) -> None:
        self._keys += keys
        self._pressed.set()


@asynccontextmanager
async def keyboard(env: Env, leave: Callable[[], None]) -> AsyncIterator[Keyboard]:
    """Inside, the keys of the terminal come one by one."""
    keys = Keyboard(env, leave)
    async with stoppable(keys):
        with _told_of_resizes(keys):
            keys.take()
            try:
                yield keys
            finally:
                keys.give_back()


def read_now(fd: int) -> bytes | None:
    """What can be read without waiting; b"" at the end, or where the terminal is gone. None where there is
    nothing: what the loop has seen may have been dropped since, and to wait for more would stop everything.
    """
    try:
        ready, _, _ = select.select([fd], [], [], 0)
        return os.read(fd, _PIECE) if ready else None
    except BlockingIOError:
        return None
    except (OSError, ValueError):
        return b""


def reads_keys(env: Env) -> bool:
    """Is it a terminal that can be read key by key? Not on Windows."""
    try:
        import termios
    except ImportError:
        return False
    try:
        termios.tcgetattr(env.stdin.fileno())
    except (termios.error, OSError, ValueError):
        return False
    loop = asyncio.get_running_loop()
    return isinstance(loop, asyncio.SelectorEventLoop)


def in_foreground(fd: int) -> bool:
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:  # not the terminal that controls us
        return True


def _key_by_key(usual: list[Any], fd: int) -> list[Any]:
    """Without lines, echo and quoting. Signals stay, but for Ctrl-\\: nothing could be put back after it."""
    import termios

    modes: list[Any] = [*usual]
    modes[_IFLAG] &= ~termios.IXON  # Ctrl-S would only seem to hang
    modes[_LFLAG] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
    modes[_LFLAG] |= termios.ISIG
    off = os.fpathconf(fd, "PC_VDISABLE")
    modes[_CC] = [*usual[_CC]]
    modes[_CC][termios.VQUIT] = bytes([off])
    modes[_CC][termios.VMIN], modes[_CC][termios.VTIME] = 1, 0
    return modes


@contextmanager
def _handled(signum: signal.Signals, handler: Callable[[], object]) -> Iterator[None]:
    """Inside, the signal calls `handler`. One that was ignored stays so."""
    before = signal.getsignal(signum)
    try:
        if before is not signal.SIG_IGN:
            signal.signal(signum, lambda *_: handler())
    except ValueError:  # outside the main thread there are no signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signum, before)


def _unheard(signum: signal.Signals) -> AbstractContextManager[None]:
    """Not by being ignored: a program that is started would inherit that."""
    return _handled(signum, lambda: None)


def _told_of_resizes(keys: Keyboard) -> AbstractContextManager[None]:
    loop = asyncio.get_running_loop()
    return _handled(signal.SIGWINCH, lambda: loop.call_soon_threadsafe(keys.resized))
