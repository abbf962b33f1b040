"""Which modules each way through the program loads: what makes it start fast, and keeps it so."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.running import Cli, environment
from tests.e2e.scripted import Scripted, result, tool_result
from tests.oracle.listening import Heard

# Runs mcptask as `python -m mcptask` would, then writes down what is loaded.
SPY = """
import json, sys
from mcptask.__main__ import main
path, *sys.argv[1:] = sys.argv[1:]
code = main()
loaded = sorted({name.partition(".")[0] for name, module in sys.modules.items() if module})
mine = sorted(name for name in sys.modules if name.startswith("mcptask"))
open(path, "w").write(json.dumps([loaded, mine]))
sys.exit(code)
"""
HEAVY = {"asyncio", "filelock", "httpx", "jsonschema", "pydantic", "rich", "starlette", "uvicorn"}
NEVER_AT_START = HEAVY | {"anyio", "httpcore", "markdown_it", "platformdirs", "pygments", "ssl"}
ON_THE_WIRE = {"jsonschema", "pydantic", "rich", "starlette", "uvicorn", "pygments", "markdown_it"}


class Loaded:
    def __init__(self, folder: Path, words: list[str]) -> None:
        path = folder / "loaded.json"
        self.done = subprocess.run(
            [sys.executable, "-c", SPY, str(path), *words],
            env=environment({}, traced=False),  # as a user runs it
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        loaded, self.ours = json.loads(path.read_text())
        self.all = set(loaded)


@pytest.fixture
def ended(cli: Cli, server: Scripted) -> Scripted:
    """Task 1 is over and its outcome stored; task 2 goes on."""
    cli("call", "job", "month=x", "--wait", "-s", server.url)
    server.on("tools/call", result(**tool_result("done")))
    return server


def test_version_loads_nothing_but_the_version(cwd: Path) -> None:
    spied = Loaded(cwd, ["--version"])
    assert spied.done.stdout.startswith("mcptask ")
    assert spied.ours == ["mcptask", "mcptask.__main__"]
    assert not spied.all & (NEVER_AT_START | {"typer", "click", "inspect", "dataclasses"})


@pytest.mark.parametrize(
    "words",
    [["--help"], ["call", "--help"], ["list"], ["list", "--json"], ["nonsense"], ["forget"]],
    ids=" ".join,
)
def test_help_list_and_errors_load_nothing_heavy(
    cwd: Path, ended: Scripted, words: list[str]
) -> None:
    assert Loaded(cwd, words).all & NEVER_AT_START == set()


@pytest.mark.parametrize("options", [[], ["--json"], ["--result"]], ids=str)
def test_a_stored_get_loads_nothing_heavy(cwd: Path, ended: Scripted, options: list[str]) -> None:
    spied = Loaded(cwd, ["get", "1", *options])
    assert "moved 138" in spied.done.stdout
    assert spied.all & NEVER_AT_START == set()


@pytest.mark.parametrize(
    "words",
    [["get", "1", "--refresh"], ["call", "job", "month=x"], ["call", "job", "month=x", "-w"]],
    ids=" ".join,
)
def test_over_http_only_the_wire_is_loaded_and_nothing_is_traced(
    cwd: Path, ended: Scripted, words: list[str], heard: Heard
) -> None:
    spied = Loaded(cwd, [*words, *([] if words[0] == "get" else ["-s", ended.url])])
    assert spied.done.returncode == 0, spied.done.stderr
    assert not heard.traced.exists()
    assert "httpx" in spied.all
    assert spied.all & ON_THE_WIRE == set()


def test_following_without_a_terminal_does_not_load_rich(
    cwd: Path, cli: Cli, server: Scripted
) -> None:
    cli("call", "job", "month=x", "-s", server.url)
    assert Loaded(cwd, ["watch", "1"]).all & ON_THE_WIRE == set()


def test_over_stdio_httpx_is_not_loaded(cwd: Path) -> None:
    spied = Loaded(cwd, ["call", "quick", "-s", "demo"])
    assert spied.done.stdout == "done\n"
    assert "httpx" not in spied.all
