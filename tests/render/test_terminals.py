"""Which terminal gets which bytes. What one does not know, it might print."""

from __future__ import annotations

import pytest
from render_samples import HOSTILE

from mcptask.render.cells import cell_width
from mcptask.render.terminals import (
    BELL,
    LONGEST,
    TERMINALS,
    notification,
    progress,
    terminal_of,
    title,
)

NOTIFIED = {
    "OSC 9": BELL + "\x1b]9;all done\x1b\\",
    "OSC 99": BELL + "\x1b]99;;all done\x1b\\",
    "OSC 777": BELL + "\x1b]777;notify;mcptask;all done\x1b\\",
    "": BELL,
}
ITERM = {"TERM_PROGRAM": "iTerm.app", "TERM": "xterm-256color"}
WEZTERM = {"TERM_PROGRAM": "WezTerm"}
GHOSTTY = {"TERM_PROGRAM": "ghostty", "TERM": "xterm-ghostty"}
MINTTY = {"TERM_PROGRAM": "mintty"}


@pytest.mark.parametrize(
    ("environ", "notified", "titled", "progressing"),
    [
        ({}, "", False, False),
        ({"TERM": "xterm-256color"}, "", False, False),
        ({"TERM": "linux"}, "", False, False),
        ({"TERM": "xterm-kitty"}, "OSC 99", True, False),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "OSC 99", True, False),
        ({"TERM": "foot-extra"}, "OSC 777", True, False),
        ({"TERM": "alacritty"}, "", True, False),
        ({"TERM": "rxvt-unicode-256color"}, "OSC 777", False, False),
        (ITERM, "OSC 9", True, False),
        ({**ITERM, "TERM_FEATURES": "T3LrMSc7UUw9Ts3BFGsSyHNoSxF"}, "OSC 9", True, False),
        ({**ITERM, "TERM_FEATURES": "T3SxPaF"}, "OSC 9", True, False),
        ({**ITERM, "TERM_FEATURES": "T3LrMSc7UUw9Ts3BFGsSyHNoSxFP"}, "OSC 9", True, True),
        ({"LC_TERMINAL": "iTerm2", "TERM": "xterm-256color"}, "OSC 9", True, False),
        ({**WEZTERM, "TERM_PROGRAM_VERSION": "20240203-110809-5046fc22"}, "OSC 777", False, False),
        ({**WEZTERM, "TERM_PROGRAM_VERSION": "20250613-063400-0f7a1f1b"}, "OSC 777", False, True),
        (WEZTERM, "OSC 777", False, False),
        ({**GHOSTTY, "TERM_PROGRAM_VERSION": "1.1.3"}, "OSC 777", False, False),
        ({**GHOSTTY, "TERM_PROGRAM_VERSION": "1.2.0-arch1"}, "OSC 777", False, True),
        ({"TERM": "xterm-ghostty"}, "OSC 777", False, False),
        ({**MINTTY, "TERM_PROGRAM_VERSION": "3.4.1"}, "", True, False),
        ({**MINTTY, "TERM_PROGRAM_VERSION": "3.10.0"}, "", True, True),
        ({"TERM_PROGRAM": "WarpTerminal"}, "OSC 9", False, False),
        ({"TERM_PROGRAM": "Apple_Terminal"}, "", False, False),
        ({"WT_SESSION": "b2c1"}, "", False, True),
        ({"ConEmuANSI": "ON"}, "", False, True),
        ({"ConEmuANSI": "OFF"}, "", False, False),
        ({"KONSOLE_VERSION": "251203"}, "", False, False),
        ({"KONSOLE_VERSION": "260400"}, "", False, True),
        ({"VTE_VERSION": "7603"}, "OSC 777", True, False),
        ({"VTE_VERSION": "4502"}, "", False, False),
        ({"VTE_VERSION": "8000", "PTYXIS_VERSION": "48.3"}, "OSC 777", True, True),
        ({"VTE_VERSION": "7800", "PTYXIS_VERSION": "47.1"}, "OSC 777", True, False),
        ({"XTERM_VERSION": "XTerm(390)"}, "", True, False),
    ],
    ids=str,
)
def test_each_terminal_gets_what_it_is_known_to_understand(
    environ: dict[str, str], notified: str, titled: bool, progressing: bool
) -> None:
    terminal = terminal_of(environ)
    assert notification(terminal, "all done") == NOTIFIED[notified]
    assert (terminal.titled, terminal.progressing(environ)) == (titled, progressing)


@pytest.mark.parametrize(
    ("inside", "titled"),
    [
        ({"TMUX": "/tmp/tmux-0/default,1,0"}, True),
        ({"STY": "1.pts-0"}, False),
        ({"ZELLIJ": "0"}, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("around", [ITERM, GHOSTTY, {"TERM": "xterm-kitty"}, {"WT_SESSION": "1"}])
def test_what_the_terminal_around_a_multiplexer_knows_is_not_asked_of_the_multiplexer(
    inside: dict[str, str], around: dict[str, str], titled: bool
) -> None:
    environ = {**around, **inside}
    terminal = terminal_of(environ)
    assert notification(terminal, "all done") == BELL
    assert (terminal.titled, terminal.progressing(environ)) == (titled, False)


@pytest.mark.parametrize("inherited", ["VTE_VERSION=7603", "KITTY_WINDOW_ID=1", "WT_SESSION=1"])
def test_a_program_that_names_itself_is_not_the_terminal_that_it_was_started_in(
    inherited: str,
) -> None:
    environ = {**dict([inherited.split("=")]), "TERM_PROGRAM": "vscode"}
    terminal = terminal_of(environ)
    assert notification(terminal, "all done") == BELL
    assert not terminal.titled
    assert not terminal.progressing(environ)


NOTIFIERS = [terminal for terminal in TERMINALS if terminal.notify is not None]


@pytest.mark.parametrize("text", [HOSTILE, "4;1;50", "a;b\x1b\\\x1b]52;c;eA==\x07", "ü" * 500])
@pytest.mark.parametrize("terminal", NOTIFIERS, ids=lambda each: each.name)
def test_a_text_from_outside_stays_one_short_payload(terminal: object, text: str) -> None:
    """It ends no sequence, begins none, and is no field of its own: `9;4;1;50` would be progress."""
    empty = notification(terminal, "")  # type: ignore[arg-type]
    body = notification(terminal, text)  # type: ignore[arg-type]
    head, end = empty[:-2], empty[-2:]
    assert body.startswith(head)
    assert body.endswith(end)
    payload = body[len(head) : -len(end)]
    assert payload.isprintable()
    assert ";" not in payload
    assert 0 < cell_width(payload) <= LONGEST


def test_titles_and_progress_are_whole_sequences() -> None:
    assert title("reflow_month 68%") == "\x1b]2;reflow_month 68%\x1b\\"
    assert title(HOSTILE).count("\x1b") == 2
    assert progress(1, 68) == "\x1b]9;4;1;68\x1b\\"
