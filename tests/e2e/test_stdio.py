"""Servers as child processes: missing, noisy, old, deaf. No process of theirs outlives the command."""

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.env import Clock
from mcptask.protocol.transports import stdio
from tests.e2e.running import ROOT, Cli, Ran, alive

PID = "import os, sys, signal, json, time\nopen({pid!r}, 'a').write(f'{{os.getpid()}}\\n')\n"
DEMO = (
    f"sys.path.insert(0, {str(ROOT)!r})\n"
    "from mcptask.demo.__main__ import main\n"
    "main(sys.argv[1:])\n"
)
NOISE = "print('Server v1.0 started', flush=True)\nsys.stderr.write('a log line\\n')\n"
# Answers initialize, and to all else what `{other}` says.
OLD = """
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {{"jsonrpc": "2.0", "id": asked["id"]}}
    if asked["method"] == "initialize":
        answer["result"] = {{"protocolVersion": "2025-06-18", "capabilities": {{}}}}
    else:
        {other}
    print(json.dumps(answer), flush=True)
"""
UNKNOWN = 'answer["error"] = {"code": -32601, "message": "Method not found"}'


class Child:
    """A Python program as a stdio server; `pids` are those of every process that ran it."""

    def __init__(self, folder: Path, source: str) -> None:
        self._pids = folder / "pids"
        script = folder / "server.py"
        script.write_text(PID.format(pid=str(self._pids)) + source)
        self.words = [sys.executable, str(script), "--store", str(folder / "demo.sqlite3")]

    @property
    def option(self) -> list[str]:
        return ["--stdio", shlex.join(self.words)]

    @property
    def pids(self) -> list[int]:
        return [int(line) for line in self._pids.read_text().split()]

    def is_gone(self) -> bool:
        return bool(self.pids) and not any(alive(pid) for pid in self.pids)


@pytest.fixture
def child(tmp_path: Path) -> Callable[[str], Child]:
    return lambda source: Child(tmp_path, source)


@pytest.fixture
def real(cli: Cli) -> Callable[..., Ran]:
    """In this process, in real time."""
    return lambda *words, **environ: cli(*words, clock=Clock(), **environ)


def test_a_command_that_does_not_exist_is_a_usage_error(real: Callable[..., Ran]) -> None:
    ran = real("call", "job", "--stdio", "/no/such/program --fast")
    assert ran.code == 2
    assert "/no/such/program" in ran.err
    assert real("tools", "--stdio", "no-such-program", "--json").document["exitCode"] == 2


def test_a_server_that_exits_at_once_is_unreachable_and_its_last_words_are_told(
    real: Callable[..., Ran], child: Callable[[str], Child]
) -> None:
    server = child("sys.exit('no licence found')")
    ran = real("call", "job", *server.option)
    assert ran.code == 7
    assert "no licence found" in ran.err
    assert server.is_gone()
    assert json.loads(real("list", "--json").out)["calls"] == []


def test_noise_on_stdout_is_skipped_and_shown_with_verbose(
    real: Callable[..., Ran], child: Callable[[str], Child]
) -> None:
    """A6.3"""
    server = child(NOISE + DEMO)
    ran = real("call", "quick", "text=hi", *server.option)
    assert (ran.code, ran.out, ran.err) == (0, "hi\n", "")
    told = real("call", "quick", "text=hi", "-v", *server.option).err
    assert "Server v1.0 started" in told
    assert "a log line" in told
    assert server.is_gone()


def test_broken_header_annotations_are_nothing_over_stdio_a7_3(
    real: Callable[..., Ran], child: Callable[[str], Child]
) -> None:
    annotated = (
        "from mcptask.demo.catalog import TOOLS\n"
        "for schema in TOOLS['quick'].input_schema['properties'].values():\n"
        "    schema['x-mcp-header'] = 'not a token'\n"
    )
    server = child(DEMO.replace("from mcptask", annotated + "from mcptask", 1))
    ran = real("call", "quick", "text=hi", *server.option)
    assert (ran.code, ran.out, ran.err) == (0, "hi\n", "")
    listed = real("tools", "quick", "--json", *server.option).out
    assert "not a token" in listed


