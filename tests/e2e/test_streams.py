"""Standard streams that are closed, full or abandoned: real processes, as a shell starts them."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.running import MCPTASK, PATIENCE, Cli, Ran, environment
from tests.e2e.scripted import Scripted, completed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="redirections of a POSIX shell")
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
Shell = Callable[..., Ran]
KEPT = "hint: what came of a stored task is kept: mcptask list, mcptask get TASK --result\n"


@pytest.fixture
def shell(cwd: Path) -> Shell:
    """`shell("list >&-")`: mcptask with these words and redirections, run by a shell."""

    def one(words: str, **environ: str) -> Ran:
        done = subprocess.run(
            ["sh", "-c", f"exec {sys.executable} -m mcptask {words}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            cwd=cwd,
            env=environment(environ),
            timeout=PATIENCE,
        )
        return Ran(done.returncode, done.stdout, done.stderr).checked((words,))

    return one


@pytest.fixture
def stored(cli: Cli, server: Scripted) -> Scripted:
    """Task 1 is over and its outcome, a long one, is stored."""
    server.on("tasks/get", completed(text="line\n" * 200_000))
    cli("call", "job", "month=x", "-w", "-s", server.url)
    return server


@pytest.mark.parametrize("form", ["", "--json", "--jsonl"])
@pytest.mark.parametrize("words", ["list", "get 1", "servers", "forget 1"])
@pytest.mark.usefixtures("stored")
def test_a_closed_stdout_is_nowhere_to_write_to_and_no_error(
    shell: Shell, words: str, form: str
) -> None:
    ran = shell(f"{words} {form} >&-")
    assert (ran.code, ran.out) == (0, "")
    assert "error" not in ran.err


def test_a_closed_stdout_leaves_the_words_on_stderr_as_they_were(shell: Shell) -> None:
    ran = shell("get 99 >&-")
    assert (ran.code, ran.err) == (2, shell("get 99").err)


@pytest.mark.usefixtures("stored")
def test_a_closed_stderr_takes_nothing_from_stdout(shell: Shell) -> None:
    assert shell("list --json -v 2>&-") == shell("list --json")
    ran = shell("get 99 2>&-")
    assert (ran.code, ran.out, ran.err) == (2, "", "")


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- >&- 2>&-"])
def test_a_call_works_whatever_is_closed(shell: Shell, server: Scripted, closed: str) -> None:
    ran = shell(f"call job month=x --wait -s {server.url} {closed}")
    assert ran.code == 0
    assert (">" in closed) == (ran.out == "")
    assert "error" not in ran.err


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_server_over_stdio_is_reached_whatever_is_closed(shell: Shell, closed: str) -> None:
    """Its pipes must not get the numbers of our own streams."""
    ran = shell(f"call quick text=hi -s demo {closed}")
    assert ran.code == 0, ran.err
    assert (ran.out == "") == (">&-" in closed.replace("2>&-", ""))


@pytest.mark.parametrize("words", ["--version", "--help", "list --help", ""])
def test_help_and_version_stand_a_closed_stdout(shell: Shell, words: str) -> None:
    ran = shell(f"{words} >&-")
    assert ran.code == 0


def test_the_demo_server_ends_at_once_without_a_stdin(shell: Shell) -> None:
    assert shell("demo <&-").code == 0


# ── full ──


@FULL
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    ["list", "list --json", "get 1 --result", "get 1 --jsonl", "watch 1 --jsonl", "--help",
     "list --help", "--version"],
)  # fmt: skip
@pytest.mark.usefixtures("stored")
def test_an_output_that_cannot_be_written_is_said_in_one_line(
    shell: Shell, words: str, unbuffered: str
) -> None:
    ran = shell(f"{words} >/dev/full", PYTHONUNBUFFERED=unbuffered)
    hint = KEPT if words.startswith("watch") else ""
    assert (ran.code, ran.err) == (
        2,
        f"error: cannot write the output: No space left on device\n{hint}",
    )


@FULL
def test_a_full_disk_under_the_lines_of_a_followed_task_ends_the_following(
    shell: Shell, server: Scripted
) -> None:
    ran = shell(f"call job month=x --wait --jsonl -s {server.url} >/dev/full")
    assert ran.code == 2
    assert ran.err.endswith(f"error: cannot write the output: No space left on device\n{KEPT}")


def test_a_stdout_that_is_open_for_reading_only_is_no_bug(shell: Shell) -> None:
    ran = shell("list --json 1</dev/null")
    assert (ran.code, ran.err) == (2, "error: cannot write the output: Bad file descriptor\n")


@FULL
@pytest.mark.usefixtures("stored")
def test_a_full_stderr_changes_neither_output_nor_exit_code(shell: Shell) -> None:
    assert shell("list --json -v 2>/dev/full") == shell("list --json")
    assert shell("get 99 2>/dev/full").code == 2


# ── abandoned ──


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["get 1 --result", "get 1 --json", "get 1 --jsonl"])
@pytest.mark.usefixtures("stored")
def test_a_reader_that_leaves_in_the_middle_is_141_and_silence(words: str, unbuffered: str) -> None:
    with subprocess.Popen(
        [*MCPTASK, *words.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({}) | {"PYTHONUNBUFFERED": unbuffered},
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.parametrize(
    "words",
    ["list --json", "--help", "--version", "call job month=x -s URL", "call job month=x -w --jsonl -s URL"],
)  # fmt: skip
def test_a_reader_that_never_was_is_141_and_says_no_more_than_how_to_come_back(
    server: Scripted, words: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*MCPTASK, *words.replace("URL", server.url).split()],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment({}),
    )
    os.close(writing)
    back = b"Nobody reads stdout any more. One task goes on. Follow it again:  mcptask watch 1\n"
    assert (done.returncode, done.stderr) == (141, back if "-w" in words else b"")


def test_the_null_device_takes_no_file_number_for_good() -> None:
    """A stream that broke is replaced, and what replaced it is given back."""
    code = (
        "import os, sys; from mcptask.cli import run; from mcptask.env import process_env\n"
        "env = process_env(); before = len(os.listdir('/proc/self/fd'))\n"
        "code = run(['list', '--json'], env)\n"
        "print(code, len(os.listdir('/proc/self/fd')) - before, file=sys.stderr)"
    )
    if not Path("/proc/self/fd").exists():
        pytest.skip("needs /proc")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=writing, stderr=subprocess.PIPE, env=environment({})
    )
    os.close(writing)
    assert done.stderr == b"141 0\n"
