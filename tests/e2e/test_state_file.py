"""The state file: missing, unreadable, damaged, newer, read-only. Nothing is lost, the id least of all."""

import errno
import os
import shlex
import sys
from pathlib import Path

import pytest

from mcptask.store import atomic
from tests.e2e.running import Cli
from tests.e2e.scripted import ID, Scripted


def read_only(*args: object, **named: object) -> None:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS))


def test_a_missing_file_is_an_empty_list_and_is_made_private(on_server: Cli) -> None:
    assert on_server("list").code == 0
    assert not on_server.state.exists()
    on_server("call", "job", "month=x")
    assert on_server.state.stat().st_mode & 0o777 == 0o600
    assert on_server.state.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("how", ["option", "variable"])
def test_another_file_can_be_named(on_server: Cli, cwd: Path, how: str) -> None:
    words = ["--state", "mine.toml"] if how == "option" else []
    environ = {} if how == "option" else {"MCPTASK_STATE": str(cwd / "mine.toml")}
    on_server("call", "job", "month=x", *words, **environ)
    assert ID in (cwd / "mine.toml").read_text()
    assert not on_server.state.exists()


def test_arguments_are_not_stored(on_server: Cli) -> None:
    on_server("call", "job", "month=s3cret", "--wait")
    assert "s3cret" not in on_server.state.read_text()


def test_a_file_damaged_while_a_call_runs_is_kept_aside_and_the_task_is_stored(
    on_server: Cli, server: Scripted
) -> None:
    create = server._plan["tools/call"][0]

    def meanwhile(handler: object, got: object) -> None:
        on_server.state.write_bytes(b"]] nonsense")
        create(handler, got)  # type: ignore[arg-type]

    server.on("tools/call", meanwhile)
    ran = on_server("call", "job", "month=x")
    assert ran.out == f"{ID}\n"
    (aside,) = on_server.state.parent.glob("tasks.toml.damaged-*")
    assert f"kept as {aside}" in ran.err.replace("\n", " ")
    assert aside.read_bytes() == b"]] nonsense"
    assert [each["taskId"] for each in on_server("list", "--json").listed["tasks"]] == [ID]


@pytest.mark.parametrize("command", ["list", "call job month=x", "forget --ended"])
def test_a_newer_file_is_refused_and_not_rewritten(on_server: Cli, command: str) -> None:
    on_server.state.parent.mkdir(parents=True)
    on_server.state.write_text("version = 99\n")
    ran = on_server(*command.split(), "--json").document
    assert (ran["exitCode"], ran["error"]["kind"]) == (2, "usage")
    assert on_server.state.read_text() == "version = 99\n"


def test_unknown_keys_survive(on_server: Cli) -> None:
    on_server("call", "job", "month=x")
    text = on_server.state.read_text()
    on_server.state.write_text(
        'colour = "green"\n' + text.replace("ref = 1", 'ref = 1\nmood = "ok"')
    )
    on_server("watch", "1")
    after = on_server.state.read_text()
    assert 'colour = "green"' in after
    assert 'mood = "ok"' in after
    assert 'status = "completed"' in after


@pytest.mark.parametrize("wait", [(), ("--wait",)])
def test_on_a_read_only_disk_the_id_is_still_printed_and_the_exit_code_is_the_tasks(
    on_server: Cli, monkeypatch: pytest.MonkeyPatch, wait: tuple[str, ...]
) -> None:
    monkeypatch.setattr(atomic, "make_folder", read_only)
    monkeypatch.setattr(atomic, "write", read_only)
    ran = on_server("call", "job", "month=x", *wait)
    assert ran.code == 0
    assert ran.out == ("moved 138, unresolved 4\n" if wait else f"{ID}\n")
    assert f"warning: task {ID} could not be stored" in ran.err
    assert "Read-only file system" in ran.err
    body = on_server("call", "job", "month=x", "--json", *wait).document
    assert body["ref"] is None
    assert any("could not be stored" in warning for warning in body["warnings"])


def test_a_task_that_could_not_be_stored_is_named_by_its_id_in_the_lines_to_type(
    on_server: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic, "make_folder", read_only)
    ran = on_server("call", "job", "month=x")
    assert f"mcptask watch {ID}" in ran.err
    command = shlex.join([sys.executable, "-m", "mcptask.demo"])
    ran = on_server("call", "slow_echo", "text=hi", "--stdio", command)
    typed = shlex.split(ran.err.partition("mcptask watch ")[2].splitlines()[0])
    assert typed == [ran.out.strip(), "--stdio", command]
    assert on_server("get", *typed).code == 0


def test_a_full_disk_during_a_watch_is_a_warning(
    on_server: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_server("call", "job", "month=x")
    monkeypatch.setattr(atomic, "write", read_only)
    ran = on_server("watch", "1")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert "warning: task 1 could not be noted" in ran.err


def test_an_unreadable_file_is_named_and_nothing_is_sent(on_server: Cli, server: Scripted) -> None:
    """A link to itself: unlike file modes it stops root as well."""
    on_server.state.parent.mkdir(parents=True)
    on_server.state.symlink_to(on_server.state)
    for command in ("list", "call job month=x"):
        ran = on_server(*command.split())
        assert ran.code == 2
        assert f"{on_server.state} cannot be read" in ran.err
        assert "--state FILE" in ran.err
    assert server.got("tools/call") == []


def test_without_a_home_the_error_says_what_to_set(cli: Cli) -> None:
    gone = dict.fromkeys(("HOME", "XDG_STATE_HOME", "USERPROFILE"), "")
    ran = cli("list", **gone)
    assert ran.code == 2
    assert "MCPTASK_STATE" in ran.err


def test_results_can_be_kept_out_of_the_disk(on_server: Cli) -> None:
    on_server.configure("store_results = false\n")
    on_server("call", "job", "month=x", "--wait")
    results = on_server.state.with_name("results")
    assert not results.exists() or not list(results.iterdir())
    assert on_server("get", "1", "--result").out == "moved 138, unresolved 4\n"
