from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pyte
import pytest

SCRIPT = """
import sys
from render_samples import SUBJECT, START, task
from dataclasses import replace
from mcptask.env import process_env
from mcptask.protocol.events import *
from mcptask.protocol.outcome import outcome_of_result
from mcptask.render.live import LiveReporter
import time
env = process_env()
assert env.live
live = LiveReporter(env)
subject = replace(SUBJECT, started=env.clock.now())
for number in range(6):
    live.show(subject, StatusChanged(task(message=f"Reflowing {number}/7 日本"), None))
    time.sleep(0.15)
if sys.argv[1] == "ends":
    live.show(subject, Ended(outcome_of_result({}, task("completed"))))
    live.close()
if sys.argv[1] == "raises":
    raise SystemExit(3)
print("moved 138")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")
@pytest.mark.parametrize(
    ("how", "last"), [("ends", "✓ reflow_month on studio completed"), ("raises", "● reflow_month")]
)
def test_on_a_real_terminal_only_the_last_frame_and_the_result_stay(how: str, last: str) -> None:
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    folder = os.path.dirname(__file__)
    path = os.pathsep.join([folder, os.path.dirname(os.path.dirname(folder))])
    environ = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": path, "PYTHONUTF8": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, how],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environ,
    )
    os.close(follower)
    screen: Any = pyte.Screen(60, 20)
    feed = pyte.ByteStream(screen)
    while True:
        try:
            data = os.read(leader, 65536)
        except OSError:  # how Linux says that nobody has the terminal open any more
            break
        if not data:
            break
        feed.feed(data)
    process.wait()
    os.close(leader)
    lines = [line.rstrip() for line in screen.display if line.strip()]
    assert lines[0].startswith(last)
    assert lines[1:] == ["7 · tsk_8f21c0ffee", *(["moved 138"] if how == "ends" else [])]
    assert not screen.cursor.hidden
