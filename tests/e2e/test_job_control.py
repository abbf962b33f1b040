"""Ctrl-Z, `fg` and `bg`, as a shell on a real terminal does them: whose screen it is at each moment."""

import os
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.hooked import PATIENT, Hook
from tests.e2e.running import MCPTASK, wait_until
from tests.e2e.scripted import Scripted, asking, completed, now
from tests.e2e.terminal import Terminal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="job control of POSIX")
OnTerminal = Callable[..., Terminal]
SHELL = ["sh", "-i"]
CTRL_C, CTRL_Z = "\x03", "\x1a"


@pytest.fixture
def shell(terminal: OnTerminal, server: Scripted) -> Terminal:
    """A shell that runs a watch in the foreground; its prompt is `sh> `."""
    server.on("tasks/get", now("working", statusMessage="half of it"))
    screen = terminal(command=SHELL, controlling=True, PS1="sh> ", ENV="", columns=100)
    screen.until(lambda lines: lines[-1:] == ["sh>"])
    call = [*MCPTASK, "call", "job", "month=x", "--wait", "-s", server.url]
    screen.type(f"clear; {shlex.join(call)}\n")
    screen.until(shows("half of it"))
    return screen


def shows(words: str) -> Callable[[list[str]], bool]:
    return lambda lines: any(words in line for line in lines)


def prompts(lines: list[str]) -> bool:
    return lines[-1] == "sh>"


def test_ctrl_z_gives_the_terminal_back_and_fg_draws_the_view_below(shell: Terminal) -> None:
    assert shell.cursor_hidden
    shell.type(CTRL_Z)
    shell.until(prompts)
    assert not shell.cursor_hidden
    shell.type("echo typed $((6 * 7))\n")
    shell.until(shows("typed 42"))
    before = len([line for line in shell.lines if "half of it" in line])
    shell.type("fg\n")
    frame = shell.until(lambda lines: sum("half of it" in line for line in lines) > before)
    assert shell.cursor_hidden
    assert frame.index("typed 42") < max(n for n, line in enumerate(frame) if "half of it" in line)
    shell.type(CTRL_C)
    shell.until(prompts)
    assert not shell.cursor_hidden
    assert shows("mcptask watch 1")(shell.lines)


def test_in_the_background_nothing_is_drawn_until_the_end(
    shell: Terminal, server: Scripted
) -> None:
    shell.type(CTRL_Z)
    shell.until(prompts)
    shell.type("bg\n")
    shell.until(prompts)
    server.on("tasks/get", now("working", statusMessage="nearly all of it"))
    asked = len(server.got("tasks/get"))
    wait_until(lambda: len(server.got("tasks/get")) > asked + 2, "it was heard")
    shell.type("echo typed $((6 * 7))\n")
    shell.until(shows("typed 42"))
    assert not shows("nearly all of it")(shell.lines)
    server.on("tasks/get", completed())
    shell.until(shows("moved 138, unresolved 4"))
    assert shows("✓ job on")(shell.lines)
    assert not shell.cursor_hidden


def test_ctrl_z_gives_the_terminal_back_while_a_command_is_waited_for_too(
    terminal: OnTerminal, server: Scripted, tmp_path: Path
) -> None:
    hook = Hook(tmp_path, PATIENT)
    screen = terminal(command=SHELL, controlling=True, PS1="sh> ", ENV="", columns=100)
    screen.until(lambda lines: lines[-1:] == ["sh>"])
    call = [*MCPTASK, "call", "job", "month=x", "--wait", "-s", server.url, *hook.option]
    screen.type(f"clear; {shlex.join(call)}\n")
    screen.until(shows("Waiting for the command of --exec"))
    assert screen.cursor_hidden
    screen.type(CTRL_Z)
    screen.until(prompts)
    assert not screen.cursor_hidden
    screen.type("fg\n")
    hook.go_on()
    screen.until(shows("moved 138, unresolved 4"))
    screen.until(prompts)
    assert not screen.cursor_hidden


def test_ctrl_z_in_a_form_gives_the_terminal_back_and_fg_opens_it_again_below(
    shell: Terminal, server: Scripted
) -> None:
    server.on("tasks/get", asking())
    shell.until(shows("Esc declines"))
    shell.type(CTRL_Z)
    shell.until(prompts)
    assert not shell.cursor_hidden
    shell.type("echo typed $((6 * 7))\n")
    shell.until(shows("typed 42"))
    shell.type("fg\n")
    lines = shell.until(lambda lines: "Esc declines" in lines[-1])
    assert any("action *" in line for line in lines[lines.index("typed 42") :])
    shell.type("refund\r")
    shell.until(lambda lines: "Enter sends" in lines[-1])
    server.on("tasks/get", completed())
    shell.type("\r")
    shell.until(shows("moved 138, unresolved 4"))
    shell.until(prompts)
    (update,) = server.got("tasks/update")
    sent = update.params["inputResponses"]
    assert sent == {"approve": {"action": "accept", "content": {"action": "refund"}}}


def test_ctrl_z_twice_is_as_good_as_once(shell: Terminal) -> None:
    for _ in range(2):
        shell.type(CTRL_Z)
        shell.until(prompts)
        assert not shell.cursor_hidden
        shell.type("fg\n")
        shell.until(lambda lines: "Ctrl-C leaves it running" in lines[-1])
        assert shell.cursor_hidden
