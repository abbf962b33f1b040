"""What many stored tasks cost a command, as whole processes (`scripts/bench store`).

Each command runs on a file of few tasks and on one of many, interleaved, and what it takes longer on the
second is the store's work: reading the file, and for a `call` writing it twice, before and after the wire.
Beside the reach in ms stands a floor of this machine's, measured in the same run: the bytes read, and
written twice to the disk, by bare Python. Exits 0 whatever it finds; with --strict, 1 when it is over.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from startup import ANSWER, MCPTASK, Case, peer, state_file

FEW, MANY, VERY_MANY = 1, 1_000, 10_000
# ms of work beyond start-up on a file of MANY; what VERY_MANY cost is told and held to nothing.
REACH = {"get": 40.0, "call": 60.0}
BARE = {
    "get": "import sys; open(sys.argv[1], 'rb').read()",
    "call": """
import os, sys
data = open(sys.argv[1], "rb").read()
for _ in range(2):
    with open(sys.argv[1] + ".new", "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(sys.argv[1] + ".new", sys.argv[1])
    folder = os.open(os.path.dirname(sys.argv[1]), os.O_RDONLY)
    os.fsync(folder)
""",
}


def mcptask(name: str, count: int, url: str, state: Path) -> Case:
    words = {"get": ["get", str(count)], "call": ["call", "job", "-s", url]}[name]
    return Case(f"{name} {count}", [MCPTASK, *words, "--state", str(state)])


def bare(name: str, count: int, state: Path) -> Case:
    return Case(f"bare {name} {count}", [sys.executable, "-c", BARE[name], str(state)])


def measured(url: str, folder: Path, rounds: int) -> dict[str, Case]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    env = {**kept, "HOME": str(folder)}
    cases: dict[str, Case] = {}
    files: dict[Path, bytes] = {}
    for count in (FEW, MANY, VERY_MANY):
        state = folder / f"{count}" / "tasks.toml"
        state.parent.mkdir(mode=0o700)
        prepare(state, url, count, env)
        files[state] = state.read_bytes()
        for name in REACH:
            for case in (mcptask(name, count, url, state), bare(name, count, state)):
                cases[case.name] = case
    for _ in range(1 + rounds):  # the first round warms caches and is not counted
        for case in cases.values():
            case.measure(env, folder)
        for state, data in files.items():  # each call finds as many as the one before
            state.write_bytes(data)
    for case in cases.values():
        del case.times[:1]
    return cases


def prepare(state: Path, url: str, count: int, env: dict[str, str]) -> None:
    """Tasks as mcptask writes them, the last one ended and its outcome kept."""
    state_file(state, url, count - 1)
    # No more than 200 ended ones are kept.
    state.write_text(state.read_text().replace('"completed"', '"working"'))
    made = [MCPTASK, "call", "job", "--wait", "-s", url, "--state", str(state)]
    done = subprocess.run(made, env=env, cwd=state.parent, capture_output=True, text=True)
    assert ANSWER in done.stdout, done.stderr


def beyond(cases: dict[str, Case], name: str, count: int) -> float:
    """ms that the fastest round took longer than the fastest one with few: of a difference of two medians
    most is what else the machine did."""
    return (min(cases[f"{name} {count}"].times) - min(cases[f"{name} {FEW}"].times)) * 1000


def table(cases: dict[str, Case]) -> bool:
    troubles = [f"{case.name}: {case.trouble}" for case in cases.values() if case.trouble]
    print(*troubles, sep="\n", end="\n" if troubles else "")
    if troubles:
        return False
    print(f"{'command':<10}{'tasks':>8}{'whole':>10}{'work':>9}{'reach':>9}{'bare':>9}{'ratio':>8}")
    all_ok = True
    for name, reach in REACH.items():
        for count in (MANY, VERY_MANY):
            work = beyond(cases, name, count)
            floor = cases[f"bare {name} {count}"].ms
            whole = cases[f"{name} {count}"].ms
            held = count == MANY
            all_ok &= work <= reach or not held
            verdict = ("ok" if work <= reach else "over") if held else ""
            print(
                f"{name:<10}{count:>8}{whole:>7.0f} ms{work:>6.0f} ms"
                f"{f'{reach:.0f} ms' if held else '-':>9}{floor:>6.0f} ms{whole / floor:>7.1f}x  {verdict}"
            )
    return all_ok


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures what many stored tasks cost.")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a figure is over")
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mcptask-bench-") as folder, peer() as url:
        cases = measured(url, Path(folder), options.rounds)
    print(
        f"{options.rounds} interleaved rounds in {time.monotonic() - began:.0f} s (whole: their median, "
        f"work: of the fastest), Python {sys.version.split()[0]}, {os.cpu_count()} CPUs, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return 0 if table(cases) or not options.strict else 1


if __name__ == "__main__":
    sys.exit(main())
