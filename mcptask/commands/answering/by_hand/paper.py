"""The part of the screen that a form draws again and again, below all that was written before.

Draws what it is given; knows no form.
"""

from collections.abc import Callable, Sequence

from mcptask.env import Env
from mcptask.render.ink import Line, coloured, columns, marked, plain
from mcptask.render.live import terminal_size
from mcptask.render.streams import try_write

_UP, _DOWN, _RIGHT, _CLEAR_BELOW = "\x1b[{}A", "\x1b[{}B", "\x1b[{}C", "\x1b[J"

Place = tuple[int, int]  # which of the lines, and in which column


class Paper:
    """Lines on stderr, with the cursor somewhere among them. What they are `about` is written above them
    once, and again where a shell had the terminal, or where its size has changed.
    """

    def __init__(self, env: Env) -> None:
        self._env = env
        self._encoded = coloured if env.colour(env.stderr) else plain
        self._shown: list[Line] = []
        self._cursor: Place = (0, 0)
        self._about: list[Callable[[int], Sequence[Line]]] = []
        self._told = 0  # of `_about`
        self._above: list[
            Line
        ] = []  # what was told last, with nothing between it and what is shown
        self._drawn_at: Place = self.size

    @property
    def size(self) -> Place:
        """Columns and rows that may be used: the last column stays free, so that nothing wraps."""
        wide, high = self._env.width(self._env.stderr) or 80, terminal_size(self._env)[1]
        return max(wide - 1, 1), max(high - 1, 1)

    def about(self, lines: Callable[[int], Sequence[Line]]) -> None:
        """More of what all that follows is about: its lines, of a width."""
        self._about.append(lines)

    def draw(self, lines: Sequence[Line], cursor: Place | None = None) -> None:
        """In place of what was drawn before. The cursor is at the end, if nowhere else."""
        if self.size != self._drawn_at and self._above:
            self._take_back()
        body = "\r\n".join(map(self._ink, lines))
        start = self._begin() + _CLEAR_BELOW
        self._shown = list(lines)
        row, column = cursor or (len(lines) - 1, columns(lines[-1]) if lines else 0)
        self._cursor = (row, column)
        up = len(lines) - 1 - row
        back = (_UP.format(up) if up > 0 else "") + "\r" + (_RIGHT.format(column) if column else "")
        self._write(start + body + back)

    def settle(self, lines: Sequence[Line]) -> None:
        """In place of what was drawn before; and it stays."""
        body = "".join(f"{self._ink(line)}\r\n" for line in lines)
        self._write(self._begin() + (_CLEAR_BELOW if self._shown else "") + body)
        self._shown = []
        if lines:
            self._above = []

    def aside(self) -> None:
        """The terminal is a shell's for a while."""
        self.leave()
        self._told, self._above = 0, []

    def leave(self) -> None:
        """What was drawn stays, and the cursor goes below it."""
        if self._shown:
            down = len(self._shown) - 1 - self._cursor[0]
            self._write((_DOWN.format(down) if down > 0 else "") + "\r\n")
        self._shown = []

    def _begin(self) -> str:
        self._drawn_at = self.size
        start = self._to_top()
        head = [each for lines in self._about[self._told :] for each in lines(self.size[0])]
        self._told = len(self._about)
        self._above += head
        return start + "".join(f"{self._ink(line)}\r\n" for line in head)

    def _take_back(self) -> None:
        """To where what it is about begins, as far as that is still on the screen."""
        above = sum(self._rows(columns(line)) for line in self._above)
        self._write(self._to_top() + (_UP.format(above) if above else "") + "\r" + _CLEAR_BELOW)
        self._shown, self._above, self._told = [], [], 0

    def _to_top(self) -> str:
        """From the cursor to the beginning of what is shown."""
        if not self._shown:
            return ""
        row, column = self._cursor
        above = sum(self._rows(columns(line)) for line in self._shown[:row])
        above += column // (self.size[0] + 1)
        return "\r" + (_UP.format(above) if above else "")

    def _rows(self, size: int) -> int:
        """Of a line: a terminal that has become narrower has wrapped it."""
        return max(-(-size // (self.size[0] + 1)), 1)

    def _ink(self, line: Line) -> str:
        return self._encoded(marked(line))

    def _write(self, text: str) -> None:
        try_write(self._env.stderr, text)
