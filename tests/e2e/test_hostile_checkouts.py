"""Nothing in the current folder is run, imported or read unless it is named: the folder may be anybody's."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.commands.answering.by_hand import browser
from tests.e2e.hostile_folder import Hostile
from tests.e2e.running import PATIENCE, Cli, Ran, environment
from tests.e2e.scripted import Scripted, asking, completed, question
from tests.e2e.terminal import Terminal

SCRIPT = [str(Path(sys.executable).with_name("mcptask"))]
SAFE = [sys.executable, "-P", "-m", "mcptask"]
PLAIN = [sys.executable, "-m", "mcptask"]
INTRUDER = "intruder"  # in every file of the folder that could be taken for ours

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs are scripts for sh")


@pytest.fixture
def hostile(cwd: Path, tmp_path: Path) -> Hostile:
    return Hostile(cwd / "checkout", tmp_path / "beside")


Run = Callable[..., Ran]


@pytest.fixture
def run(hostile: Hostile) -> Run:
    """Runs it there to its end, and holds what every run there must hold."""

    def one(entry: list[str], *argv: str, code: int = 0, **environ: str) -> Ran:
        done = subprocess.run(
            [*entry, *argv],
            cwd=hostile.folder,
            env=environment({**hostile.environ, **environ}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        ran = Ran(done.returncode, done.stdout, done.stderr).checked(argv)
        assert ran.code == code, (argv, ran)
        assert hostile.traces == [], argv
        assert INTRUDER not in ran.out + ran.err
        return ran

    return one


def studio(cli: Cli, hostile: Hostile) -> Path:
    """The user's only server, by the name of a program; returns where it notes the folder it ran in."""
    cli.configure(
        '[servers.studio]\ncommand = ["studio-mcp"]\nenv = { PYTHONPATH = "${PYTHONPATH}" }\n'
    )
    return hostile.server("studio-mcp")


@pytest.mark.parametrize(
    ("words", "trace"),
    [
        (["./python3"], "ran"),
        ([sys.executable, "-c", "import httpx"], "imported"),
        ([sys.executable, "-c", "open('.env')"], "open"),
    ],
    ids=["runs", "imports", "reads"],
)
def test_whatever_runs_imports_or_reads_there_is_noticed(
    hostile: Hostile, words: list[str], trace: str
) -> None:
    """Else the tests below would prove nothing."""
    environ = {**os.environ, **hostile.environ}
    subprocess.run(words, cwd=hostile.folder, env=environ, check=True)
    assert trace in {line.split()[0] for line in hostile.traces}


def test_no_command_runs_imports_or_reads_anything_of_the_current_folder(
    hostile: Hostile, run: Run, cli: Cli, server: Scripted
) -> None:
    hostile.add_before_us()
    ran_in = studio(cli, hostile)
    hook = hostile.beside / "hooked"
    hostile.program("hook", f"echo x >>'{hook}'")
    run(SCRIPT, "--version")
    assert "studio" in run(SCRIPT, "servers").out
    run(SCRIPT, "list")
    run(SCRIPT, "tools", "reflow_month")
    detached = run(SCRIPT, "call", "reflow_month", "month=2026-09", "seconds=600")
    run(SCRIPT, "get", "1")
    run(SCRIPT, "watch", "1", "--timeout", "1", code=124)
    run(SCRIPT, "cancel", detached.out.strip())
    run(SCRIPT, "call", "quick", "-s", "demo", "--wait", "--exec", "hook")
    run(SCRIPT, "call", "job", "month=x", "-s", server.url, "--trace", "../trace.jsonl")
    server.on("tasks/get", asking())
    run(SCRIPT, "update", "last", "action=keep", "--json")
    server.on("tasks/get", completed())
    run(SCRIPT, "watch", "last", "--jsonl")
    run(SCRIPT, "forget", "last")
    assert set(ran_in.read_text().split()) == {
        os.path.join(os.environ["XDG_CONFIG_HOME"], "mcptask")
    }
    assert hook.read_text() == "x\n"


