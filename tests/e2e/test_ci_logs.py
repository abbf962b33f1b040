"""Whatever a server says, no CI system takes a line of ours for one of its commands."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import (
    TOOL,
    Scripted,
    asking,
    completed,
    created,
    error,
    http,
    now,
    question,
    result,
    tool_result,
)

CALL = ("call", "job", "month=x")

# How each of them finds its commands in a line of a log: from their sources where those are public.
OBEYED: dict[str, Callable[[str], object]] = {
    "GitHub": lambda line: line.lstrip().startswith("::") and "::" in line.lstrip()[2:],
    "GitHub, and Azure": lambda line: "##[" in line,
    "Azure": lambda line: "##vso[" in line.lower(),
    "TeamCity": lambda line: "##teamcity[" in line,
    "Travis": re.compile(r"(fold|time):(start|end):[\w.-]+").search,
    "GitLab": re.compile(r"section_(start|end):\d+:[^\r]*\r\x1b\[0K").search,
    "Buildkite": re.compile(r"(---|\+\+\+|~~~)\s|\^\^\^\s+\+\+\+").match,
}
COMMANDS = (
    # One text of all that may be obeyed in mid-line, after one that is at a start.
    "\u3000 ::add-mask::x ##[error]x ##vso[task.complete]x ##teamcity[buildStop] travis_fold:start:x "
    "\x1b[0Ksection_start:1560896352:x\r\x1b[0Kx",
    "--- x",
    "^^^ +++",
)


def obeyed(text: str) -> list[tuple[str, str]]:
    """The lines that a CI system would obey. A CR ends no line of a log."""
    lines = text.split("\n")
    return [(name, line) for line in lines for name, found in OBEYED.items() if found(line)]


@pytest.fixture(params=[*COMMANDS, f"x\n{COMMANDS[0]}\n{COMMANDS[0]}"])
def word(request: pytest.FixtureRequest) -> str:
    """What the server says, wherever it may say something."""
    return str(request.param)


def test_the_table_of_what_is_obeyed_knows_each_command() -> None:
    assert {name for command in COMMANDS for name, _ in obeyed(command)} == set(OBEYED)


# ── what a server may say, and how it comes out ──────────────────────────────────────────────────


def in_a_status(server: Scripted, word: str) -> None:
    server.on("tools/call", created(statusMessage=word))
    server.on("tasks/get", now(word, statusMessage=word), now("working", statusMessage=word))


def in_the_end(server: Scripted, word: str) -> None:
    server.on("tasks/get", now("failed", error={"code": -32050, "message": word, "data": word}))


def in_a_question(server: Scripted, word: str) -> None:
    field = {"type": "string", "title": word, "description": word, "enum": [word, "a"]}
    server.on("tasks/get", asking(**{word: question(word, **{word: field, "b": {"type": word}})}))


def before_the_start(server: Scripted, word: str) -> None:
    asked = {word: question(word, **{word: {"type": "string", "description": word}})}
    server.on("tools/call", result(resultType="input_required", inputRequests=asked))


def in_a_refusal(server: Scripted, word: str) -> None:
    server.on("tools/call", error(-32603, word, data=word))


def in_an_http_error(server: Scripted, word: str) -> None:
    server.on(
        "tools/call",
        http(
            500,
            word,
            "text/plain",
            X_Reason=word.strip()
            .encode("ascii", "ignore")
            .decode()
            .partition("\x1b")[0]
            .replace("\n", " "),
        ),
    )


def in_a_placeholder(server: Scripted, word: str) -> None:
    blocks = [
        {"type": "image", "mimeType": word, "data": "AAAA"},
        {"type": "resource_link", "name": word, "uri": word, "mimeType": word},
        {"type": "resource", "resource": {"blob": "AAAA", "mimeType": word, "uri": word}},
        {"type": word},
    ]
    server.on("tasks/get", now("completed", result={"content": blocks}))


def in_structured_content(server: Scripted, word: str) -> None:
    server.on("tasks/get", now("completed", result={"structuredContent": {word: [word]}}))


def in_a_tool(server: Scripted, word: str) -> None:
    asked = {"type": "object", "properties": {word: {"type": "string", "description": word}}}
    tools = [
        {"name": word, "description": word, "inputSchema": asked},
        TOOL | {"description": f"{word}\n{word}", "inputSchema": asked},
        {"name": f"{word}2", "inputSchema": {"type": word}},
    ]
    server.on("tools/list", result(tools=tools, ttlMs=0, cacheScope="private"))


def in_an_id(server: Scripted, word: str) -> None:
    server.on("tools/call", created(task_id=word))
    server.on("tasks/get", completed(word))


WAYS: dict[str, Callable[[Scripted, str], None]] = {
    name: way for name, way in globals().items() if name.startswith(("in_", "before_"))
}
COMMANDS_RUN = (
    (*CALL, "--wait", "--timeout", "40s", "-v"),
    (*CALL, "--wait", "--timeout", "5s", "--json"),
    (*CALL, "--wait", "--timeout", "5s", "--jsonl"),
    ("call", "job"),
    ("get", "last"),
    ("list",),
    ("watch", "--all", "--timeout", "5s"),
    ("update", "last"),
    ("tools",),
    ("tools", "job"),
)


@pytest.mark.parametrize("way", WAYS)
def test_no_line_is_a_command_to_a_ci_system_s17(
    on_server: Cli, server: Scripted, way: str, word: str
) -> None:
    WAYS[way](server, word)
    for command in (*COMMANDS_RUN, ("tools", "--", word)):
        ran = on_server(*command, CI="true")
        assert obeyed(ran.err) == [], command
        if not (way == "in_an_id" and command[0] == "call"):  # the id is for a script: exact
            assert obeyed(ran.out) == [], command


def test_what_a_stdio_server_writes_to_stderr_is_no_command_s17(
    process: Callable[..., Ran], tmp_path: Path, word: str
) -> None:
    script = tmp_path / "server.py"
    script.write_text(f"import sys\nsys.stderr.write({word!r} + '\\n')\nprint({word!r})\n")
    command = shlex.join([sys.executable, str(script)])
    ran = process("tools", "-v", "--stdio", command, CI="true", PYTHONUTF8="1")
    assert "x" in ran.err
    assert obeyed(ran.err) == obeyed(ran.out) == []


def test_a_result_goes_to_stdout_as_it_is_s17(on_server: Cli, server: Scripted) -> None:
    text = "##[error]x\n::error::y\n"
    server.on("tasks/get", now("completed", result=tool_result(text)))
    assert on_server(*CALL, "--wait").out == text
