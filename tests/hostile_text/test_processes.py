"""What other programs write: a server over stdio, and the commands of `--exec` and `--answer-with`."""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import Scripted, asking, completed, now
from tests.hostile_text.places import form
from tests.hostile_text.words import ACTING, faults, faults_of_json

# A program prints bytes: of the text without a surrogate, in UTF-8; and a few that are no UTF-8 at all.
WRITTEN = ACTING.replace("\ud800", "").encode() + b"\xff\xfe\x9b31m\xc0\x80"
SAYS = """
import json, sys
told = {told!r}
for stream in (sys.stdout.buffer, sys.stderr.buffer):
    stream.write(told + b"\\n" + told.replace(b"\\n", b"\\r") + b"\\n")
    stream.flush()
{then}
"""
# How the server goes on: it ends; it answers with more of the same text.
ENDS = "sys.exit(3)"
ANSWERS = """
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        text = told.decode("utf-8", "replace")
        error = {"code": -32603, "message": text, "data": {text: text}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
"""


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    """A command that says it on stdout and stderr, and then does this."""

    def made(then: str) -> str:
        script = tmp_path / "error: FORGED \x1b[2J.py"  # its name is shown, too
        script.write_text(SAYS.format(told=WRITTEN, then=then))
        return shlex.join([sys.executable, str(script)])

    return made


def check(ran: Ran) -> None:
    assert faults(ran.err) == [], ran.err
    assert (faults_of_json if ran.out.startswith("{") else faults)(ran.out) == [], ran.out
    assert ran.code != 70, ran.err


@pytest.mark.parametrize("then", [ENDS, ANSWERS], ids=["it ends", "it answers"])
def test_what_a_server_over_stdio_writes_s17(
    process: Callable[..., Ran], program: Callable[[str], str], tmp_path: Path, then: str
) -> None:
    trace = tmp_path / "trace.jsonl"
    words = ("--stdio", program(then), "--trace", str(trace))
    for command in (("tools", "-v"), ("call", "job", "--no-validate", "-v"), ("tools", "--json")):
        ran = process(*command, *words, PYTHONUTF8="1")
        assert "FORGED" in ran.out + ran.err or "-v" not in command
        check(ran)
    assert faults_of_json(trace.read_text(encoding="ascii")) == []


@pytest.mark.parametrize("more", [("-v",), (), ("--json",)], ids=str)
def test_what_the_command_of_exec_prints_s17(
    on_server: Cli, server: Scripted, program: Callable[[str], str], more: tuple[str, ...]
) -> None:
    server.on("tasks/get", now("working"), completed())
    hook = ("--exec", program(ENDS))
    ran = on_server("call", "job", "month=x", "--wait", *hook, *more)
    assert ran.code == 0
    assert "FORGED" in ran.err
    check(ran)


@pytest.mark.parametrize("more", [("-v",), (), ("--json",)], ids=str)
def test_what_the_command_of_answer_with_prints_s17(
    on_server: Cli, server: Scripted, program: Callable[[str], str], more: tuple[str, ...]
) -> None:
    server.on("tasks/get", asking(**{ACTING: form(ACTING)}))
    answers = ("--answer-with", program(ENDS), "--no-input", "--timeout", "20s")
    ran = on_server("call", "job", "month=x", "--wait", *answers, *more)
    assert ran.code == 3
    assert "FORGED" in ran.err
    check(ran)