def test_the_demo_over_http_has_nothing_of_the_current_folder_either(hostile: Hostile) -> None:
    hostile.add_before_us()
    with subprocess.Popen(
        [*SCRIPT, "demo", "--http", "127.0.0.1:0"],
        cwd=hostile.folder,
        env=environment(hostile.environ),
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        assert demo.stderr
        try:
            assert "http://127.0.0.1:" in demo.stderr.readline()
        finally:
            demo.terminate()
    assert hostile.traces == []


@pytest.mark.parametrize("entry", [PLAIN, SAFE], ids=["python -m", "python -P -m"])
def test_under_python_dash_m_what_lies_in_the_current_folder_is_not_ours(
    hostile: Hostile, run: Run, cli: Cli, server: Scripted, entry: list[str]
) -> None:
    """As far as it is in our hands: `mcptask/` and what Python needs to start one, only `-P` keeps out."""
    if entry is SAFE:
        hostile.add_before_us()
    studio(cli, hostile)
    run(entry, "list")
    run(entry, "call", "quick")
    run(entry, "call", "quick", "-s", "demo")
    run(entry, "call", "job", "month=x", "-s", server.url, "--wait", "--json")


@pytest.mark.parametrize("home", ["", "."], ids=["HOME", "HOME=."])
def test_a_relative_xdg_folder_or_home_is_ignored(hostile: Hostile, run: Run, home: str) -> None:
    """`.` has mcptask/config.toml here, tasks.toml and demo.sqlite3, and the same in .config and .local."""
    names = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
    environ = dict.fromkeys(names, ".") | ({"HOME": home} if home else {})
    ran = run(SCRIPT, "list", code=2 if home else 0, **environ)
    assert ("HOME is not set, or is no absolute path" in ran.err) == bool(home)
    assert "demo" in run(SCRIPT, "servers", **environ).out
    ran = run(SCRIPT, "call", "quick", "-s", "demo", code=2 if home else 0, **environ)
    demo = subprocess.run(
        [*SCRIPT, "demo", "--help"],
        cwd=hostile.folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
    )
    assert str(hostile.folder) not in demo.stdout


def test_a_program_that_only_the_current_folder_has_is_not_found_and_it_is_said_why(
    hostile: Hostile, run: Run, cli: Cli, server: Scripted
) -> None:
    cli.configure('[servers.studio]\ncommand = ["studio-mcp"]\n')
    told = "an empty or relative entry of PATH is not searched: give its full path"
    for words in (
        ("tools",),
        ("tools", "--stdio", "studio-mcp"),
        ("call", "job", "month=x", "-s", server.url, "--wait", "--exec", "hook"),
        ("call", "job", "month=x", "-s", server.url, "--wait", "--answer-with", "fox"),
    ):
        ran = run(SCRIPT, *words, code=2)
        assert "does not exist" in ran.err
        assert told in ran.err


def test_a_program_that_is_named_with_its_folder_is_run(hostile: Hostile) -> None:
    words = ["tools", "--stdio", "./studio-mcp", "--timeout", "10"]
    environ = {**os.environ, **hostile.environ}
    subprocess.run([*SCRIPT, *words], cwd=hostile.folder, env=environ, capture_output=True)
    assert f"ran {hostile.folder}/studio-mcp" in hostile.traces


def test_a_relative_command_of_the_config_counts_from_the_folder_of_the_config(
    hostile: Hostile, run: Run, cli: Cli
) -> None:
    config = cli.configure('[servers.studio]\ncommand = ["./studio-mcp"]\n')
    assert "does not exist: ./studio-mcp" in run(SCRIPT, "tools", code=2).err
    ran_in = studio(cli, hostile)
    (hostile.bin / "studio-mcp").rename(config.parent / "studio-mcp")
    config.write_text(config.read_text().replace('"studio-mcp"', '"./studio-mcp"'))
    assert "quick" in run(SCRIPT, "tools").out
    assert ran_in.read_text() == f"{config.parent}\n"


def test_the_editor_is_the_one_on_path(
    hostile: Hostile,
    run: Run,
    server: Scripted,
    terminal: Callable[..., Terminal],
) -> None:
    nested = question(deep={"type": "object"})
    run(SCRIPT, "call", "job", "month=x", "-s", server.url)
    server.on("tasks/get", asking(approve=nested))
    edited = hostile.beside / "edited"
    hostile.program("vi", f"""echo '{{"deep": {{}}}}' >"$1"; echo x >>'{edited}'""")
    environ = {**hostile.environ, "VISUAL": "vi"}
    environ["MCPTASK_TRACE"] = ""  # the official types have no answer that needs an editor
    moved = ["sh", "-c", 'cd "$0" && exec "$@"', str(hostile.folder), *SCRIPT]
    screen = terminal("update", "1", command=moved, **environ)
    screen.until(lambda lines: any("Enter opens vi" in line for line in lines))
    screen.type("\r")
    screen.until(lambda lines: any("Enter sends" in line for line in lines))
    screen.type("\r")
    assert screen.end() == 0
    assert edited.read_text() == "x\n"
    assert hostile.traces == []
    assert server.got("tasks/update")[0].params["inputResponses"]["approve"]["content"] == {
        "deep": {}
    }


def test_the_browser_is_none_of_the_current_folder(
    hostile: Hostile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile.folder)
    opened = hostile.beside / "opened in fox"
    environ = {**os.environ, **hostile.environ, "BROWSER": "fox %s"}
    environ["PATH"] = f":.:{hostile.bin}"
    open_it = browser.browser_of(environ)
    assert not isinstance(open_it, str)
    assert asyncio.run(open_it("https://x.example")) is not None
    hostile.program("fox", f'echo "$1" >"{opened}"')
    assert asyncio.run(open_it("https://x.example")) is None
    assert opened.read_text() == "https://x.example\n"
    assert hostile.traces == []
