"""What a hostile server can do to a command: nothing but end it, in bounded time and memory (A5.9, S18)."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hostile_servers.peer import KINDS

ROOT = Path(__file__).parents[2]
MOST_MIB = 200
# Runs the rest of the line and says how much memory it took, in MiB, below its output.
MEASURED = """
import resource, subprocess, sys
ran = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, capture_output=True, timeout=90)
sys.stdout.buffer.write(ran.stdout[-3000:])
sys.stderr.buffer.write(ran.stderr[-3000:])
sys.stderr.write(f"\\n{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024}")
sys.exit(ran.returncode)
"""
GET = ("get", "tsk_1", "--json", "--timeout", "3s")
SLOW = ("get", "tsk_1", "--json")
WATCH = ("watch", "tsk_1", "--json", "--no-input", "--timeout", "3s")
PATIENT = ("watch", "tsk_1", "--json", "--no-input", "--timeout", "60s")
TOOLS = ("tools",)
# What is asked of it, the exit codes that may come, and words that must be in the output.
ENDS: dict[str, tuple[tuple[str, ...], set[int], str]] = {
    "a body without end": (SLOW, {9}, "--max-message"),
    "a length that lies": (SLOW, {9}, "--max-message"),
    "comments without end": (GET, {124}, "timeout"),
    "events of another type": (GET, {124}, "timeout"),
    "notifications without end": (GET, {124}, "timeout"),
    "answers to somebody else": (GET, {124}, "timeout"),
    "an event of a gigabyte": (SLOW, {9}, "--max-message"),
    "a header without end": (SLOW, {7, 9}, ""),
    "headers without end": (SLOW, {7, 9}, ""),
    "a bomb of gzip": (SLOW, {9}, "--max-message"),
    "gzip in gzip": (GET, {9}, "content coding"),
    "a coding unknown here": (GET, {9}, "content coding"),
    "slow headers": (GET, {124}, "timeout"),
    "a slow body": (GET, {124}, "timeout"),
    "a slow stream": (GET, {124}, "timeout"),
    "no answer": (GET, {124}, "timeout"),
    "nesting": (SLOW, {9}, "arrays and objects"),
    "millions of arrays": (SLOW, {9}, "--max-message"),
    "millions of numbers": (SLOW, {9}, "over 262144 values"),
    "a few numbers too many": (SLOW, {9}, "--max-message"),
    "millions of keys": (SLOW, {9}, "--max-message"),
    "as many keys as may be": (SLOW, {0}, ""),
    "as many objects as may be": (SLOW, {0}, ""),
    "a number of a million digits": (SLOW, {7, 9}, ""),
    "a message of 9 MiB": (WATCH, {124}, "timeout"),
    "absurd times": (WATCH, {124}, "timeout"),
    "a text of 10 MiB": (SLOW, {0}, ""),
    "a hundred thousand questions": (PATIENT, {9}, "--max-message"),
    "five hundred questions": (PATIENT, {3}, ""),
    "a question of 5 MiB": (PATIENT, {3}, ""),
    "a hundred thousand choices": (PATIENT, {3}, ""),
    "pages with one cursor": (TOOLS, {0}, "--max-tools"),
    "pages without end": (TOOLS, {0}, "--max-tools"),
    "a million tools": (TOOLS, {0}, "the first 10000 were read"),
}


@contextmanager
def peer(kind: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.hostile_servers.peer", kind]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/mcp"
        finally:
            server.kill()


def measured(*words: str) -> tuple[int, str, str, int]:
    """The exit code, the ends of stdout and stderr, and the most memory it had, in MiB."""
    command = [sys.executable, "-c", MEASURED, sys.executable, "-m", "mcptask", *words]
    ran = subprocess.run(command, capture_output=True, text=True)
    err, _, mebibytes = ran.stderr.rpartition("\n")
    return ran.returncode, ran.stdout, err, int(mebibytes)


def test_every_kind_of_attack_has_an_end_that_is_stated() -> None:
    assert ENDS.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", ENDS)
def test_no_server_takes_more_than_200_mib_or_an_odd_end_a5_9_s18(kind: str) -> None:
    words, codes, said = ENDS[kind]
    with peer(kind) as url:
        code, out, err, mebibytes = measured(*words, "-s", url)
    told = f"exit {code}, {mebibytes} MiB\n{out}\n{err}"
    assert code in codes, told
    assert said in out + err, told
    assert "Traceback" not in out + err, told
    assert mebibytes < MOST_MIB, told


def test_the_bounds_can_be_raised_by_whoever_trusts_the_server_s18() -> None:
    with peer("a few numbers too many") as url:
        code, out, _, _ = measured(*SLOW, "--max-message", "12M", "-s", url)
    assert (code, out.rstrip()[-1]) == (0, "}")
    with peer("a million tools") as url:
        code, out, err, _ = measured(*TOOLS, "--max-tools", "30000", "-s", url)
    assert "the first 30000 were read" in err
    assert code == 0


def test_a_document_is_whole_json_also_where_the_message_was_not_s18() -> None:
    with peer("a body without end") as url:
        _, out, _, _ = measured(*SLOW, "-s", url)
    error = json.loads(out)["error"]
    assert error["kind"] == "protocol"
    assert "10485760 bytes" in error["message"]
