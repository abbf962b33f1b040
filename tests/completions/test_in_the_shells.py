"""What Tab does, in the shells themselves. One that is not installed is skipped."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from mcptask.protocol.task import Status
from scripts.completions import FOLDER, generate
from tests.completions.shells import Terminal, fish_offers, has_word

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

# Line → what Tab offers after it, and some of what it must not offer.
OFFERS = [
    ("mcptask ca", ["call", "cancel"], ["watch", "get"]),
    ("mcptask --", ["--help", "--version"], ["--json", "--timeout"]),
    ("mcptask list --status ", list(Status), ["demo", "--json"]),
    ("mcptask list --json --status ", list(Status), ["demo", "--limit"]),
    ("mcptask watch --ti", ["--timeout"], ["--interval"]),
    ("mcptask watch --j", ["--json", "--jsonl"], ["--timeout"]),
    ("mcptask watch 7 --on-interrupt ", ["leave", "cancel"], ["call"]),
    ("mcptask call --s", ["--server", "--stdio", "--state"], ["--store", "--status"]),
    # The tool is called as a command is: still the options of call.
    ("mcptask call list --s", ["--server", "--stdio", "--state"], ["--status"]),
    ("mcptask get --config ", ["notes.json", "more/"], ["last", "call"]),
    ("mcptask call quick --args @", ["notes.json"], ["call"]),
]
# Keys → the arguments that mcptask has got after Enter.
RUNS = [
    ("mcptask canc\t 7", ["cancel", "7"]),
    ("mcptask watch --time\t 90", ["watch", "--timeout", "90"]),
    ("mcptask list --status=wor\t", ["list", "--status=working"]),
    ("mcptask list --status inp\t --json", ["list", "--status", "input_required", "--json"]),
    ("mcptask call quick -s \t", ["call", "quick", "-s", "demo"]),
    ("mcptask watch --on-interrupt=c\t", ["watch", "--on-interrupt=cancel"]),
    ("mcptask get \t --result", ["get", "last", "--result"]),
    ("mcptask call quick text=@no\t", ["call", "quick", "text=@notes.json"]),
    ("mcptask call quick rooms:=@more/a\t", ["call", "quick", "rooms:=@more/a file"]),
    ("mcptask call quick --args @more/a\t", ["call", "quick", "--args", "@more/a file"]),
    ("mcptask call quick --args=@no\t", ["call", "quick", "--args=@notes.json"]),
    ("mcptask demo --store more/a\t", ["demo", "--store", "more/a file"]),
    ("mcptask get --state=no\t", ["get", "--state=notes.json"]),
    ("mcptask tools --bearer-env STUDIO_T\t", ["tools", "--bearer-env", "STUDIO_TOKEN"]),
    # Nothing to offer: nothing is changed.
    ("mcptask call qui\t", ["call", "qui"]),
    ("mcptask call quick name=no\t", ["call", "quick", "name=no"]),
    ("mcptask update 7 la\t", ["update", "7", "la"]),
    ("mcptask get -- --js\t", ["get", "--", "--js"]),
]

# The same, where Tab is pressed twice, or a space is escaped.
MORE_RUNS = [
    ("mcptask call quick text=@mo\ta\t", ["call", "quick", "text=@more/a file"]),
    ("mcptask call quick text=@more/a\\ f\t", ["call", "quick", "text=@more/a file"]),
    ("mcptask call quick text=@~/in\t", ["call", "quick", "text=@~/in home"]),
]


def installed(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


@pytest.fixture
def folder(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    (folder / "more").mkdir(parents=True)
    (folder / "more" / "a file").touch()
    (folder / "notes.json").touch()
    (home / "in home").touch()
    monkeypatch.setenv("STUDIO_TOKEN", "not a secret")
    return folder


@pytest.fixture
def terminal(folder: Path) -> Iterator[Callable[..., Terminal]]:
    opened = []

    def open_terminal(shell: str, files: Path = FOLDER) -> Terminal:
        installed(shell)
        opened.append(Terminal(shell, files, folder))
        return opened[-1]

    yield open_terminal
    for each in opened:
        each.close()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_tab_offers_what_fits_and_nothing_else(
    shell: str, terminal: Callable[..., Terminal]
) -> None:
    opened = terminal(shell)
    for line, expected, unwanted in OFFERS:
        shown = opened.offers(line, *(word.rstrip("/") for word in expected))
        shown = shown.replace(line, "")  # a shell draws it again below its list
        assert [word for word in unwanted if has_word(shown, word)] == [], line
    assert not opened.given.exists()  # mcptask itself was never run


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_tab_completes_the_only_word_that_fits(
    shell: str, terminal: Callable[..., Terminal]
) -> None:
    opened = terminal(shell)
    assert {keys: opened.runs(keys) for keys, _ in RUNS + MORE_RUNS} == dict(RUNS + MORE_RUNS)


def test_fish_offers_what_fits_and_nothing_else(folder: Path) -> None:
    installed("fish")
    for line, expected, _ in OFFERS:
        if line.endswith("@"):
            expected = ["@notes.json", "@more/"]
        assert sorted(fish_offers(line, FOLDER, folder)) == sorted(expected), line


@pytest.mark.parametrize(("keys", "arguments"), RUNS)
def test_fish_completes_the_only_word_that_fits(
    keys: str, arguments: list[str], folder: Path
) -> None:
    installed("fish")
    line = keys.partition("\t")[0]
    typed = line.rpartition(" ")[2]
    offered = [word for word in fish_offers(line, FOLDER, folder) if word.startswith(typed)]
    assert [word for word in offered if word in arguments] == offered
    assert len(offered) == (typed not in arguments)


def test_fish_completes_a_file_after_an_at_and_a_folder(folder: Path) -> None:
    installed("fish")
    for line in ("mcptask call quick text=@more/", "mcptask call quick text=@more/a\\ f"):
        assert list(fish_offers(line, FOLDER, folder)) == ["text=@more/a file"]


def test_fish_shows_the_help_beside_each_word(folder: Path) -> None:
    installed("fish")
    assert fish_offers("mcptask ca", FOLDER, folder)["call"] == "Call a tool."
    assert fish_offers("mcptask --v", FOLDER, folder) == {
        "--version": "Print the version and exit."
    }


def test_zsh_shows_the_help_beside_each_word(terminal: Callable[..., Terminal]) -> None:
    assert "Call a tool." in terminal("zsh").offers("mcptask ca", "call", "cancel")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_within_a_command_are_completed_too(
    shell: str, folder: Path, tmp_path: Path, terminal: Callable[..., Terminal]
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for name, text in generate(an_app_with_a_group()).items():
        (files / name).write_text(text, encoding="utf-8")
    if shell == "fish":
        installed(shell)
        assert list(fish_offers("mcptask servers ", files, folder)) == ["add", "remove"]
        assert list(fish_offers("mcptask servers add --u", files, folder)) == ["--url"]
        assert fish_offers("mcptask --json servers ad", files, folder) == {
            "add": "It's [new]: a 'server' costs $5 \\ more."
        }
        return
    opened = terminal(shell, files)
    shown = opened.offers("mcptask servers ", "add", "remove")
    assert shell == "bash" or "It's [new]: a 'server' costs $5 \\ more." in shown
    assert opened.runs("mcptask serv\tadd --u\t x") == ["servers", "add", "--url", "x"]
    assert opened.runs("mcptask --json servers rem\t") == ["--json", "servers", "remove"]


def an_app_with_a_group() -> typer.Typer:
    app, servers = typer.Typer(), typer.Typer()
    app.add_typer(servers, name="servers", help="The servers.")

    @app.callback()
    def _root(json: bool = typer.Option(False, "--json")) -> None: ...

    @servers.command(help="It's [new]: a 'server' costs $5 \\ more. And so on.")
    def add(url: str = typer.Option("", help="It's [here]: `x` $y.")) -> None: ...

    @servers.command()
    def remove() -> None: ...

    return app


@pytest.mark.parametrize(
    ("shell", "name"), [("bash", "mcptask.bash"), ("zsh", "_mcptask"), ("fish", "mcptask.fish")]
)
def test_a_shell_reads_its_file_without_a_complaint(shell: str, name: str) -> None:
    installed(shell)
    done = subprocess.run([shell, "-n", str(FOLDER / name)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
