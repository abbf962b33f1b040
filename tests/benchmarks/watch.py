"""What it costs to wait, as whole processes against servers of this machine (`scripts/bench watch`).

Three parts: how soon the end of a task is heard (latency), what a thousand tasks cost (scale), and
what it costs while nothing happens (idle). Exits 0 whatever it finds; with --strict, 1 when
something is out of reach.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from pathlib import Path

import idle
import latency
import scale
from watching import World

PARTS = {"latency": latency.measure, "scale": scale.measure, "idle": idle.measure}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures what it costs to wait for tasks.")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a figure is over")
    parser.add_argument("--rounds", type=int, metavar="N", help="waiting commands of each kind")
    parser.add_argument("--quick", action="store_true", help="fewer tasks, for a shorter time")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; repeatable")
    parser.add_argument("--demo-python", default=sys.executable, help=argparse.SUPPRESS)
    options = parser.parse_args()

    rounds = options.rounds or (5 if options.quick else 15)
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory(prefix="mcptask-bench-") as folder:
        world = World(Path(folder), options.demo_python)
        parts = options.only or list(PARTS)
        held = [PARTS[name](world, rounds, quick=options.quick) for name in parts]
    return 0 if all(held) or not options.strict else 1


if __name__ == "__main__":
    sys.exit(main())
