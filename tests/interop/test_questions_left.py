"""What FastMCP's tasks ask where nobody answers: exit 3, and the way on (A12.11)."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import environment
from tests.interop.asking import Answered, accepted, asked, each_once
from tests.interop.conftest import RUN_SECONDS, Cli, Run

pytestmark = pytest.mark.interop


def typed(line: str, home: Path) -> Run:
    """The line in a shell, as it was printed."""
    bin_folder = home / "bin"
    bin_folder.mkdir(exist_ok=True)
    program = bin_folder / "mcptask"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m mcptask "$@"\n')
    program.chmod(0o755)
    path = f"{bin_folder}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        cwd=home,
        env=environment({"PATH": path}),
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("ask", accepted(action="waitlist")),
        ("ask_twice", accepted(who="TEXT")),
        ("ask_url", {"action": "accept"}),
    ],
)
def test_the_line_that_exit_3_says_answers_the_question_as_printed_a12_11(
    mcptask: Cli, url: str, home: Path, answered: Answered, tool: str, answer: Any
) -> None:
    run = mcptask("call", tool, "--wait", "--server", url)
    assert run.rc == 3, run
    (line,) = re.findall(r"mcptask update .*", run.stderr)
    assert answered() == []
    done = typed(line, home)
    assert done.rc == 0, done
    assert each_once(answered()) == [answer]


def test_each_of_several_questions_has_its_line_in_text_and_in_json_a12_11(
    mcptask: Cli, url: str, home: Path, answered: Answered
) -> None:
    run = mcptask("call", "ask_several", "--wait", "--server", url)
    assert run.rc == 3, run
    lines = re.findall(r"mcptask update .*", run.stderr)
    again = mcptask("watch", "last", "--json")
    assert sorted(again.json["error"]["data"]["update"].values()) == sorted(lines)
    for words in ("room=a", "note=TEXT"):
        (line,) = [line for line in lines if words in line]
        assert typed(line, home).rc == 0
    assert list(asked(mcptask("watch", "last", "--json"))) == ["How many?"]
    assert each_once(answered()) == [accepted(room="a"), accepted(note="TEXT")]
