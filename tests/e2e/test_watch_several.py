"""`mcptask watch` of several tasks: what is said of each, and what many of them cost no other."""

import re
import socket
import sys
from pathlib import Path

from mcptask.env import Clock
from mcptask.origin import Origin
from mcptask.store.edits import KEPT_ENDED
from mcptask.store.records import State, TaskRecord
from mcptask.store.tasks import TaskStore
from tests.e2e.running import ROOT, Cli
from tests.e2e.scripted import (
    Scripted,
    asking,
    completed,
    created,
    error,
    http,
    now,
    result,
    scripted,
    task,
    tool_result,
)
from tests.e2e.several import Started, by_task, failed, in_turn, outcomes, tool_error


def test_stdout_has_the_results_alone_and_stderr_whose_they_are(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 3)
    server.on(
        "tasks/get",
        by_task(tsk_1=completed("tsk_1", "one"), tsk_2=failed("tsk_2"), tsk_3=tool_error("tsk_3")),
    )
    ran = cli("watch", "--all")
    assert ran.out == "one\ndisk full\n"
    whose = [line for line in ran.err.splitlines() if line.startswith("──")]
    where = f"job on {server.name}"
    assert whose == [f"── 1 {where}: completed", f"── 3 {where}: tool error"]
    assert "error: task 2: no room (-1)" in ran.err
    assert "error: task 3: job ended with an error of its own" in ran.err
    quiet = cli("watch", "1", "2", "3", "-q")
    assert (quiet.out, "──" in quiet.err) == (ran.out, False)


def test_the_same_trouble_of_many_tasks_is_told_once(cli: Cli, started: Started) -> None:
    with scripted() as gone:
        started(gone, 6)
    ran = cli("watch", "--all", "--give-up-after", "5s")
    assert ran.code == 7
    said = [line for line in ran.err.splitlines() if line.startswith(("error:", "hint:"))]
    assert said[0].startswith("error: task 1: no contact for")
    assert said[1:] == [
        "hint: when the server is back: mcptask watch 1",
        f"error: the same of 5 more on {gone.name}: 2–6",
        "hint: all of them: mcptask watch --all",
    ]


def test_failed_tasks_say_each_why_unless_it_is_the_same(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 6)
    plans = {f"tsk_{number}": failed(f"tsk_{number}") for number in range(1, 6)}
    server.on("tasks/get", by_task(**plans, tsk_6=failed("tsk_6", "no money")))
    said = [line for line in cli("watch", "--all").err.splitlines() if line.startswith("error:")]
    assert said == [
        "error: task 1: no room (-1)",
        f"error: the same of 4 more on {server.name}: 2–5",
        "error: task 6: no money (-1)",
    ]


def test_what_is_lost_is_not_to_be_watched_again_and_every_question_is_told(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 10)
    lost = {f"tsk_{number}": error(-32602) for number in range(1, 6)}
    asks = {f"tsk_{number}": asking(f"tsk_{number}") for number in range(6, 11)}
    server.on("tasks/get", by_task(**lost, **asks))
    err = cli("watch", "--all").err
    assert f"error: the same of 4 more on {server.name}: 2–5\n" in err
    assert "mcptask watch --all" not in err
    assert [f"error: task {number}:" in err for number in range(1, 11)].count(True) == 6


def test_the_ends_of_more_than_a_few_tasks_are_counted(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 11)
    plans = {f"tsk_{number}": completed(f"tsk_{number}") for number in range(1, 11)}
    server.on("tasks/get", by_task(**plans, tsk_11=failed("tsk_11")))
    assert cli("watch", "--all").err.endswith("11 tasks: 10 completed · 1 failed\n")


def test_a_warning_stands_in_the_document_of_the_task_that_it_is_about(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 2)
    odd = result(**task("completed", "tsk_2", ttlMs="soon", result=tool_result()))
    server.on("tasks/get", by_task(tsk_1=completed("tsk_1"), tsk_2=odd))
    first, second = cli("watch", "--all", "--json").documents["tasks"]
    assert first["warnings"] == []
    assert any("ttlMs" in text for text in second["warnings"])


