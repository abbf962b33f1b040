"""What a run declares that it can serve: the questions always, and what its options supply."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import Scripted, asking, completed, created, error, result

META = "io.modelcontextprotocol/"
ALWAYS = {"extensions": {f"{META}tasks": {}}, "elicitation": {"form": {}, "url": {}}}
WAIT = ["call", "job", "month=x", "--wait"]
SAMPLING = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Sum it up."}}],
        "maxTokens": 400,
    },
}
SAMPLED = {"role": "assistant", "content": {"type": "text", "text": "138 moved"}, "model": "m-1"}
OPTIONS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["--answer-with", "true"], {"sampling": {}}),
    (["--root", "."], {"roots": {}}),
    (["--root", ".", "--answer-with", "true", "--root", ".."], {"sampling": {}, "roots": {}}),
    (["--no-input", "--decline-all"], {}),
]


def answering_with(folder: Path, value: Any) -> list[str]:
    """`--answer-with`, and a program that says this."""
    script = folder / "says.py"
    script.write_text(f"print({json.dumps(value)!r})")
    return ["--answer-with", shlex.join([sys.executable, str(script)])]


@pytest.mark.parametrize(("options", "more"), OPTIONS)
def test_each_request_declares_what_this_run_can_serve_a2_3(
    on_server: Cli, server: Scripted, options: list[str], more: dict[str, Any]
) -> None:
    assert on_server(*WAIT, *options).code == 0
    declared = [got.params["_meta"][f"{META}clientCapabilities"] for got in server.requests]
    assert {got.method for got in server.requests} >= {
        *("tools/list", "tools/call", "tasks/get", "subscriptions/listen")
    }
    assert declared == [ALWAYS | more] * len(declared)


@pytest.mark.parametrize(("options", "more"), OPTIONS)
def test_a_dry_run_shows_what_would_be_declared_a2_3(
    on_server: Cli, options: list[str], more: dict[str, Any]
) -> None:
    ran = on_server("call", "job", "month=x", *options, "--dry-run", "--json")
    for request in ran.dry_run["requests"]:
        meta = request["message"]["params"]["_meta"]
        assert meta[f"{META}clientCapabilities"] == ALWAYS | more


REFUSED = [
    ({"sampling": {}}, [], "sampling: --answer-with COMMAND would serve that"),
    (
        {"roots": {}, "sampling": {}},
        [],
        "roots, sampling: --root PATH and --answer-with COMMAND would serve that",
    ),
    ({"roots": {}}, ["--answer-with", "true"], "roots: --root PATH would serve that"),
    (
        {"sampling": {"tools": {}}},
        ["--answer-with", "true"],
        "sampling.tools, which mcptask has not",
    ),
    ({"sampling": {}, "x": {}}, [], "with x, which mcptask has not"),
]


@pytest.mark.parametrize(("required", "options", "said"), REFUSED)
def test_a_refusal_names_the_option_that_would_serve_it_a2_3_a4_3(
    on_server: Cli, server: Scripted, required: Any, options: list[str], said: str
) -> None:
    refusal = error(
        -32021, "Missing required client capability", data={"requiredCapabilities": required}
    )
    server.on("tools/call", refusal)
    assert said in on_server(*WAIT, *options).err
    server.on("tools/call", created())
    server.on("tasks/get", refusal)
    assert said in on_server(*WAIT, *options).err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--root", "away"], "--root names a folder that does not exist: away"),
        (["--answer-with", "no-such-program"], "the command of --answer-with does not exist"),
        (["--answer-with", "./no.py"], "the command of --answer-with does not exist, or cannot"),
        (["--answer-with", "'"], "--answer-with cannot be split into words: no closing quotation"),
        (["--answer-with", ""], "--answer-with names no command"),
        (
            ["--answer-with", "./model.py x"],
            "run: ./model.py is not executable\nhint: chmod +x ./model.py\n",
        ),
        (["--answer-with", "nope | jq"], 'a line for a shell needs one: --answer-with "sh -c'),
    ],
)
def test_what_could_not_serve_is_refused_before_anything_is_sent_a2_3(
    on_server: Cli, server: Scripted, cwd: Path, options: list[str], why: str
) -> None:
    (cwd / "model.py").write_text("#!/bin/sh\n")
    ran = on_server(*WAIT, *options)
    assert ran.code == 2
    assert why in ran.err
    assert server.requests == []


def test_a_task_is_sampled_by_the_program_and_told_of_the_folders_a12_14(
    on_server: Cli, server: Scripted, tmp_path: Path
) -> None:
    asks = asking(summary=SAMPLING, folders={"method": "roots/list"})
    server.on("tasks/get", asks, completed())
    ran = on_server(*WAIT, *answering_with(tmp_path, SAMPLED), "--root", ".")
    assert ran.code == 0
    sent = [got.params["inputResponses"] for got in server.got("tasks/update")]
    assert {key: each for one in sent for key, each in one.items()} == {
        "summary": SAMPLED,
        "folders": {"roots": [{"uri": on_server.cwd.as_uri(), "name": "cwd"}]},
    }
    assert (
        "asks for sampling/createMessage (summary of task 1): Sum it up.; asking python" in ran.err
    )


def test_a_tool_that_asks_first_is_answered_alike_a8_4_a12_14(
    on_server: Cli, server: Scripted, tmp_path: Path
) -> None:
    asks = result(resultType="input_required", inputRequests={"summary": SAMPLING})
    server.on("tools/call", asks, created())
    assert on_server(*WAIT, *answering_with(tmp_path, SAMPLED)).code == 0
    assert server.got("tools/call")[-1].params["inputResponses"] == {"summary": SAMPLED}


def test_what_does_not_fit_never_leaves_and_the_question_is_left_a12_11_a12_14(
    on_server: Cli, server: Scripted, tmp_path: Path
) -> None:
    server.on("tasks/get", asking(summary=SAMPLING))
    ran = on_server(*WAIT, *answering_with(tmp_path, {**SAMPLED, "role": "system"}))
    assert ran.code == 3
    assert server.got("tasks/update") == []
    assert "did not answer summary of task 1: its answer does not fit: role must be" in ran.err
