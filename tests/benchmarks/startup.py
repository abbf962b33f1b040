"""What a command costs, as whole processes, beside the floor of the same run (`scripts/bench`).

Times move with the machine, ratios hardly: each command is held to a ratio. The rounds are
interleaved, so that a slow second falls on all alike. Exits 0 whatever it finds; with --strict,
1 when a command is over its ratio.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
MCPTASK = str(Path(sys.executable).with_name("mcptask"))  # as it was installed, not the checkout
TASKS = 50
ANSWER = "moved 138"  # peer.py's result


@dataclass
class Case:
    name: str
    argv: list[str]
    says: str = ""  # what stdout must contain: a fast wrong answer is no answer
    floor: str | None = None  # the name of the case that this one is held against
    reach: float = 0.0  # the ratio to stay within
    times: list[float] = field(default_factory=list)
    trouble: str = ""

    @property
    def ms(self) -> float:
        return statistics.median(self.times) * 1000

    def measure(self, env: dict[str, str], cwd: Path) -> None:
        if self.trouble:
            return
        began = time.perf_counter()
        done = subprocess.run(
            self.argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        self.times.append(time.perf_counter() - began)
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]
            self.trouble = f"exit {done.returncode}: {last}"
        elif self.says not in done.stdout:
            self.trouble = f"exit 0, but no {self.says!r} in {done.stdout!r}"


@contextlib.contextmanager
def peer() -> Iterator[str]:
    """The URL of a server in a process of its own."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "peer.py")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        try:
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        finally:
            process.kill()


def state_file(path: Path, url: str, tasks: int) -> None:
    """The state file of somebody with that many tasks: the first still works, the rest ended."""
    blocks = ["version = 1", f"next_ref = {tasks + 1}"]
    for ref in range(1, tasks + 1):
        blocks.append(f"""
[[tasks]]
ref = {ref}
task_id = "tsk_{ref:08x}c0ffee"
url = "{url}"
protocol = "2026-07-28"
tool = "reflow_month"
status = "{"working" if ref == 1 else "completed"}"
status_message = "Reflowing 142 bookings"
created_at = 2026-09-12T09:00:00Z
poll_interval_ms = 100
seen_at = 2026-09-12T09:00:05Z""")
    path.write_text("\n".join(blocks) + "\n", encoding="utf-8")
    path.chmod(0o600)


def cases(url: str) -> list[Case]:
    python, post = "python -c pass", "bare POST, httpx"
    call = [MCPTASK, "call", "quick", "name=Ada", "-s", url]
    return [
        Case(python, [sys.executable, "-c", "pass"]),
        Case(post, [sys.executable, str(HERE / "bare_post.py"), url], ANSWER),
        Case("--version", [MCPTASK, "--version"], "", python, 3),
        Case("--help", [MCPTASK, "--help"], "cancel", python, 12),
        Case(f"list ({TASKS} tasks)", [MCPTASK, "list"], "reflow_month", python, 12),
        Case("get, ended and stored", [MCPTASK, "get", "last"], ANSWER, python, 12),
        Case("get over HTTP", [MCPTASK, "get", "1"], "", post, 1.5),
        Case("call over HTTP, warm", call, ANSWER, post, 1.5),
    ]


def table(measured: list[Case]) -> bool:
    """Prints what was measured; whether all is within reach."""
    floors = {case.name: case for case in measured if not case.trouble}
    print(f"{'command':<24}{'ms':>8}{'ratio':>9}{'reach':>8}  floor")
    all_ok = True
    for case in measured:
        if case.trouble:
            all_ok = False
            print(f"{case.name:<24}  {case.trouble}")
        elif case.floor not in floors:
            print(f"{case.name:<24}{case.ms:>8.0f}")
        else:
            ratio = case.ms / floors[case.floor].ms
            ok = ratio <= case.reach
            all_ok &= ok
            verdict = "ok" if ok else "over"
            print(
                f"{case.name:<24}{case.ms:>8.0f}{ratio:>8.1f}x{case.reach:>7g}x"
                f"  {case.floor}  {verdict}"
            )
    return all_ok


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures what mcptask's commands cost.")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a ratio is over")
    parser.add_argument("--rounds", type=int, default=15, metavar="N")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="mcptask-bench-") as folder, peer() as url:
        home = Path(folder)
        state = home / "tasks.toml"
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        env = {**kept, "HOME": folder, "MCPTASK_STATE": str(state)}
        # The last task is made by mcptask itself, so that its outcome is stored the way it stores.
        state_file(state, url, TASKS - 1)
        made = Case("call job --wait", [MCPTASK, "call", "job", "--wait", "-s", url])
        made.measure(env, home)
        if made.trouble:
            print(f"making a task to get later: {made.trouble}")
        measured = cases(url)
        for _ in range(1 + options.rounds):  # the first round warms caches and is not counted
            for case in measured:
                case.measure(env, home)
        for case in measured:
            del case.times[:1]
    print(f"medians of {options.rounds} interleaved rounds, Python {sys.version.split()[0]}")
    return 0 if table(measured) or not options.strict else 1


if __name__ == "__main__":
    sys.exit(main())
