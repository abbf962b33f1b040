"""`--json` prints one document and `--jsonl` ends with one, whatever happened."""

import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.e2e.running import MCPTASK, Cli, Process, Ran, environment
from tests.e2e.scripted import Scripted, completed, created

REFUSED_BY_THE_PARSER = [
    ["call"],
    ["call", "job", "--no-such-option"],
    ["call", "job", "--timeout"],
    ["get"],
    ["get", "1", "2"],
    ["list", "--limit", "0"],
    ["list", "--limit", "many"],
    ["cancel"],
    ["update"],
    ["nonsense"],
    ["--nonsense"],
]
REFUSED_BY_US = [
    ["call", "job", "month=x"],
    ["call", "job", "-s", "nowhere"],
    ["call", "job", "-s", "demo", "--stdio", "true"],
    ["call", "job", "-s", "demo", "--header", "A: b"],
    ["call", "job", "-s", "http://"],
    ["call", "job", "--stdio", "'"],
    ["call", "job", "-s", "demo", "--timeout", "soon"],
    ["call", "job", "-s", "demo", "--on-interrupt", "explode"],
    ["get", "7"],
    ["get", "last"],
    ["watch"],
    ["watch", "--all", "7"],
    ["update", "7", "a=b"],
    ["update", "7", "--decline", "--cancel"],
    ["cancel", "7"],
    ["forget"],
    ["forget", "7"],
    ["forget", "--ended", "7"],
    ["list", "--status", "sleeping"],
    ["list", "--config", "nowhere.toml", "--refresh", "--state", "/"],
    ["tools"],
    ["servers", "--config", "nowhere.toml"],
]


@pytest.mark.parametrize("words", [*REFUSED_BY_THE_PARSER, *REFUSED_BY_US], ids=" ".join)
def test_a_usage_error_is_a_document_too(cli: Cli, words: list[str]) -> None:
    ran = cli(*words, "--json")
    body = ran.document
    assert (body["exitCode"], body["outcome"], body["error"]["kind"]) == (2, "usage", "usage")
    assert body["error"]["message"]
    assert ran.err == ""


@pytest.mark.parametrize("words", [*REFUSED_BY_THE_PARSER, *REFUSED_BY_US], ids=" ".join)
def test_a_usage_error_in_text_is_on_stderr_with_stdout_left_empty(
    cli: Cli, words: list[str]
) -> None:
    ran = cli(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")


@pytest.mark.parametrize("words", [["nonsense"], ["get", "7"], ["call"]], ids=" ".join)
def test_an_error_in_json_lines_is_the_one_line_that_ends_it(cli: Cli, words: list[str]) -> None:
    (line,) = cli(*words, "--jsonl").events
    assert line["document"]["error"]["kind"] == "usage"


def test_both_formats_at_once_are_refused_with_a_document(cli: Cli) -> None:
    assert cli("list", "--json", "--jsonl").code == 2


@pytest.mark.parametrize("words", [["list"], ["servers"], ["forget", "--ended"]], ids=" ".join)
def test_commands_about_no_single_task_print_one_document_as_well(
    cli: Cli, words: list[str]
) -> None:
    assert json.loads(cli(*words, "--json").out)["mcptask"] == 1


def test_after_two_dashes_json_is_an_argument_and_no_format(
    on_server: Cli, server: Scripted
) -> None:
    ran = on_server("call", "job", "month=x", "--", "--json")
    assert ran.code == 2
    assert ran.err.startswith("error: ")


def test_a_short_option_group_and_an_option_value_do_not_confuse_the_format(
    on_server: Cli, server: Scripted
) -> None:
    """`--json` as the value of another option is that option's value."""
    server.on("tasks/get", completed())
    assert on_server("call", "job", "month=x", "-qw").err == ""


def test_long_texts_go_through_a_narrow_pipe_unbroken(
    start: Callable[..., Process], server: Scripted
) -> None:
    text = "words and spaces " * 400 + "\x1b[31m\u202e\u2028 ünïcödé \x9b"
    server.on("tasks/get", completed(text=text))
    ran = start("call", "job", "month=x", "-w", "--json", "-s", server.url, COLUMNS="40").end()
    assert ran.document["result"]["content"][0]["text"] == text
    assert max(map(len, ran.out.splitlines())) > 6000


def test_a_pipe_into_another_program_reads_one_document(server: Scripted, cli: Cli) -> None:
    server.on("tasks/get", completed(text="long " * 100))
    call = [*MCPTASK, "call", "job", "month=x", "-w", "--json", "-s", server.url]
    reader = "import json,sys; print(json.load(sys.stdin)['outcome'])"
    with subprocess.Popen(
        call, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment({"COLUMNS": "40"})
    ) as first:
        done = subprocess.run(
            [sys.executable, "-c", reader], stdin=first.stdout, capture_output=True, text=True
        )
    assert done.stdout == "completed\n"


def test_a_reader_that_leaves_early_is_no_bug(server: Scripted, cli: Cli) -> None:
    """As `mcptask … | head -1`: no traceback, and the usual status of a broken pipe."""
    server.on("tasks/get", completed(text="line\n" * 200_000))
    cli("call", "job", "month=x", "-w", "-s", server.url)
    with subprocess.Popen(
        [*MCPTASK, "get", "1", "--result"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({}),
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.read(5) == b"line\n"
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_the_id_can_be_taken_by_a_script(process: Callable[..., Ran], server: Scripted) -> None:
    """id=$(mcptask call …)"""
    server.on("tools/call", created("tsk-1"))
    ran = process("call", "job", "month=x", "-s", server.url)
    assert ran.out == "tsk-1\n"
    assert "mcptask watch 1" in ran.err


def test_utf8_is_not_needed_of_the_locale(process: Callable[..., Ran], server: Scripted) -> None:
    server.on("tasks/get", completed(text="grün ✓"))
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = process("call", "job", "month=x", "-w", "-s", server.url, **plain)
    assert (ran.code, ran.out) == (0, "gr\\xfcn \\u2713\n")
    body = process("get", "1", "--json", **plain).document
    assert body["result"]["content"][0]["text"] == "grün ✓"
