"""Records a trace with each message of the Tasks extension:  python -m tests.conformance.record TRACE

Runs mcptask, as processes, against the demo server over HTTP and over stdio. An exit code that was not
expected ends it with 1.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mcptask.errors import ExitCode

MCPTASK = [sys.executable, "-m", "mcptask"]
PATIENCE = 60.0  # s for one command, so that a hang is a failure

# Each line in its turn; tasks are counted from 1.
LINES = (
    ("call slow_echo text=é seconds=0.3 --wait", ExitCode.OK),
    ("call flaky seconds=0 --wait", ExitCode.TOOL_ERROR),
    ("call crash seconds=0 --wait", ExitCode.FAILED),
    ("call slow_echo text=x seconds=60", ExitCode.OK),
    ("get 4", ExitCode.OK),
    ("cancel 4 --wait", ExitCode.CANCELLED),
    ("call reflow_month month=2026-09 seconds=0.2 ask=true --wait", ExitCode.INPUT_REQUIRED),
    ("update 5 action=waitlist --wait", ExitCode.OK),
)


@contextlib.contextmanager
def demo_over_http(environ: dict[str, str]) -> Iterator[str]:
    """The URL of a demo server."""
    process = subprocess.Popen(
        [*MCPTASK, "demo", "--http", "127.0.0.1:0"], env=environ, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    try:
        told = process.stderr.readline()
        found = re.search(r"http://\S+", told)
        yield found[0] if found else sys.exit(f"the demo did not start: {told}")
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stderr.close()


def record(server: str, environ: dict[str, str]) -> None:
    for line, expected in LINES:
        starts = ("--server", server) if line.startswith("call") else ()
        command = [*MCPTASK, *line.split(), *starts]
        ended = subprocess.run(
            command,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if ended.returncode != expected:
            sys.exit(f"mcptask {line}: exit {ended.returncode}\n{ended.stdout}{ended.stderr}")


def main(trace: str) -> None:
    for front in ("http", "stdio"):
        with tempfile.TemporaryDirectory() as home:
            kept = {name: value for name, value in os.environ.items() if name[:4] != "XDG_"}
            environ = kept | {"HOME": home, "MCPTASK_TRACE": str(Path(trace).absolute())}
            if front == "http":
                with demo_over_http(environ) as url:
                    record(url, environ)
            else:
                record("demo", environ)


if __name__ == "__main__":
    main(sys.argv[1])
