"""What terminals understand beyond the usual, and the bytes for it: notification, title, progress. Pure.

None of it can be asked for in a way that all would answer, so a table goes by what each says of itself in
the environment. A terminal that is not in it gets the bell alone: what it does not know it might print.
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mcptask.render.cells import shorten
from mcptask.render.text import flat

BELL = "\a"
PUSH_TITLE, POP_TITLE = "\x1b[22;0t", "\x1b[23;0t"  # the terminal keeps the old title on a stack
LONGEST = 120  # columns of a notification or title

Environ = Mapping[str, str]


def said(text: str) -> str:
    """Any text as the payload of a sequence: one clean, short line without the `;` that parts fields."""
    return shorten(flat(text).replace(";", ","), LONGEST)


def title(text: str) -> str:
    return _osc(f"2;{said(text)}")


def progress(state: int, percent: int = 0) -> str:
    """ConEmu's: state 0 none, 1 so far, 2 error, 3 busy, 4 paused."""
    return _osc(f"9;4;{state};{percent}")


def _osc(body: str) -> str:
    return f"\x1b]{body}\x1b\\"


def _osc_9(text: str) -> str:
    """iTerm2's. A number and a `;` at the start would be a command of ConEmu's: `said` leaves no `;`."""
    return _osc(f"9;{said(text)}")


def _osc_99(text: str) -> str:
    """kitty's."""
    return _osc(f"99;;{said(text)}")


def _osc_777(text: str) -> str:
    """rxvt-unicode's: title and text."""
    return _osc(f"777;notify;mcptask;{said(text)}")


def _always(environ: Environ) -> bool:
    return True


def _never(environ: Environ) -> bool:
    return False


def _since(variable: str, *version: int) -> Callable[[Environ], bool]:
    """Is the version that stands at the start of this variable at least this one?"""

    def known(environ: Environ) -> bool:
        found = re.match(r"\d+(\.\d+)*", environ.get(variable, ""))
        return found is not None and tuple(map(int, found[0].split("."))) >= version

    return known


def _says_progress(environ: Environ) -> bool:
    """iTerm2 lists its features by letters; an older one takes progress for a notification (3.6.6)."""
    return bool(re.search(r"P(?![a-z])", environ.get("TERM_FEATURES", "")))


class Terminal(NamedTuple):
    """`mark`: the variable that gives it away, and a pattern of its value's beginning. `titled`: it has a
    stack of titles, so that the old one comes back; where it has none, the title is not touched.
    """

    name: str
    mark: tuple[str, str]
    notify: Callable[[str], str] | None = None
    titled: bool = False
    progressing: Callable[[Environ], bool] = _never


# The first that fits. Multiplexers come first, for they pass on what the terminal around them said, and take
# no notification themselves: a wrapped one would go to a terminal of which nothing is known, or nowhere. Then
# TERM, which each terminal sets for itself; the rest may be inherited from one that another was started in.
TERMINALS = (
    Terminal("tmux", ("TMUX", "."), titled=True),
    Terminal("GNU screen", ("STY", ".")),
    Terminal("Zellij", ("ZELLIJ", ".")),
    Terminal("kitty", ("TERM", "xterm-kitty"), _osc_99, titled=True),
    Terminal(
        "Ghostty",
        ("TERM", "xterm-ghostty"),
        _osc_777,
        progressing=_since("TERM_PROGRAM_VERSION", 1, 2),
    ),
    Terminal("foot", ("TERM", "foot"), _osc_777, titled=True),
    Terminal("Alacritty", ("TERM", "alacritty"), titled=True),
    Terminal("rxvt-unicode", ("TERM", "rxvt-unicode"), _osc_777),
    Terminal(
        "iTerm2",
        ("TERM_PROGRAM", r"iTerm\.app$"),
        _osc_9,
        titled=True,
        progressing=_says_progress,
    ),
    # Its last stable release (20240203) takes progress for a notification.
    Terminal(
        "WezTerm",
        ("TERM_PROGRAM", "WezTerm$"),
        _osc_777,
        progressing=_since("TERM_PROGRAM_VERSION", 20250210),
    ),
    Terminal(
        "mintty",
        ("TERM_PROGRAM", "mintty$"),
        titled=True,
        progressing=_since("TERM_PROGRAM_VERSION", 3, 4, 2),
    ),
    Terminal(
        "Ghostty",
        ("TERM_PROGRAM", "ghostty$"),
        _osc_777,
        progressing=_since("TERM_PROGRAM_VERSION", 1, 2),
    ),
    Terminal("Warp", ("TERM_PROGRAM", "WarpTerminal$"), _osc_9),
    Terminal("another program", ("TERM_PROGRAM", ".")),
    Terminal("Windows Terminal", ("WT_SESSION", "."), progressing=_always),
    Terminal("ConEmu", ("ConEmuANSI", "ON$"), progressing=_always),
    Terminal("Konsole", ("KONSOLE_VERSION", "."), progressing=_since("KONSOLE_VERSION", 260400)),
    Terminal("kitty", ("KITTY_WINDOW_ID", "."), _osc_99, titled=True),
    Terminal(
        "Ptyxis",
        ("PTYXIS_VERSION", "."),
        _osc_777,
        titled=True,
        progressing=_since("PTYXIS_VERSION", 48),
    ),
    # Some distributions' VTE shows OSC 777; the others skip it without a trace since 0.46.
    Terminal("VTE", ("VTE_VERSION", r"4[6-9]\d\d|[5-9]\d{3}|\d{5}"), _osc_777, titled=True),
    Terminal("xterm", ("XTERM_VERSION", "."), titled=True),
    Terminal("iTerm2, over ssh", ("LC_TERMINAL", "iTerm2$"), _osc_9, titled=True),
)
UNKNOWN = Terminal("unknown", ("TERM", ""))


def terminal_of(environ: Environ) -> Terminal:
    """The terminal that this environment speaks of."""

    def fits(terminal: Terminal) -> bool:
        variable, pattern = terminal.mark
        return bool(re.match(pattern, environ.get(variable, "")))

    return next(filter(fits, TERMINALS), UNKNOWN)


def notification(terminal: Terminal, text: str) -> str:
    """The bell, and the notification where the terminal has one."""
    return BELL + (terminal.notify(text) if terminal.notify else "")