def test_a_server_that_ignores_the_end_of_its_input_and_sigterm_is_ended_all_the_same(
    real: Callable[..., Ran], child: Callable[[str], Child], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A6.6"""
    monkeypatch.setattr(stdio.StdioTransport.__init__, "__kwdefaults__", _sooner())
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    server = child(f"{deaf}{DEMO}\nwhile True: time.sleep(1)")
    ran = real("call", "quick", "text=hi", *server.option)
    assert (ran.code, ran.out) == (0, "hi\n")
    assert server.is_gone()


def _sooner() -> dict[str, object]:
    return {**(stdio.StdioTransport.__init__.__kwdefaults__ or {}), "grace": 0.3}


@pytest.mark.parametrize(
    "other",
    [UNKNOWN, "continue", "sys.exit()"],
    ids=["refuses what it does not know", "is silent", "dies of it"],
)
def test_a_server_of_an_older_generation_is_told_apart(
    cli: Cli, real: Callable[..., Ran], child: Callable[[str], Child], other: str
) -> None:
    """A1.3"""
    server = child(OLD.format(other=other))
    command = f"command = {json.dumps(server.words)}"
    cli.configure(f'[servers.old]\n{command}\ntimeout = "1s"\n')
    ran = real("call", "job")
    assert ran.code == 9
    assert "the server speaks MCP 2025-06-18" in ran.err
    assert server.is_gone()


def test_a_server_that_dies_in_the_middle_of_a_call_leaves_a_mark(
    real: Callable[..., Ran], child: Callable[[str], Child]
) -> None:
    """A4.5"""
    dying = "from mcptask.demo import calls\ncalls._create = lambda *_: os._exit(3)\n"
    source = DEMO.replace("from mcptask.demo.__main__", f"{dying}from mcptask.demo.__main__")
    server = child(source)
    ran = real("call", "slow_echo", "text=hi", *server.option)
    assert ran.code == 7
    assert "not known" in ran.err
    assert [mark["tool"] for mark in real("list", "--json").listed["calls"]] == ["slow_echo"]
    assert server.is_gone()


def test_a_hint_names_a_server_that_was_given_by_hand_so_that_it_can_be_typed(
    real: Callable[..., Ran], child: Callable[[str], Child]
) -> None:
    server = child(DEMO)
    ran = real("call", "nonsense", *server.option)
    assert ran.code == 2
    typed = ran.err.partition("mcptask tools ")[2].partition("  lists all")[0]
    assert shlex.split(typed) == server.option
    assert real("tools", *shlex.split(typed)).code == 0
    ran = real("call", "slow_echo", "nope=1", *server.option)
    assert ran.code == 2
    typed = ran.err.partition("mcptask tools ")[2].partition("  shows its arguments")[0]
    assert shlex.split(typed) == ["slow_echo", *server.option]
    assert server.is_gone()


def test_a_task_outlives_its_server_process_and_is_found_from_the_record(
    real: Callable[..., Ran], child: Callable[[str], Child]
) -> None:
    server = child(DEMO)
    assert real("call", "slow_echo", "text=hi", "seconds=0.3", *server.option).code == 0
    assert server.is_gone()
    ran = real("watch", "1")
    assert (ran.code, ran.out) == (0, "hi\n")
    assert len(server.pids) == 2
    assert server.is_gone()


def test_the_built_in_demo_needs_no_configuration(process: Callable[..., Ran]) -> None:
    """The first line of the README."""
    ran = process("call", "reflow_month", "month=2026-09", "seconds=0.5", "--wait", "-s", "demo")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert "reflow_month on demo is task 1" in ran.err
    assert process("call", "crash", "seconds=0", "-w", "-s", "demo", "--json").code == 4
