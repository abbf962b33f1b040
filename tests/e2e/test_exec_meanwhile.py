"""What goes on while the command of `--exec` runs, and what it finds: nothing else waits for it."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.commands.following import batches
from mcptask.env import Clock
from tests.e2e.hooked import LASTING, PATIENT, Hook
from tests.e2e.running import PATIENCE, Cli, Process, alive, wait_until
from tests.e2e.scripted import Scripted, completed, now
from tests.e2e.several import Started, by_task, outcomes

Start = Callable[..., Process]


@pytest.fixture
def one_of_two(cli: Cli, server: Scripted, started: Started) -> Scripted:
    """Task 1 is known to have ended, and task 2 goes on."""
    started(server, 2)
    server.on("tasks/get", by_task(tsk_1=completed("tsk_1"), tsk_2=now("working", "tsk_2")))
    assert cli("watch", "1").code == 0
    return server


def ended(ran_events: list[dict[str, object]]) -> list[object]:
    """The tasks that the lines tell the end of, by number; None for the line that ends all."""
    return [each["ref"] for each in ran_events if each["event"] == "ended"]


def test_a_task_that_had_ended_keeps_nobody_from_following_the_others(
    start: Start, one_of_two: Scripted, tmp_path: Path
) -> None:
    hook = Hook(tmp_path, PATIENT)
    watch = start("watch", "1", "2", *hook.option)
    wait_until(lambda: hook.runs, "the command was not run")
    polls = len(one_of_two.got("tasks/get"))
    wait_until(lambda: len(one_of_two.got("tasks/get")) > polls + 1, "the other stands still")
    one_of_two.on("tasks/get", completed("tsk_2"))
    hook.go_on()
    assert watch.end().code == 0
    assert len(hook.runs) == 2


@pytest.mark.parametrize("words", [("1",), ("1", "2", "--any")], ids=str)
def test_a_signal_keeps_the_result_of_a_task_that_had_ended_and_leaves_no_other(
    start: Start, one_of_two: Scripted, tmp_path: Path, words: tuple[str, ...]
) -> None:
    hook = Hook(tmp_path, LASTING)
    watch = start("watch", *words, "--on-interrupt", "cancel", *hook.option)
    wait_until(lambda: hook.runs, "the command was not run")
    watch.send(signal.SIGINT)
    ran = watch.end()
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert "was ended by the interruption" in ran.err
    wait_until(lambda: not alive(hook.runs[0]), "the command lives on")
    assert one_of_two.got("tasks/cancel") == []


def test_a_signal_after_the_first_end_that_is_enough_leaves_the_others_alone(
    start: Start, server: Scripted, started: Started, tmp_path: Path
) -> None:
    started(server, 2)
    server.on("tasks/get", by_task(tsk_1=completed("tsk_1"), tsk_2=now("working", "tsk_2")))
    hook = Hook(tmp_path, LASTING)
    watch = start("watch", "1", "2", "--any", "--json", "--on-interrupt", "cancel", *hook.option)
    wait_until(lambda: hook.runs, "the command was not run")
    watch.send(signal.SIGINT)
    ran = watch.end()
    assert outcomes(ran.documents) == [("completed", 0), ("working", 0)]
    assert ran.code == 0
    assert server.got("tasks/cancel") == []


def test_a_reader_that_leaves_ends_the_command_too(
    start: Start, server: Scripted, started: Started, tmp_path: Path
) -> None:
    started(server, 1)
    server.on("tasks/get", completed("tsk_1"))
    hook = Hook(tmp_path, LASTING)
    watch = start("watch", "1", "--jsonl", *hook.option)
    wait_until(lambda: hook.runs, "the command was not run")
    assert watch.popen.stdout
    watch.popen.stdout.close()
    assert watch.popen.wait(PATIENCE) == 141
    wait_until(lambda: not alive(hook.runs[0]), "the command lives on")


# ── what the command finds, and what is told of it ───────────────────────────────────────────────

# The status of its task, as the state file has it at that moment.
LOOK = """
import json, os, sys, tomllib
with open(sys.argv[2], "rb") as file:
    tasks = tomllib.load(file)["tasks"]
(status,) = [task["status"] for task in tasks if str(task["ref"]) == os.environ["MCPTASK_REF"]]
with open(sys.argv[1], "a") as file:
    print(json.dumps(status), file=file)
"""


def test_the_command_finds_the_end_of_its_task_on_record(
    cli: Cli, server: Scripted, started: Started, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "LEAST_REST", 3600.0)  # after one write, none but for the command
    started(server, 3)
    plans = {f"tsk_{number}": completed(f"tsk_{number}") for number in (1, 2, 3)}
    server.on("tasks/get", by_task(**plans))
    hook = Hook(tmp_path, LOOK)
    hook.words.append(str(cli.state))
    assert cli("watch", "--all", *hook.option, clock=Clock()).code == 0
    assert hook.runs == ["completed"] * 3


def test_how_the_command_ends_is_told_in_the_document_of_a_task_that_had_ended(
    cli: Cli, one_of_two: Scripted, tmp_path: Path
) -> None:
    hook = Hook(tmp_path, "import sys\nsys.exit(3)")
    ran = cli("watch", "1", "--json", *hook.option)
    assert ran.document["warnings"] == ["--exec for task 1 exited with code 3"]


@pytest.mark.parametrize(
    ("words", "refs"), [(("1", "2"), [1, 2, None]), (("1",), [1]), (("--all",), [2, None])]
)
def test_each_of_several_has_its_line_whether_it_had_ended_or_not(
    cli: Cli, one_of_two: Scripted, words: tuple[str, ...], refs: list[object]
) -> None:
    one_of_two.on("tasks/get", completed("tsk_2"))
    assert ended(cli("watch", *words, "--jsonl").events) == refs
    if "2" in words:  # both have ended by now
        assert ended(cli("watch", *words, "--jsonl").events) == refs


def test_a_cancellation_that_is_waited_for_tells_of_what_was_over_already(
    cli: Cli, one_of_two: Scripted, tmp_path: Path
) -> None:
    one_of_two.on("tasks/get", now("cancelled", "tsk_2"))
    hook = Hook(tmp_path)
    ran = cli("cancel", "1", "2", "--wait", "--jsonl", *hook.option)
    assert ended(ran.events) == [1, 2, None]
    assert hook.outcomes == ["completed", "cancelled"]
