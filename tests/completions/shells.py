"""Real shells at a real terminal, where a test can press Tab."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pexpect

PATIENCE = 30  # seconds; a shell answers within one, a busy machine may take longer
ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|[()][A-Z0-9]|[=>78])|[\x07\x08\r]")

START = {
    "bash": [
        "bind 'set show-all-if-ambiguous on'",
        "bind 'set enable-bracketed-paste off'",
        "source $FILES/mcptask.bash",
    ],
    "zsh": [
        "unsetopt list_ambiguous prompt_cr prompt_sp; unset zle_bracketed_paste",
        "fpath=($FILES $fpath)",
        "autoload -Uz compinit && compinit -u -D",
    ],
}
ARGUMENTS = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"]}


class Terminal:
    """bash or zsh with the completion files of a folder, and a `mcptask` that notes what it is given."""

    def __init__(self, shell: str, files: Path, folder: Path) -> None:
        self.folder = folder
        self.given = folder / "given"
        self.marks = 0
        program = folder / "bin" / "mcptask"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >'{self.given}'\n", encoding="utf-8")
        program.chmod(0o755)
        environment = {
            **os.environ,
            "PATH": f"{program.parent}:{os.environ['PATH']}",
            "FILES": str(files),
            "TERM": "vt100",
            "PS1": "$ ",
            "LC_ALL": "C.UTF-8",
        }
        self.process = pexpect.spawn(
            *(shell, ARGUMENTS[shell]),
            env=environment,
            cwd=str(folder),
            dimensions=(100, 250),
            timeout=PATIENCE,
            encoding="utf-8",
        )
        for line in START[shell]:
            self.process.sendline(line)
        self._catch_up()

    def offers(self, line: str, *expected: str) -> str:
        """What the screen shows for Tab after this line, once all that is expected is there."""
        self.process.send(f"{line}\t")
        shown = ""
        while not all(has_word(shown, word) for word in expected):
            try:
                shown = plain(shown + self.process.read_nonblocking(4096, timeout=PATIENCE))
            except pexpect.TIMEOUT:
                raise AssertionError(f"{expected} after {line!r}, not: {shown!r}") from None
        self.process.send("\x15")
        return shown + self._catch_up()

    def runs(self, keys: str) -> list[str]:
        """The arguments that mcptask is given in the end, if these keys and Enter are pressed."""
        self.given.unlink(missing_ok=True)
        self.process.sendline(keys)
        self._catch_up()
        return self.given.read_text(encoding="utf-8").splitlines()

    def close(self) -> None:
        self.process.close(force=True)

    def _catch_up(self) -> str:
        self.marks += 1
        self.process.sendline(f"echo mark-$(({self.marks} + 1000))")
        self.process.expect_exact(f"mark-{self.marks + 1000}")
        return plain(self.process.before)


def fish_offers(line: str, files: Path, folder: Path) -> dict[str, str]:
    """Word → its description, of all that fish offers for Tab after this line."""
    script = "source $FILES/mcptask.fish; complete --do-complete $argv[1]"
    done = subprocess.run(
        ["fish", "--no-config", "--command", script, line],
        env={**os.environ, "FILES": str(files)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr == ""
    rows = [row.partition("\t") for row in done.stdout.splitlines()]
    return {word: description for word, _, description in rows}


def plain(text: str) -> str:
    return ESCAPES.sub("", text)


def has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None
