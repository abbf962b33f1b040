"""The same over stdio, and what a terminal looks like afterwards (A6, S18)."""

import shlex
import sys
import termios
from pathlib import Path

import pexpect
import pytest

from tests.hostile_servers.test_over_http import MOST_MIB, WATCH, measured, peer

# Answers the discovery, and then does what follows for each request.
PEER = """
import json, os, sys
def say(text): sys.stdout.write(text); sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    if message["method"] == "server/discover":
        say(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {"supportedVersions":
            ["2026-07-28"], "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}}) + "\\n")
        continue
"""
ATTACKS: dict[str, tuple[str, set[int], str]] = {
    "a line of a gigabyte": (
        "    for _ in range(16384): say('x' * 65536)",
        {9},
        "a line of over 10485760 bytes",
    ),
    "lines without end": ("    while True: say('noise\\n' * 1000)", {124}, "timeout"),
    "notifications without end": (
        '    while True: say(\'{"jsonrpc":"2.0","method":"notifications/x"}\\n\' * 100)',
        {124},
        "timeout",
    ),
    "words on stderr without end": (
        "    while True: os.write(2, b'\\x1b[2J' + b'y' * 65536)",
        {124},
        "timeout",
    ),
    "a deep answer": (
        '    say(\'{"jsonrpc":"2.0","id":%d,"result":%s}\\n\' % '
        "(message['id'], '[' * 50000 + ']' * 50000))",
        {9},
        "nested more than 128 levels deep",
    ),
    "children that stay": (
        "    if os.fork() == 0 and os.fork() == 0:\n        import time; time.sleep(600)\n"
        "    sys.exit(3)",
        {7, 124},
        "",
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_no_program_takes_more_than_200_mib_or_an_odd_end_a6_s18(name: str, tmp_path: Path) -> None:
    attack, codes, said = ATTACKS[name]
    server = tmp_path / "server.py"
    server.write_text(PEER + attack + "\n", encoding="utf-8")
    command = shlex.join([sys.executable, str(server)])
    code, out, err, mebibytes = measured(*WATCH, "--stdio", command)
    told = f"exit {code}, {mebibytes} MiB\n{out}\n{err}"
    assert code in codes, told
    assert said in out + err, told
    assert "Traceback" not in out + err, told
    assert mebibytes < MOST_MIB, told


@pytest.mark.parametrize(
    "kind", ["absurd times", "a body without end", "notifications without end"]
)
def test_the_terminal_is_as_it_was_s17(kind: str) -> None:
    with peer(kind) as url:
        words = ["-m", "mcptask", "watch", "tsk_1", "--timeout", "2s", "-s", url]
        run = pexpect.spawn(sys.executable, words, encoding="utf-8", timeout=60)
        before = termios.tcgetattr(run.child_fd)
        run.expect(pexpect.EOF)
        assert run.before is not None
        assert termios.tcgetattr(run.child_fd)[3] == before[3]
        run.wait()
    shown = run.before
    assert shown.rfind("\x1b[?25h") >= shown.rfind("\x1b[?25l")
    assert "\x1b[?1049" not in shown
    assert run.exitstatus in (124, 9)
