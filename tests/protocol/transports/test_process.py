"""Ending a child and its whole group, whatever it does (A6.4, A6.6)."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from mcptask.protocol.transports import groups
from mcptask.protocol.transports.process import Child, child_environ
from mcptask.protocol.transports.stdio import StdioTransport

GRACE = 0.3

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and groups are POSIX")

# Says its own pid and that of a grandchild, which ignores SIGTERM and the end of its input, and then
# behaves as told.
FAMILY = r"""
import json, os, signal, subprocess, sys, time
stubborn = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print(1, flush=True); time.sleep(60)"
)
first = subprocess.Popen([sys.executable, "-I", "-S", "-c", stubborn], stdout=subprocess.PIPE)
first.stdout.readline()
second = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"])
how = sys.argv[1]
if how == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
sys.stdin.readline()
print(json.dumps({"jsonrpc": "2.0", "id": 1, "result": [os.getpid(), first.pid, second.pid]}), flush=True)
if how == "dies":
    os._exit(1)
sys.stdin.read()
if how != "obedient":
    while True:
        print("x" * 1000, flush=True)  # blocks unless someone goes on reading
        time.sleep(0.001)
"""


def family(how):
    return [sys.executable, "-I", "-S", "-c", FAMILY, how]


def running(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.parametrize("how", ["obedient", "ignores-eof", "stubborn", "dies"])
def test_close_leaves_no_process_of_the_group__A6_6(request_, all_of, how):
    async def main():
        transport = StdioTransport(family(how), environ=os.environ, grace=GRACE)
        (message,) = await all_of(transport, request_())
        pids = message["result"]
        assert running(pids[1])
        start = time.monotonic()
        await transport.close()
        assert time.monotonic() - start < 4 * GRACE + 1
        return pids

    pids = asyncio.run(main())
    assert [pid for pid in pids if running(pid)] == []


def test_a_server_that_ends_with_its_input_costs_no_wait__A6_6(request_, all_of, scripted_child):
    command, _ = scripted_child([{"jsonrpc": "2.0", "id": "$id", "result": {}}])

    async def main():
        transport = StdioTransport(command, environ=os.environ, grace=30)
        await all_of(transport, request_())
        start = time.monotonic()
        await transport.close()
        return time.monotonic() - start

    assert asyncio.run(main()) < 5


def test_a_second_interrupt_during_close_still_kills_the_group(request_, all_of):
    async def main():
        transport = StdioTransport(family("stubborn"), environ=os.environ, grace=30)
        (message,) = await all_of(transport, request_())
        closing = asyncio.ensure_future(transport.close())
        await asyncio.sleep(0.1)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        assert closing.cancelled()
        assert not running(message["result"][0]), (
            "it was waited for: asyncio has nothing left to tell"
        )
        async with asyncio.timeout(5):
            while any(running(pid) for pid in message["result"]):
                await asyncio.sleep(0.01)

    asyncio.run(main())


def test_input_that_the_child_never_reads_does_not_hold_up_the_end(request_):
    async def main():
        code = "import time; time.sleep(60)"
        transport = StdioTransport(
            [sys.executable, "-I", "-S", "-c", code], environ=os.environ, grace=GRACE
        )
        asking = request_(params={"text": "x" * 1_000_000}, wait=0.1)
        messages = transport.exchange(asking)
        with pytest.raises(Exception, match="no answer"):
            await anext(messages)
        await transport.close()

    asyncio.run(main())


def test_a_group_that_survives_everything_is_left_after_the_last_wait(monkeypatch):
    # Only the kernel can make such a process: here it is played.
    monkeypatch.setattr("mcptask.protocol.transports.groups.group_alive", lambda pid: True)
    told = []
    monkeypatch.setattr(
        "mcptask.protocol.transports.groups.signal_group", lambda pid, name: told.append(name)
    )

    async def main():
        child = Child(100, lambda line: None, lambda line: None, lambda how: None)
        code = "import time; time.sleep(60)"
        await child.start([sys.executable, "-I", "-S", "-c", code], None, {})
        child.write(b"x" * 1_000_000)  # never read, so it is dropped, and the pipe with it
        await child.stop(0.2)

    asyncio.run(main())
    assert told == ["SIGTERM", "SIGKILL", "SIGKILL"]


def test_windows_children_get_what_windows_needs():
    own = {"SYSTEMROOT": "C:\\Windows", "PATHEXT": ".EXE", "SECRET": "x", "XDG_DATA_HOME": "/d"}
    assert child_environ(own, {}, windows=True).keys() == {"SYSTEMROOT", "PATHEXT", "XDG_DATA_HOME"}
    assert child_environ(own, {"PATHEXT": "mine"}, windows=False) == {
        "XDG_DATA_HOME": "/d",
        "PATHEXT": "mine",
    }


def test_a_group_that_is_gone_is_neither_alive_nor_an_error():
    pid = 2**22 + 1  # above the largest that Linux gives
    assert not groups.group_alive(pid)
    groups.signal_group(pid, "SIGTERM")


def test_a_zombie_does_not_count_as_alive(tmp_path):
    (tmp_path / "self").mkdir()
    (tmp_path / "7").mkdir()  # it ended while we looked: no stat
    for pid, state in ((8, "Z"), (9, "S")):
        (tmp_path / str(pid)).mkdir()
        stat = f"{pid} (a) b) {state} 1 {pid * 10} {pid * 10} 0"
        (tmp_path / str(pid) / "stat").write_text(stat)
    assert not groups._running_in(80, tmp_path)
    assert groups._running_in(90, tmp_path)


def test_without_proc_a_group_counts_as_alive_until_the_system_says_no(tmp_path):
    assert groups._running_in(1, tmp_path / "none")
