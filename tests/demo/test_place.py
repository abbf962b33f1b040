"""Where the demo keeps its tasks: never where the current folder says."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcptask.demo import __main__ as demo


@pytest.fixture(autouse=True)
def linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")


@pytest.mark.parametrize("value", ["", ".", "relative"])
def test_an_empty_or_relative_xdg_folder_is_ignored(
    home: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", value)
    assert demo.default_store() == home / ".local/state/mcptask/demo.sqlite3"
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    assert demo.default_store() == Path("/state/mcptask/demo.sqlite3")


def test_without_a_home_it_asks_for_a_place_in_one_line_and_helps_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setenv("HOME", "relative")
    assert demo.main([]) == demo.EXIT_USAGE
    told = capsys.readouterr().err
    assert told == (
        "mcptask demo: there is no place for its tasks: HOME is not set, or is no absolute path; "
        "set it, or give --store FILE\n"
    )
    assert demo.main(["--help"]) == demo.EXIT_OK
    assert "no place yet: HOME is not set" in capsys.readouterr().out
    assert demo.parse(["--store", str(tmp_path / "s")]).store == tmp_path / "s"


def test_another_system_without_a_home_is_told_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setenv("XDG_STATE_HOME", "")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(demo, "_platform_folder", no_home)
    with pytest.raises(demo.NoPlace):
        demo.default_store()
