"""What was kept of ended tasks: it answers when the server cannot, and a damaged one is not there."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import ID, Scripted, completed, error, scripted, task, tool_result

TEXT = "moved 138, unresolved 4"
LOST = error(-32602, "unknown task")


@pytest.fixture
def kept(on_server: Cli) -> Path:
    """The file of a task that ended and was seen to."""
    assert on_server("call", "job", "month=x", "--wait").out == f"{TEXT}\n"
    (file,) = on_server.state.with_name("results").iterdir()
    return file


@pytest.mark.parametrize("command", ["get 1", "get 1 --result", "watch 1", "cancel 1"])
def test_a_task_that_the_server_forgot_is_answered_from_what_was_kept(
    on_server: Cli, server: Scripted, kept: Path, command: str
) -> None:
    server.always(LOST)
    before = len(server.requests)
    ran = on_server(*command.split())
    assert ran.code == 0
    assert TEXT in ran.out or command.startswith("cancel")
    assert len(server.requests) == before


def test_the_object_is_the_servers_own(on_server: Cli, server: Scripted, kept: Path) -> None:
    server.always(LOST)
    body = on_server("get", "1", "--json").document
    assert body["task"]["taskId"] == ID
    assert body["result"] == tool_result()


def rewritten(**fields: object) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_text(json.dumps({"taskId": ID, "task": fields}))

    return damage


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut off": lambda path: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path: os.truncate(path, 0),
    "garbage": lambda path: path.write_bytes(b"\x00\xff"),
    "no task": rewritten(),
    "no status": rewritten(taskId=ID),
    "another task": rewritten(**task("cancelled", "tsk_other")),
    "not ended": rewritten(**task("working")),
    "without its result": rewritten(**task("completed")),
    "of another kind": rewritten(**task("completed", result="all is well")),
    "too large": lambda path: os.truncate(path, 2**30),
    "a pipe": pipe,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "writable by others": lambda path: path.chmod(0o666),
}


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_one_is_a_miss_and_the_server_is_asked(
    on_server: Cli, server: Scripted, kept: Path, case: str
) -> None:
    DAMAGES[case](kept)
    server.on("tasks/get", completed(text="fetched again"))
    before = len(server.got("tasks/get"))
    assert on_server("get", "1", "--result").out == "fetched again\n"
    assert len(server.got("tasks/get")) == before + 1
    server.on("tasks/get", LOST)
    assert on_server("get", "1").code == (6 if case == "a folder" else 0)  # kept anew


def test_damaged_and_the_server_away_the_end_is_told_from_the_record(cli: Cli) -> None:
    with scripted() as server:
        cli("call", "job", "month=x", "--wait", "-s", server.url)
    for file in cli.state.with_name("results").iterdir():
        file.write_bytes(b"{")
    ran = cli("get", "1")
    assert ran.code == 7
    assert "completed" in ran.err
    assert "completed" in cli("list").out


def test_one_that_is_too_large_is_asked_for_again(on_server: Cli, server: Scripted) -> None:
    server.on("tasks/get", completed(text="x" * (1024 * 1024)))
    on_server("call", "job", "month=x", "--wait")
    assert not list(on_server.state.with_name("results").glob("*"))
    before = len(server.got("tasks/get"))
    assert len(on_server("get", "1", "--result").out) > 1024 * 1024
    assert len(server.got("tasks/get")) == before + 1
