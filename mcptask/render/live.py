"""The live view: draws frames in place on stderr, and leaves nothing behind but the last one.

Only commands that follow tasks on a terminal import this module: it brings Rich. Rich measures and colours;
the drawing is ours, since a frame must be found again after the terminal was resized.
"""

import atexit
import io
import os
import threading
from collections.abc import Callable
from itertools import zip_longest

from rich.console import Console
from rich.text import Text

from mcptask.env import Env
from mcptask.protocol.events import Heard, TaskEvent
from mcptask.render.frame import frame
from mcptask.render.parts import PACE
from mcptask.render.report import Report, Subject
from mcptask.render.streams import try_write
from mcptask.render.text import clean
from mcptask.render.view import Screen, TaskView, begin, observe

Size = Callable[[], tuple[int, int]]

# The shortest time between two frames (s): more is flicker, and work for nobody. A table has no
# spinner, and a thousand tasks have news all the time.
_LEAST_GAP = 1 / 8
_LEAST_GAP_OF_TABLE = 1 / 4
# After so long without news (s), only the seconds move: a watch that idles must cost nothing.
_CALM_AFTER = 10.0
_CALM_INTERVAL = 1.0

_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_UP, _CLEAR_LINE_END, _CLEAR_BELOW = "\x1b[{}A", "\x1b[K", "\x1b[J"


