"""A secret among the words of `--stdio`: it reaches the server, and no file and no screen."""

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli, Ran

CANARY = "hunter2-canary"
ENV = "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"


@pytest.fixture
def real(cli: Cli) -> Callable[..., Ran]:
    """In this process, in real time; what it says and what it writes is searched for the secret."""

    def run(*words: str) -> Ran:
        ran = cli(*words, clock=Clock())
        assert CANARY not in ran.out + ran.err
        for folder in (*(Path(os.environ[name]) for name in ENV), cli.cwd):
            for file in folder.rglob("*"):
                assert CANARY not in file.name
                assert not file.is_file() or CANARY.encode() not in file.read_bytes()
        return ran

    return run


@pytest.fixture
def stdio(tmp_path: Path) -> list[str]:
    demo = [sys.executable, "-P", "-m", "mcptask.demo", "--store", str(tmp_path / "demo.sqlite3")]
    return ["--stdio", shlex.join(["env", f"API_KEY={CANARY}", *demo])]


def test_a_secret_in_a_command_is_written_nowhere_and_shown_the_same_everywhere(
    real: Callable[..., Ran], stdio: list[str]
) -> None:
    called = real("call", "reflow_month", "month=2026-09", "--json", "-v", *stdio)
    endpoint = called.document["server"]["endpoint"]
    assert "API_KEY=***" in endpoint
    assert real("list", "--json").listed["tasks"][0]["server"]["endpoint"] == endpoint
    assert real("get", "1", "--json", *stdio).document["server"]["endpoint"] == endpoint
    assert "API_KEY=***" in real("list").out


def test_a_task_of_such_a_command_is_reached_by_giving_the_command_again(
    real: Callable[..., Ran], stdio: list[str]
) -> None:
    real("call", "reflow_month", "month=2026-09", *stdio)
    for words in (["watch", "1"], ["get", "1"], ["cancel", "1"]):
        ran = real(*words)
        assert (ran.code, ran.out) == (2, "")
        assert "had a secret, which is not stored" in ran.err
        assert "--stdio" in ran.err.partition("hint:")[2]
    assert real("watch", "1", *stdio).code == 0
    assert real("get", "1", "--result").out.startswith("moved"), (
        "what has ended is answered offline"
    )


def test_refresh_warns_of_such_a_command_and_runs_nothing(
    real: Callable[..., Ran], stdio: list[str]
) -> None:
    real("call", "reflow_month", "month=2026-09", *stdio)
    ran = real("list", "--refresh")
    assert ran.code == 0
    assert "warning: env: the command of the task's server had a secret" in ran.err
