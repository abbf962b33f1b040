"""The kill drill (`scripts/drill`). Exit 1 if anything was lost, or done twice."""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.drills.attack import COMMANDS, TRANSPORTS, Figures, Plan, measured, planned, run
from tests.drills.disk import mounted

AT_ONCE = 4  # runs; each waits most of the time
SUMS = ("created", "stored", "marks", "answers", "sent_again", "leftovers")
WORDS = {
    "created": "tasks created by the witness",
    "stored": "tasks in the state files",
    "marks": "marks of calls without an answer",
    "answers": "questions answered",
    "sent_again": "answers sent again, the same",
    "leftovers": "temporary files left by a kill",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/drill", description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", default=None, help="by default another one each time")
    parser.add_argument("--only", type=int, metavar="N", help="repeat one run of this seed")
    wanted = parser.parse_args()
    seed = wanted.seed or str(random.SystemRandom().randrange(10**6))
    began = time.monotonic()
    tmpfs = _can_mount()
    if not tmpfs:
        print("no tmpfs can be mounted here: the disk is full by a limit on file sizes only")
    numbers = range(wanted.runs) if wanted.only is None else [wanted.only]
    plans = [planned(f"{seed}/{number}", number, tmpfs) for number in numbers]
    pairs = [(command, transport) for command in COMMANDS for transport in TRANSPORTS]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        times = dict(zip(pairs, pool.map(lambda pair: measured(*pair), pairs), strict=True))
        found = list(pool.map(lambda p: run(p, times[p.command, p.transport]), plans))
    _tell(plans, found, seed, time.monotonic() - began)
    failed = [
        (number, plan, figures)
        for number, plan, figures in zip(numbers, plans, found, strict=True)
        if figures.violations
    ]
    for number, plan, figures in failed:
        print(f"\nVIOLATED in run {number}: {plan}\n  moment: {figures.moment}")
        print("".join(f"  {each}\n" for each in figures.violations), end="")
        print(f"  again: scripts/drill --seed {seed} --only {number}")
    return 1 if failed else 0


def _can_mount() -> bool:
    with TemporaryDirectory(prefix="drill-") as folder:
        try:
            with mounted(Path(folder) / "disk"):
                return True
        except OSError:
            return False


def _tell(plans: Sequence[Plan], found: Sequence[Figures], seed: str, took: float) -> None:
    print(f"{len(plans)} runs with seed {seed}, in {took:.0f} s")
    for title, kinds in (
        ("command × transport × mode", [(p.command, p.transport, p.mode) for p in plans]),
        ("moment", [(f"{p.mode}: {f.moment}",) for p, f in zip(plans, found, strict=True)]),
    ):
        print(f"\n{title}")
        for kind, count in sorted(Counter(kinds).items()):
            print(f"  {count:5}  {', '.join(kind)}")
    print()
    for name in SUMS:
        print(f"  {sum(getattr(each, name) for each in found):5}  {WORDS[name]}")
    print(f"  {sum(len(each.violations) for each in found):5}  violations")


if __name__ == "__main__":
    sys.exit(main())
