"""The live view: draws frames in place on stderr, and leaves nothing behind but the last one.

What did not change is not written: a watch that idles costs nothing, here or at the far end of an ssh.
"""

import atexit
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mcptask.env import Env
from mcptask.protocol.events import Heard, TaskEvent
from mcptask.render.frame import frame
from mcptask.render.ink import Line, coloured, columns, plain
from mcptask.render.parts import PACE
from mcptask.render.report import Report, Subject
from mcptask.render.rows import in_rows
from mcptask.render.streams import try_write
from mcptask.render.surroundings import Surroundings
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
_JUST_AFTER = 0.005

_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_UP, _CLEAR_LINE_END, _CLEAR_BELOW = "\x1b[{}A", "\x1b[K", "\x1b[J"


class LiveReporter:
    """A `Reporter` for a terminal. A thread keeps clocks and spinner moving; `animate=False` leaves that to
    the caller's `tick()`. `size` gives columns and rows.
    """

    stays = False  # the last frame says how each task ended, not what it asked or said before
    printed = 0
    due = None  # a thread of its own sees to it

    def __init__(self, env: Env, *, animate: bool = True, size: Size | None = None) -> None:
        self._clock = env.clock
        self._painter = Painter(env, size or (lambda: terminal_size(env)))
        self._surroundings = Surroundings(env.environ)
        self._views: dict[tuple[str, str], TaskView] = {}
        self._since = env.clock.now()
        self._drawn_at = self._news_at = float("-inf")
        self._lock = threading.RLock()
        self._wake, self._stop = threading.Event(), threading.Event()
        self._closed = False
        self._form: Subject | None = None  # whose form has the screen
        self._notes: list[str] = []  # that came meanwhile
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
            if self._form is not None:
                self._surround()
            elif not self._draw_if_due():
                self._wake.set()

    def note(self, text: str) -> None:
        """A line that stays, above the view; not in the middle of a form."""
        with self._lock:
            self._notes.append(clean(text))
            if self._form is None or self._closed:
                self._keep_notes()
                if self._views and not self._closed:
                    self._draw(over=False)

    def tick(self) -> None:
        """Draws if the last frame is old enough."""
        with self._lock:
            self._draw_if_due()

    def end(self, report: Report) -> None:
        """Its `Ended` was shown."""

    @contextmanager
    def hold(self, subject: Subject) -> Iterator[None]:
        """A last frame, without the questions, stays above the form. Title and taskbar go on."""
        with self._lock:
            before, self._form = self._form, subject
            if self._views and not self._closed and self._painter.in_foreground:
                self._draw(over=False)
            self._painter.close()
        try:
            yield
        finally:
            with self._lock:
                self._form = before
                if before is None:
                    self._keep_notes()
                    self._draw_afresh()

    def aside(self, stop: Callable[[], None]) -> None:
        """Nothing is drawn meanwhile; afterwards all of it, below what a shell has written."""
        with self._lock:
            self._give_back()
            stop()
            self._draw_afresh()

    def close(self) -> None:
        """Draws the last frame and gives the terminal back. Harmless when called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._keep_notes()
            if self._views:
                self._draw(over=True)
            self._give_back()
        self._stop.set()
        self._wake.set()
        atexit.unregister(self.close)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(1.0)

    def _draw_if_due(self) -> bool:
        now = self._clock.now()
        free = not self._closed and self._form is None
        due = bool(self._views) and free and now - self._drawn_at >= self._gap
        if due and self._painter.in_foreground:
            self._draw(over=False)
        return due

    def _draw_afresh(self) -> None:
        self._drawn_at = float("-inf")
        self._draw_if_due()
        if self._form is not None:
            self._surround()

    def _surround(self) -> None:
        if self._views and not self._closed and self._painter.in_foreground:
            self._painter.put(self._surroundings.follow(self._views.values()))

    def _keep_notes(self) -> None:
        for text in self._notes:
            self._painter.erase()
            self._painter.keep(text)
        self._notes.clear()

    def _give_back(self) -> None:
        self._painter.put(self._surroundings.leave())
        self._painter.close()

    def _draw(self, *, over: bool) -> None:
        now = self._clock.now()
        self._drawn_at = now
        form = None if over else self._form
        screen = Screen(tuple(self._views.values()), self._since, over, form)
        self._painter.paint(lambda wide, high: frame(screen, now, wide, high))
        self._painter.put("" if over else self._surroundings.follow(screen.tasks))

    def _run(self) -> None:
        while not self._closed:
            news = self._wake.wait(self._pause())
            self._wake.clear()
            if news and not self._closed:
                self._stop.wait(self._gap)  # several events make one frame
            self.tick()

    def _pause(self) -> float:
        now = self._clock.now()
        if len(self._views) == 1 and now - self._news_at <= _CALM_AFTER:
            return 1 / PACE
        # Just after the shown seconds have changed: before, the frame would be the same.
        since = next((view.subject.started for view in self._views.values()), now)
        return _CALM_INTERVAL - (now - since) % _CALM_INTERVAL + _JUST_AFTER

    @property
    def _gap(self) -> float:
        return _LEAST_GAP_OF_TABLE if len(self._views) > 1 else _LEAST_GAP


class Painter:
    """Writes a frame over the one before. One write a frame, so that a terminal never shows half of it."""

    def __init__(self, env: Env, size: Size) -> None:
        self._stream = env.stderr
        self._size = size
        self._encoded = coloured if env.colour(env.stderr) else plain
        self._shown: list[Line] = []  # the frame that is on the screen, if any
        self._columns = 0
        self._hidden = False

    @property
    def in_foreground(self) -> bool:
        """Not after `bg`: then the screen is the shell's, and what is drawn would go across it."""
        try:
            return os.tcgetpgrp(self._stream.fileno()) == os.getpgrp()
        except (AttributeError, OSError, ValueError):
            return True  # Windows; not the terminal that controls us; no file

    def paint(self, draw: Callable[[int, int], list[Line]]) -> None:
        """Draws `draw(columns, rows)`; the last column and row stay free, so that nothing scrolls."""
        wide, high = self._size()
        lines = draw(max(wide - 1, 1), max(high - 1, 1))
        if lines == self._shown and wide == self._columns:
            return
        back = self._back_to_top(wide)
        if wide != self._columns:
            back += _CLEAR_BELOW  # what a resize wrapped cannot be overwritten line by line
        body = f"{_CLEAR_LINE_END}\r\n".join(map(self._encoded, lines))
        start = "" if self._hidden else _HIDE_CURSOR
        self._hidden = True
        self._write(f"{start}{back}{body}{_CLEAR_LINE_END}{_CLEAR_BELOW}")
        self._shown, self._columns = lines, wide

    def put(self, codes: str) -> None:
        """Codes that leave the frame and the cursor alone."""
        self._write(codes)

    def erase(self) -> None:
        """Takes the frame away."""
        if self._shown:
            self._write(self._back_to_top(self._size()[0]) + _CLEAR_BELOW)
            self._shown = []

    def keep(self, text: str) -> None:
        """A line that stays; only while no frame is on the screen."""
        self._write(f"{in_rows(text, self._size()[0])}\r\n")

    def close(self) -> None:
        end = "\r\n" if self._shown else ""
        self._shown = []
        self._write(end + (_SHOW_CURSOR if self._hidden else ""))
        self._hidden = False

    def _back_to_top(self, wide: int) -> str:
        """From the end of the last frame to its beginning: a narrower terminal has wrapped its lines."""
        if not self._shown:
            return ""
        rows = sum(max(-(-columns(each) // max(wide, 1)), 1) for each in self._shown)
        return "\r" + (_UP.format(rows - 1) if rows > 1 else "")

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
