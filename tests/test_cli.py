"""The front door: the table of commands, help, version, and the boundary where errors end."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import typer

from mcptask import __main__, __version__, cli
from mcptask.env import Env
from mcptask.errors import ProtocolError


@dataclass
class Run:
    code: int
    out: str
    err: str


def env(tmp_path: Path) -> Env:
    return Env(
        stdin=io.StringIO(),
        stdout=io.StringIO(),
        stderr=io.StringIO(),
        environ=dict(os.environ),
        cwd=tmp_path,
    )


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Help is Typer's to print, so it goes to the real stdout; everything else to the Env's."""

    def one(*argv: str, **streams: Any) -> Run:
        world = replace(env(tmp_path), **streams)
        code = cli.run(argv, world)
        printed = capsys.readouterr()
        values = [
            stream.getvalue() if isinstance(stream, io.StringIO) else ""
            for stream in (world.stdout, world.stderr)
        ]
        return Run(code, printed.out + values[0], printed.err + values[1])

    return one


def test_help_lists_every_command_in_the_order_of_the_table(run: Callable[..., Run]) -> None:
    ran = run("--help")
    assert ran.code == 0
    listed = re.findall(r"^  ([a-z]+)  ", ran.out.partition("Commands:")[2], re.MULTILINE)
    assert listed == list(cli.COMMANDS)


@pytest.mark.parametrize("name", cli.COMMANDS)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_every_command_explains_itself_with_an_example(
    run: Callable[..., Run], name: str, option: str
) -> None:
    ran = run(name, option)
    assert ran.code == 0
    assert f"mcptask {name}" in ran.out.partition("\n")[0]
    assert ran.out.count(f"mcptask {name}") >= 2, "usage and an example"
    assert "\x1b" not in ran.out


@pytest.mark.parametrize("name", [name for name in cli.COMMANDS if name != "demo"])
def test_every_command_takes_the_shared_options(run: Callable[..., Run], name: str) -> None:
    told = run(name, "--help").out
    for option in ("--json", "--jsonl", "--quiet", "--verbose", "--config", "--state"):
        assert option in told


def test_without_a_command_the_help_is_shown(run: Callable[..., Run]) -> None:
    ran = run()
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == run("--help").out


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_is_the_same_through_both_doors(
    run: Callable[..., Run],
    option: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(option).out == f"mcptask {__version__}\n"
    monkeypatch.setattr("sys.argv", ["mcptask", option])
    assert __main__.main() == 0
    assert capsys.readouterr().out == f"mcptask {__version__}\n"


def test_the_last_line_to_type_after_a_bad_option_is_the_help_of_that_command(
    run: Callable[..., Run],
) -> None:
    assert run("watch", "--nope").err.endswith("hint: mcptask watch --help\n")


@pytest.mark.parametrize("name", ["get", "update", "cancel"])
def test_who_names_no_task_is_told_how_to_name_one(run: Callable[..., Run], name: str) -> None:
    hint = f"hint: mcptask {name} last; which there are: mcptask list\n"
    assert run(name).err.endswith(hint)
    assert run("call").err.endswith("hint: mcptask call --help\n")


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Gives mcptask a command `break` that raises."""

    def with_error(error: BaseException) -> None:
        def command() -> None:
            raise error

        monkeypatch.setattr(cli, "COMMANDS", {"break": "", "other": ""})
        monkeypatch.setattr(cli, "_function", lambda place: command)

    return with_error


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ProtocolError("no"), 9),
        (KeyboardInterrupt(), 130),
        (typer.Abort(), 130),
        (BrokenPipeError(), 141),
        (ValueError("a secret"), 70),
        (RecursionError(), 70),
    ],
    ids=repr,
)
def test_whatever_a_command_raises_ends_as_an_exit_code(
    run: Callable[..., Run],
    breaking: Callable[[BaseException], None],
    error: BaseException,
    code: int,
) -> None:
    breaking(error)
    ran = run("break")
    assert ran.code == code
    assert "Traceback" not in ran.err
    assert "a secret" not in ran.err


def test_a_log_that_cannot_be_written_is_no_second_error(
    run: Callable[..., Run],
    breaking: Callable[[BaseException], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    breaking(ZeroDivisionError())
    for name in ("HOME", "XDG_STATE_HOME", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    ran = run("break")
    assert ran.code == 70
    assert "no log could be written" in ran.err


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_closed_stdout_ends_quietly(run: Callable[..., Run]) -> None:
    assert run("servers", stdout=Closed()).code == 141


def test_a_closed_stderr_takes_nothing_from_stdout(run: Callable[..., Run]) -> None:
    ran = run("servers", "-v", stderr=Closed())
    assert ran.code == 0
    assert "demo" in ran.out


def test_ctrl_c_during_the_imports_is_a_quiet_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.argv", ["mcptask", "list"])
    monkeypatch.setattr("mcptask.env.process_env", lambda: None)
    monkeypatch.setattr(cli, "run", interrupted)
    assert __main__.main() == 130
