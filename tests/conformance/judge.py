"""Runs the official suite on mcptask and on the demo server:  python -m tests.conformance.judge [SCENARIO…]

`scripts/conformance` installs the suite and says in the environment where Node and the suite are.
Exit code 1 with the reasons where a scenario did not go as scenarios.py demands.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.conformance.scenarios import CLIENT, LEFT_OUT, SERVER, Scenario
from tests.conformance.verdict import Check, Run, faults, named, unaccounted

ROOT = Path(__file__).parents[2]
# The suite splits it at spaces, and a path may have some: PATH knows this Python.
DRIVER = "python -m tests.conformance.client"
AT_ONCE = 2  # most of a scenario's time is Node starting, or a task taking its time
SCENARIO_S = 120  # bounds one scenario, so that a hang is a failure
START_S = 30  # the server's start, on a busy machine
LOG, LONGEST_LOG = "server.log", 10_000  # characters of its end


def _suite(*argv: str) -> tuple[int, str]:
    """The exit code and all output. The suite starts our driver through a shell: all of them end."""
    node, suite = (os.environ[f"MCPTASK_CONFORMANCE_{name}"] for name in ("NODE", "SUITE"))
    process = subprocess.Popen(
        [node, suite, *argv],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        told, _ = process.communicate(timeout=SCENARIO_S)
    except subprocess.TimeoutExpired:
        return 1, f"not done within {SCENARIO_S} s"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return process.returncode, told


@contextlib.contextmanager
def _fixture_server(folder: Path) -> Iterator[str]:
    """The demo's engine with the suite's tools, as a process; yields its URL."""
    log = folder / LOG
    with log.open("w") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.conformance.fixture_server", "127.0.0.1:0"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stderr=stderr,
        )
    try:
        yield _url(process, log)
    finally:
        process.terminate()
        process.wait(START_S)


def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"http://\S+(?=\n)", log.read_text()):
            return found[0]
        time.sleep(0.05)
    sys.exit(f"the fixture server did not start:\n{log.read_text()}")


def _judge(folder: Path, url: str, name: str) -> tuple[str, str]:
    """One scenario: `ok`, `none` or `FAILED`, and what is told of it."""
    demanded = (CLIENT | SERVER)[name]
    out = folder / name
    against = ["client", "--command", DRIVER] if name in CLIENT else ["server", "--url", url]
    at = ["--spec-version", demanded.revision] if demanded.revision else []
    code, told = _suite(*against, "--scenario", name, *at, "-o", str(out))
    try:
        checks = _checks(out)
    except ValueError as error:
        return "FAILED", f"{error}\n{told}".rstrip()
    run = Run(code, checks, _written(out, "stderr.txt"))
    if found := faults(demanded, run):
        reasons = "".join(f"\n    - {fault}" for fault in found)
        more = _written(out, "stdout.txt") if run.checks else told
        return "FAILED", f"{_counted(demanded, run)}{reasons}\n{more}".rstrip()
    return ("none", demanded.note) if demanded.note else ("ok", _counted(demanded, run))


def _written(out: Path, name: str) -> str:
    """A file of the folder that the suite makes in the one it is given."""
    return "".join(path.read_text() for path in out.glob(f"*/{name}"))


def _checks(out: Path) -> list[Check]:
    """The checks of one run; none where the suite wrote none. ValueError where they cannot be told."""
    match sorted(out.glob("*/checks.json")):
        case []:
            return []
        case [path]:
            checks: list[Check] = json.loads(path.read_text())
            return checks
        case several:
            folders = ", ".join(path.parent.name for path in several)
            raise ValueError(f"one run is to be judged, and the suite left several: {folders}")


def _counted(demanded: Scenario, run: Run) -> str:
    return f"{len(named(run.checks, 'SUCCESS'))}/{demanded.passed}"


def _judge_all(names: list[str], folder: Path, url: str) -> Counter[str]:
    words: Counter[str] = Counter()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        judged = pool.map(partial(_judge, folder, url), names)
        for name, (word, told) in zip(names, judged, strict=True):
            print(f"{word:6}  {name}  {told}", flush=True)
            words[word] += 1
    return words


def main(names: list[str]) -> int:
    """Judges these scenarios, or all. Returns the exit code."""
    known = CLIENT | SERVER
    if unknown := [name for name in names if name not in known]:
        sys.exit(f"no such scenario: {', '.join(unknown)}; there are {', '.join(known)}")
    strays = [] if names else unaccounted(_suite("list")[1], known, LEFT_OUT)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        place, chosen = Path(folder), names or list(known)
        wants_server = not SERVER.keys().isdisjoint(chosen)
        url = stack.enter_context(_fixture_server(place)) if wants_server else ""
        words = _judge_all(chosen, place, url)
        if words["FAILED"] and wants_server:
            print(f"the fixture server said: {(place / LOG).read_text()[-LONGEST_LOG:]}")
    for stray in strays:
        print(f"FAILED  {stray}")
    print(f"{words['ok']} ok, {words['none']} without a check, {words['FAILED']} failed")
    return 1 if words["FAILED"] or strays else 0


if __name__ == "__main__":
    # Whoever ends the judge ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main(sys.argv[1:]))
