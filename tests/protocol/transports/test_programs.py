"""Which program a name means: one on PATH, never one of the current folder that was not named (A6.1).

Windows is played: its PATHEXT and the sign between entries, on the files of this system.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mcptask.commands._children import command_of
from mcptask.errors import ConfigError, UsageError
from mcptask.protocol.transports.process import resolve
from mcptask.protocol.transports.programs import NOT_SEARCHED, absolute_path, find, why_not_found

FROM_HERE = ["", ":", ".", "./", "bin", "../here", "~"]


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a `run` in it and one in a folder of it."""
    folder = tmp_path / "here"
    for name in ("run", "bin/run", "~/run"):
        program(folder / name)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("entry", FROM_HERE)
def test_an_entry_of_path_that_is_not_absolute_is_passed_over(
    here: Path, tmp_path: Path, entry: str
) -> None:
    environ = {"PATH": f"{entry}:{tmp_path / 'bin'}"}
    assert find("run", environ) is None
    for refused in (
        lambda: resolve(["run"], None, environ),
        lambda: command_of("--exec", "run", environ, str(here)),
    ):
        with pytest.raises((ConfigError, UsageError), match="does not exist") as caught:
            refused()
        assert caught.value.hint == NOT_SEARCHED
    mine = program(tmp_path / "bin" / "run")
    assert find("run", environ) == mine
    assert resolve(["run", "x"], None, environ) == [mine, "x"]
    assert command_of("--exec", "run x", environ, str(here)) == (mine, "x")


def test_the_current_folder_is_searched_by_its_own_name_and_with_a_path_it_is_named(
    here: Path,
) -> None:
    mine = str(here / "run")
    assert find("run", {"PATH": str(here)}) == mine
    assert find("./run", {"PATH": "/bin"}) == mine
    assert resolve(["./run"], None, {"PATH": "/bin"}) == [mine]
    assert resolve(["./run"], str(here / "bin"), {"PATH": "/bin"}) == [str(here / "bin" / "run")]


def test_what_lies_nowhere_has_nothing_to_do_with_path(here: Path) -> None:
    assert why_not_found("walk", {"PATH": ":/bin"}) is None
    assert why_not_found("./run", {"PATH": ":"}) is None
    assert why_not_found("run", {"PATH": ""}) is None
    assert find("run", {"PATH": ""}) is None
    assert find("ru\0n", {"PATH": "/bin"}) is None
    assert find("sh", {}) in ("/bin/sh", "/usr/bin/sh")


def test_a_folder_and_a_file_that_may_not_be_run_are_no_programs(tmp_path: Path) -> None:
    (tmp_path / "first" / "run").mkdir(parents=True)
    Path(program(tmp_path / "second" / "run")).chmod(0o644)
    mine = program(tmp_path / "third" / "run")
    path = ":".join(str(tmp_path / each) for each in ("first", "second", "third"))
    assert find("run", {"PATH": path}) == mine


def test_windows_tries_the_endings_it_knows_and_not_the_current_folder(
    here: Path, tmp_path: Path
) -> None:
    program(here / "npx.cmd")
    mine = program(tmp_path / "bin" / "npx.cmd")
    program(tmp_path / "bin" / "npx")
    environ = {"PATH": f".;{tmp_path / 'bin'}", "PATHEXT": ".EXE;.cmd;"}
    assert find("npx", environ, windows=True) == mine
    assert find("npx.CMD".lower(), environ, windows=True) == mine
    assert find("npx", {"PATH": environ["PATH"], "PATHEXT": ".EXE"}, windows=True) is None
    assert find("./npx", environ, windows=True) == str(here / "npx.cmd")
    assert find("npx", {"PATH": "", "PATHEXT": ".cmd"}, windows=True) is None
    assert why_not_found("npx", {"PATH": ".", "PATHEXT": ".cmd"}, windows=True) == NOT_SEARCHED


def test_a_search_that_is_not_the_users_gets_a_path_without_the_current_folder() -> None:
    assert absolute_path({"PATH": ":/a:.:b:/c"}) == "/a:/c"
    assert absolute_path({"PATH": "/a;.;/c"}, windows=True) == "/a;/c"
    for empty in ("", ":", "."):
        assert absolute_path({"PATH": empty}) == os.defpath
    assert absolute_path({}) == os.defpath
