"""`--exec`: a command for each task that ends or asks, with the document on its stdin."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.hooked import RECORD, Hook
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    Got,
    Scripted,
    asking,
    completed,
    created,
    error,
    now,
    result,
    tool_result,
)

WAIT = ["call", "job", "month=x", "--wait"]


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    return Hook(tmp_path)


def test_the_command_is_run_once_with_the_document_that_the_user_gets(
    on_server: Cli, server: Scripted, hook: Hook
) -> None:
    server.on("tasks/get", now("working"), now("working", statusMessage="1 of 2"), completed())
    ran = on_server(*WAIT, *hook.option, "--json")
    assert ran.code == 0
    (run,) = hook.runs
    assert run["document"] == ran.document
    assert run["told"] == {
        "MCPTASK_TASK_ID": "tsk_8f21c0ffee",
        "MCPTASK_REF": "1",
        "MCPTASK_OUTCOME": "completed",
        "MCPTASK_SERVER": server.url,
    }


def test_the_command_inherits_the_environment_and_learns_no_secret_from_it(
    cli: Cli, server: Scripted, tmp_path: Path
) -> None:
    """It is the user's own program, so it gets what the user's shell would give it, and no more."""
    hook = Hook(tmp_path, RECORD.replace('.startswith("MCPTASK_")', ".isupper()"))
    password = "canary-password"
    cli.configure(
        f"""
        [servers.studio]
        url = "{server.url.replace("://", f"://kai:{password}@")}"
        headers = {{ X-Key = "canary-header" }}
        """
    )
    assert cli(*WAIT, "-s", "studio", *hook.option, PET="cat").code == 0
    (run,) = hook.runs
    assert run["told"]["PET"] == "cat"
    assert run["told"]["MCPTASK_SERVER"] == "studio"
    assert "canary" not in json.dumps(run)


def test_a_question_is_told_once_and_then_the_end(
    terminal: Callable[..., Any], server: Scripted, hook: Hook
) -> None:
    """At a terminal a question is waited out."""
    server.on("tasks/get", asking(), asking(), completed())
    screen = terminal(*WAIT, "-s", server.url, *hook.option)
    assert screen.end() == 0
    assert hook.outcomes == ["input_required", "completed"]
    asked = hook.runs[0]["document"]
    assert list(asked["error"]["data"]["inputRequests"]) == ["approve"]
    assert (asked["exitCode"], asked["result"]) == (3, None)


def test_a_question_that_ends_the_waiting_is_told_once(
    on_server: Cli, server: Scripted, hook: Hook
) -> None:
    server.on("tasks/get", asking())
    assert on_server(*WAIT, *hook.option).code == 3
    assert hook.outcomes == ["input_required"]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (now("failed", error={"code": -32603, "message": "no"}), "failed"),
        (now("cancelled"), "cancelled"),
        (completed(text="x"), "completed"),
        (now("completed", result=tool_result(failed=True)), "tool_error"),
        (error(-32602, "unknown task"), "lost"),
        (error(-32601, "no such method"), "protocol"),
    ],
)
def test_every_end_of_the_waiting_is_told(
    on_server: Cli, server: Scripted, hook: Hook, reply: Any, outcome: str
) -> None:
    server.on("tasks/get", reply)
    ran = on_server(*WAIT, *hook.option, "--json")
    assert hook.outcomes == [outcome]
    assert hook.runs[0]["document"]["exitCode"] == ran.code


def test_a_timeout_is_told_and_names_the_task(on_server: Cli, server: Scripted, hook: Hook) -> None:
    server.on("tasks/get", now("working", pollIntervalMs=600_000))
    assert on_server(*WAIT, *hook.option, "--timeout", "1h").code == 124
    assert hook.outcomes == ["timeout"]
    assert hook.runs[0]["told"]["MCPTASK_TASK_ID"] == "tsk_8f21c0ffee"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [(result(**tool_result()), "completed"), (error(-32000, "no"), "failed")],
)
def test_a_call_that_is_answered_without_a_task_is_told_to_who_waited_for_it(
    on_server: Cli, server: Scripted, hook: Hook, reply: Any, outcome: str
) -> None:
    server.on("tools/call", reply)
    on_server(*WAIT, *hook.option)
    assert hook.outcomes == [outcome]
    assert "MCPTASK_TASK_ID" not in hook.runs[0]["told"]


def test_a_task_that_had_ended_before_is_told_as_if_it_ended_now(
    on_server: Cli, server: Scripted, hook: Hook
) -> None:
    on_server(*WAIT)
    assert on_server("watch", "1", *hook.option).code == 0
    assert hook.outcomes == ["completed"]
    assert hook.runs[0]["told"]["MCPTASK_REF"] == "1"


def test_of_several_tasks_each_is_told_in_the_order_of_their_ends(
    on_server: Cli, server: Scripted, hook: Hook
) -> None:
    for name in ("tsk_1", "tsk_2", "tsk_3"):
        server.on("tools/call", created(name))
        on_server("call", "job", "month=x")
    left = {"tsk_1": 2, "tsk_2": 1, "tsk_3": 4}

    def reply(handler: Any, got: Got) -> None:
        name = got.params["taskId"]
        left[name] -= 1
        (now("working", name) if left[name] > 0 else completed(name))(handler, got)

    server.on("tasks/get", reply)
    assert on_server("watch", "--all", *hook.option).code == 0
    assert [run["told"]["MCPTASK_REF"] for run in hook.runs] == ["2", "1", "3"]


def test_the_line_is_split_and_never_given_to_a_shell(
    on_server: Cli, tmp_path: Path, hook: Hook
) -> None:
    hook.script.write_text("import sys\nopen(sys.argv[1], 'w').write(repr(sys.argv[2:]))")
    line = f"{shlex.join(hook.words)} 'two words' $HOME; > x && `id`"
    on_server(*WAIT, "--exec", line)
    told = (tmp_path / "told.jsonl").read_text()
    assert told == repr(["two words", "$HOME;", ">", "x", "&&", "`id`"])


@pytest.mark.parametrize(
    "line", ["", "   ", "'open", "/no/such/program x", "no-such-program", "./x"]
)
def test_a_command_that_cannot_be_run_is_refused_before_anything_is_sent(
    on_server: Cli, server: Scripted, line: str
) -> None:
    ran = on_server(*WAIT, "--exec", line, "--json")
    assert (ran.code, ran.document["error"]["kind"]) == (2, "usage")
    assert "--exec" in ran.document["error"]["message"]
    assert server.got("tools/call") == []


@pytest.mark.parametrize(
    ("line", "hinted"), [("no-such-program x", False), ("no-such-program | cat > x", True)]
)
def test_a_shell_is_spoken_of_only_where_the_line_is_one_for_it(
    on_server: Cli, line: str, hinted: bool
) -> None:
    ran = on_server(*WAIT, "--exec", line)
    assert ("sh -c" in ran.err) is hinted


def test_a_redirection_that_went_to_the_program_is_explained_once_it_failed(
    on_server: Cli, hook: Hook
) -> None:
    hook.script.write_text("raise SystemExit(4)")
    plain = on_server(*WAIT, "--exec", shlex.join(hook.words)).err
    redirected = on_server(*WAIT, "--exec", f"{shlex.join(hook.words)} > x.log").err
    assert "exited with code 4\n" in plain
    assert "exited with code 4 (a line for a shell needs one: " in redirected


@pytest.mark.parametrize("command", [["call", "job"], ["update", "1"], ["cancel", "1"]])
@pytest.mark.parametrize("option", [["--notify"], ["--exec", "true"]])
def test_telling_without_waiting_is_refused(
    on_server: Cli, server: Scripted, command: list[str], option: list[str]
) -> None:
    on_server("call", "job", "month=x")
    ran = on_server(*command, *option)
    assert ran.code == 2
    assert "add --wait" in ran.err
    assert len(server.got("tools/call")) == 1


def test_a_task_id_that_no_environment_holds_is_left_to_the_document_a6_4(
    on_server: Cli, server: Scripted, hook: Hook
) -> None:
    for name in ("a\0b", "x" * 5000, "() { :; }; id", "\ud800x"):
        server.on("tools/call", created(name))
        server.on("tasks/get", completed(name))
        assert on_server(*WAIT, *hook.option).code == 0
        run = hook.runs[-1]
        assert run["document"]["task"]["taskId"] == name
        assert "MCPTASK_TASK_ID" not in run["told"]
    assert len(hook.runs) == 4