# ── servers and numbers ──────────────────────────────────────────────────────────────────────────


def test_a_server_that_is_gone_or_locks_us_out_keeps_no_other_task_from_its_end(
    cli: Cli, server: Scripted, started: Started
) -> None:
    with socket.socket() as taken, scripted() as locked:
        taken.bind(("127.0.0.1", 0))
        with scripted() as gone:
            started(gone, 2)
        started(locked, 2)
        started(server, 2)
        locked.on("tasks/get", http(401))
        working = [now("working", f"tsk_{number}") for number in (1, 2)]
        plans = {f"tsk_{n}": in_turn(*[working[n - 1]] * 30, completed(f"tsk_{n}")) for n in (1, 2)}
        server.on("tasks/get", by_task(**plans))
        ran = cli("watch", "--all", "--json", "--give-up-after", "5s")
    expected = [("unreachable", 7)] * 2 + [("unauthorized", 8)] * 2 + [("completed", 0)] * 2
    assert outcomes(ran.documents) == expected
    assert ran.code == 8


def test_a_server_that_cannot_be_started_any_more_ends_its_own_task_and_no_other(
    cli: Cli, server: Scripted, started: Started, tmp_path: Path
) -> None:
    program = tmp_path / "server"
    program.write_text(
        f"#!/bin/sh\nexec {sys.executable} -m mcptask.demo --store {tmp_path}/demo\n"
    )
    program.chmod(0o755)
    call = ("call", "slow_echo", "text=x", "seconds=60", "--stdio", str(program))
    assert cli(*call, PYTHONPATH=str(ROOT)).code == 0
    started(server, 1)
    program.unlink()
    server.on("tasks/get", now("working", "tsk_1"), completed("tsk_1"))
    ran = cli("watch", "--all", "--json")
    assert outcomes(ran.documents) == [("usage", 2), ("completed", 0)]
    assert "does not exist" in ran.documents["tasks"][0]["error"]["message"]
    assert ran.code == 2


def test_tasks_of_a_server_that_left_the_config_are_left_out_in_one_breath(
    cli: Cli, server: Scripted, started: Started
) -> None:
    cli.configure(f'[servers.old]\nurl = "{server.url}"')
    for number in (1, 2):
        server.on("tools/call", created(f"tsk_{number}"))
        cli("call", "job", "month=x", "-s", "old")
    started(server, 2)
    cli.configure("")
    plans = {f"tsk_{number}": completed(f"tsk_{number}") for number in (3, 4)}
    server.on("tasks/get", by_task(**plans))
    ran = cli("watch", "--all", "-v")
    assert (ran.code, ran.out.count("moved")) == (0, 2)
    assert ran.err.count("tasks 1–2 are left out: ") == ran.err.count("left out") == 1
    assert ran.err.count("the record of the task has the URL") == 1


def test_the_document_has_every_task_also_those_that_the_state_file_dropped_meanwhile(
    cli: Cli, server: Scripted
) -> None:
    count = KEPT_ENDED + 20
    origin = Origin(url=server.url)
    records = [
        TaskRecord(ref=ref, task_id=f"tsk_{ref}", status="working", origin=origin)
        for ref in range(1, count + 1)
    ]
    store = TaskStore(cli.state, Clock())
    store.change(lambda _: State(next_ref=count + 1, tasks=tuple(records)))

    def reply(handler: object, got: object) -> None:
        completed(got.params["taskId"])(handler, got)  # type: ignore[attr-defined,arg-type]

    server.on("tasks/get", reply)
    ran = cli("watch", "--all", "--json").documents
    assert [one["ref"] for one in ran["tasks"]] == [record.ref for record in records]
    assert outcomes(ran) == [("completed", 0)] * count
    left = [record.ref for record in store.read().tasks]
    assert len(left) == KEPT_ENDED
    assert len(list((cli.state.parent / "results").iterdir())) == KEPT_ENDED
    assert re.fullmatch(r"moved.*\n", cli("get", str(left[-1]), "--result").out)
    assert len(server.got("tasks/get")) == count
