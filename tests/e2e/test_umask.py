"""Whatever the umask says, what mcptask makes is for its owner: files 0600, folders 0700."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcptask.protocol.session import Session
from mcptask.store.form_lock import held
from mcptask.store.lock import locked
from tests.e2e.running import Cli
from tests.e2e.scripted import TOOL, Scripted, result


@pytest.fixture(params=[0o000, 0o077, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # that is Python's, and made in our time
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """Of all below, by name."""
    found = {
        str(path.relative_to(folder)): oct(stat.S_IMODE(path.stat().st_mode))
        for path in folder.rglob("*")
    }
    assert len(found) > 2
    return found


def kinds(names: Iterator[str] | dict[str, str]) -> set[str]:
    """Their names without hashes."""
    return {"/".join(p for p in name.split("/") if len(p) < 40) for name in names}


def broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError


def test_all_that_a_rich_session_leaves_is_private(
    on_server: Cli, server: Scripted, home: Path, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.on("tools/list", result(tools=[TOOL], ttlMs=60_000, cacheScope="private"))
    for _ in range(2):
        trace = str(home / "trace.jsonl")
        assert on_server("call", "job", "month=x", "--wait", "--trace", trace).code == 0
    assert on_server("call", "slow_echo", "text=hi", "-s", "demo").code == 0
    with locked(on_server.state), held(on_server.state, 1):
        seen = modes(home)
    create = server._plan["tools/call"][0]

    def meanwhile(handler: object, got: object) -> None:
        on_server.state.write_bytes(b"]] nonsense")
        create(handler, got)  # type: ignore[arg-type]

    server.on("tools/call", meanwhile)
    assert on_server("call", "job", "month=x").code == 0
    monkeypatch.setattr(Session, "get", broken)
    monkeypatch.setattr("tests.e2e.running.EXIT_CODES", {70})
    assert on_server("get", "last", "--refresh").code == 70
    seen |= modes(home)
    state = ".local/state/mcptask"
    assert kinds(seen) >= {
        *(f"{state}/tasks.toml{end}" for end in ("", ".lock", ".lock.pid", ".damaged-1")),
        *(f"{state}/{name}" for name in ("tasks.toml.damaged-1.bak", "tasks.toml.forms/1")),
        *(f"{state}/{name}" for name in ("results", "crash.log")),
        *(f".cache/mcptask/{name}" for name in ("tools", "eras")),
        "trace.jsonl",
    }
    assert any(name.endswith("demo.sqlite3") for name in seen)
    folders = {name for name in seen if (home / name).is_dir()}
    assert {name: mode for name, mode in seen.items() if mode != "0o600"} == dict.fromkeys(
        folders, "0o700"
    )