class LiveReporter:
    """A `Reporter` for a terminal. A thread keeps clocks and spinner moving; `animate=False` leaves that to
    the caller's `tick()`. `size` gives columns and rows.
    """

    stays = False  # the last frame says how each task ended, not what it asked or said before
    printed = 0

    def __init__(self, env: Env, *, animate: bool = True, size: Size | None = None) -> None:
        self._clock = env.clock
        self._painter = Painter(env, size or (lambda: terminal_size(env)))
        self._views: dict[tuple[str, str], TaskView] = {}
        self._since = env.clock.now()
        self._drawn_at = self._news_at = float("-inf")
        self._lock = threading.RLock()
        self._wake, self._stop = threading.Event(), threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="live view", daemon=True)
        self._animate = animate
        atexit.register(self.close)

    def show(self, subject: Subject, event: TaskEvent) -> None:
        with self._lock:
            if self._closed:
                return
            key = (subject.server, subject.task_id)
            now = self._clock.now()
            view = self._views.get(key) or begin(subject)
            self._views[key] = observe(view, event, now, self._clock.wall())
            if not isinstance(event, Heard):  # an answer without news keeps nobody awake
                self._news_at = now
        if self._animate and not self._thread.is_alive():
            self._thread.start()
        with self._lock:
            if not self._draw_if_due():
                self._wake.set()

    def note(self, text: str) -> None:
        """A line that stays, above the view."""
        with self._lock:
            self._painter.erase()
            self._painter.keep(Text(clean(text)))
            if self._views and not self._closed:
                self._draw(over=False)

    def tick(self) -> None:
        """Draws if the last frame is old enough."""
        with self._lock:
            self._draw_if_due()

    def end(self, report: Report) -> None:
        """Its `Ended` was shown."""

    def close(self) -> None:
        """Draws the last frame and gives the terminal back. Harmless when called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._views:
                self._draw(over=True)
            self._painter.close()
        self._stop.set()
        self._wake.set()
        atexit.unregister(self.close)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _draw_if_due(self) -> bool:
        now = self._clock.now()
        due = bool(self._views) and not self._closed and now - self._drawn_at >= self._gap
        if due:
            self._draw(over=False)
        return due

    def _draw(self, *, over: bool) -> None:
        now = self._clock.now()
        self._drawn_at = now
        screen = Screen(tuple(self._views.values()), self._since, over)
        self._painter.paint(lambda columns, rows: frame(screen, now, columns, rows))

    def _run(self) -> None:
        while not self._closed:
            news = self._wake.wait(self._pause())
            self._wake.clear()
            if news and not self._closed:
                self._stop.wait(self._gap)  # several events make one frame
            self.tick()

    def _pause(self) -> float:
        calm = self._clock.now() - self._news_at > _CALM_AFTER
        return _CALM_INTERVAL if calm or len(self._views) > 1 else 1 / PACE

    @property
    def _gap(self) -> float:
        return _LEAST_GAP_OF_TABLE if len(self._views) > 1 else _LEAST_GAP


class Painter:
    """Writes a frame over the one before. One write a frame, so that a terminal never shows half of it."""

    def __init__(self, env: Env, size: Size) -> None:
        self._stream = env.stderr
        self._size = size
        self._coloured = env.colour(env.stderr)
        # Rich only turns styles into codes here. It writes nowhere, and does not look at the
        # terminal: whoever chose the live view has looked.
        self._console = Console(
            file=io.StringIO(),
            force_terminal=True,
            highlight=False,
            markup=False,
            emoji=False,
            _environ=env.environ,
        )
        self._widths: list[int] = []
        self._known: list[tuple[Text, str]] = []  # most lines are as they were a frame ago
        self._columns = 0
        self._hidden = False

    def paint(self, draw: Callable[[int, int], Text]) -> None:
        """Draws `draw(columns, rows)`; the last column and row stay free, so that nothing scrolls."""
        columns, rows = self._size()
        picture = draw(max(columns - 1, 1), max(rows - 1, 1))
        lines = list(picture.split("\n", allow_blank=True))
        back = self._back_to_top(columns)
        if columns != self._columns:
            back += _CLEAR_BELOW  # what a resize wrapped cannot be overwritten line by line
        self._known = [
            known if known and known[0] == text else (text, self._encoded(text))
            for text, known in zip_longest(lines, self._known[: len(lines)])
        ]
        body = f"{_CLEAR_LINE_END}\r\n".join(codes for _, codes in self._known)
        start = "" if self._hidden else _HIDE_CURSOR
        self._hidden = True
        self._write(f"{start}{back}{body}{_CLEAR_LINE_END}{_CLEAR_BELOW}")
        self._widths, self._columns = [line.cell_len for line in lines], columns

    def erase(self) -> None:
        """Takes the frame away."""
        if self._widths:
            self._write(self._back_to_top(self._size()[0]) + _CLEAR_BELOW)
            self._widths = []

    def keep(self, line: Text) -> None:
        """A line that stays; only while no frame is on the screen."""
        self._write(self._encoded(line) + "\r\n")

    def close(self) -> None:
        end = "\r\n" if self._widths else ""
        self._widths = []
        self._write(end + (_SHOW_CURSOR if self._hidden else ""))
        self._hidden = False

    def _back_to_top(self, columns: int) -> str:
        """From the end of the last frame to its beginning: a narrower terminal has wrapped its lines."""
        if not self._widths:
            return ""
        rows = sum(max(-(-width // max(columns, 1)), 1) for width in self._widths)
        return "\r" + (_UP.format(rows - 1) if rows > 1 else "")

    def _encoded(self, line: Text) -> str:
        if not self._coloured:
            return line.plain
        with self._console.capture() as captured:
            self._console.print(line, end="", soft_wrap=True)
        return captured.get()

    def _write(self, text: str) -> None:
        if text:
            try_write(self._stream, text)


def terminal_size(env: Env) -> tuple[int, int]:
    """Columns and rows of the terminal on stderr, else of COLUMNS and LINES, else 80 by 24."""
    try:
        size = os.get_terminal_size(env.stderr.fileno())
        if size.columns and size.lines:
            return size.columns, size.lines
    except (OSError, ValueError):  # no terminal, closed, or no real file
        pass
    return _number(env.environ.get("COLUMNS"), 80), _number(env.environ.get("LINES"), 24)


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and int(text) else otherwise
