"""From the moment the server ends a task to the exit of whoever waits for it.

All of a round wait at once, each with a state file of its own; then one task after another is ended,
far enough apart that no exit disturbs another. The moment is the server's: its own stamp.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from changes import too_many
from changing_peer import Plan
from watching import (
    HERE,
    MCPTASK,
    ChangingPeer,
    Running,
    Trouble,
    World,
    changing_peer,
    paced_demo,
    until,
    verdict,
)

from mcptask.origin import Origin

REACH = 0.060  # s
STARTS_APART = 0.3  # s between two processes that start
ENDS_APART = 0.3  # s between two tasks that end
SOON = 3.0  # s that a command may take to begin to wait
ROUND_TRIP = 0.005  # s that a request takes on this machine at most

WATCH, CALL, BARE = "watch", "call --wait", "bare httpx"
Waiting = list[tuple[str, Running]]
Task = dict[str, str]
# {command: delays in seconds}, and whether the server was never asked too often
Late = tuple[Mapping[str, Sequence[float]], bool]
Run = Callable[[World, str, int, int], Late]
HEAD = (
    f"{'server':<11}{'how':<6}{'interval':>9}  {'command':<12}{'n':>4}{'least':>7}{'median':>8}"
    f"{'p90':>8}{'most':>8}{'reach':>8}   (ms)"
)


def measure(world: World, rounds: int, *, quick: bool) -> bool:
    """Prints a line for each command; whether all is within reach."""
    print("\nfrom the end of a task to the exit of the command")
    print(
        f"(in which what was noted is flushed twice, each {durable_ms(world):.1f} ms here)\n{HEAD}"
    )
    held = []
    for how in ("push", "poll"):
        for poll_ms in (500, 5000) if quick and how == "poll" else (500, 5000, 30_000):
            held += [told("peer", how, poll_ms, _peer, world, rounds)]
        for poll_ms in (500, 30_000) if how == "push" else (500,):
            held += [told("demo http", how, poll_ms, _demo_http, world, rounds)]
            held += [told("demo stdio", how, poll_ms, _demo_stdio, world, min(rounds, 7))]
    return all(held)


def durable_ms(world: World) -> float:
    """The median time that a small file takes to be on this disk for good: the state file and the result
    are, and so are their folders, before a command says that a task is over."""
    times = []
    for _ in range(20):
        began = time.perf_counter()
        with (world.folder / "durable").open("wb") as file:
            file.write(bytes(500))
            file.flush()
            os.fsync(file.fileno())
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def told(server: str, how: str, poll_ms: int, run: Run, world: World, rounds: int) -> bool:
    """Prints the lines of one server; whether they are within reach."""
    start = f"{server:<11}{how:<6}{poll_ms / 1000:>7g} s"
    try:
        late, polled_well = run(world, how, poll_ms, rounds)
    except Trouble as trouble:
        print(f"{start}  {trouble}", flush=True)
        return False
    most = 0.0 if how == "push" else poll_ms / 1000 + ROUND_TRIP
    ok = polled_well
    for command, delays in late.items():
        # With push the median counts, with polling the slowest: "never later".
        seen = statistics.median(delays) if how == "push" else max(delays)
        within = command == BARE or seen <= most + REACH
        ok &= within
        delays = sorted(delays)
        shown = (delays[0], statistics.median(delays), delays[len(delays) * 9 // 10], delays[-1])
        row = "".join(f"{1000 * each:>8.0f}" for each in shown)[1:]
        floor = "floor" if command == BARE else verdict(within)
        reach = 1000 * (most + REACH)
        print(f"{start}  {command:<12}{len(delays):>4}{row}{reach:>8.0f}  {floor}", flush=True)
    if not polled_well:
        print(f"{start}  asked more often than the interval allows")
    return ok


# ── the peer, which ends a task when it is told to ───────────────────────────────────────────────


def _peer(world: World, how: str, poll_ms: int, rounds: int) -> Late:
    plan = Plan(tasks=2 * rounds, poll_ms=poll_ms, push=how == "push")
    with changing_peer(plan) as peer:
        with _waiting() as waiting:
            for turn in range(1, rounds + 1):
                waiting += _one_of_each(world, peer.url, how, turn, rounds)
            count = len(waiting)
            until(lambda: len(_met(peer, how)) == count, f"{count} commands that wait")
            moments = _end_all(peer, _met(peer, how), 0.0 if how == "push" else poll_ms / 1000)
            late = _late(waiting, poll_ms, lambda task: moments[task["taskId"]])
        return late, how == "push" or too_many(peer.log(), poll_ms / 1000) == 0


def _one_of_each(world: World, url: str, how: str, turn: int, rounds: int) -> Waiting:
    origin = Origin(url=url)
    stored, floor = f"tsk_{turn}", f"tsk_{rounds + turn}"
    commands = {
        WATCH: ([MCPTASK, "watch", "1", "--json"], [stored]),
        CALL: ([MCPTASK, "call", "job", "--wait", "--json", "-s", url], []),
        BARE: ([sys.executable, str(HERE / "bare_watch.py"), url, floor, how], []),
    }
    started = []
    for command, (argv, task_ids) in commands.items():
        state = world.state(f"{command.split()[0]}-{turn}", origin, task_ids)
        started.append((command, Running(argv, world.env(state), state.with_name("out"))))
        time.sleep(STARTS_APART)
    return started


def _met(peer: ChangingPeer, how: str) -> list[str]:
    """The tasks that somebody waits for by now; whoever has just made one does."""
    log = peer.log()
    asked = [task_id for task_id, moments in log["gets"].items() if moments]
    return list(log["pushedTo"] if how == "push" else {*asked, *log["made"]})


def _end_all(peer: ChangingPeer, task_ids: list[str], spread: float) -> dict[str, float]:
    """Ends them in a random order, over at least `spread` seconds; {task id: when}."""
    random.Random(1).shuffle(task_ids)
    apart = max(ENDS_APART, spread / len(task_ids))
    moments = {}
    time.sleep(1.0)
    for task_id in task_ids:
        time.sleep(apart * random.uniform(0.7, 1.3))
        moments[task_id] = peer.end(task_id)
    return moments


# ── the demo, which ends its tasks by itself and says when ───────────────────────────────────────


def _demo_http(world: World, how: str, poll_ms: int, rounds: int) -> Late:
    store = world.folder / f"http-{how}-{poll_ms}.sqlite3"
    with paced_demo(world, poll_ms, how, store) as url:
        return _demo(world, lambda turn: ["-s", url], poll_ms, rounds)


def _demo_stdio(world: World, how: str, poll_ms: int, rounds: int) -> Late:
    def server(turn: int) -> list[str]:
        store = world.folder / f"stdio-{how}-{poll_ms}-{turn}.sqlite3"
        argv = [sys.executable, str(HERE / "paced_demo.py"), str(poll_ms), how, str(store)]
        return ["--stdio", shlex.join(argv)]

    return _demo(world, server, poll_ms, rounds)


def _demo(world: World, server: Callable[[int], list[str]], poll_ms: int, rounds: int) -> Late:
    first_end = time.time() + 4 + 5 * STARTS_APART * rounds
    with _waiting() as waiting:
        for turn in range(rounds):
            for nth, command in enumerate((WATCH, CALL)):
                state = world.state(f"demo-{nth}-{turn}", Origin(), [])
                end = first_end + (2 * turn + nth) * ENDS_APART
                waiting.append((command, _start(world, state, command, end, server(turn))))
                time.sleep(STARTS_APART)
        return _late(waiting, poll_ms, _updated), True


def _start(world: World, state: Path, command: str, end: float, server: list[str]) -> Running:
    """A command that waits for a task of its own, which is to end at `end`, or later if that is soon."""
    left = max(end - time.time(), SOON)
    call = [MCPTASK, "call", "slow_echo", "text=a", f"seconds:={left:.2f}", *server]
    env, out = world.env(state), state.with_name("out")
    if command == CALL:
        return Running([*call, "--wait", "--json"], env, out)
    Running(call, env, out).checked()
    return Running([MCPTASK, "watch", "--json"], env, out)


def _updated(task: Task) -> float:
    return datetime.fromisoformat(task["lastUpdatedAt"]).timestamp()


# ── those who wait ───────────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def _waiting() -> Iterator[Waiting]:
    """A list for the processes that are started inside; none of them outlives it."""
    waiting: Waiting = []
    try:
        yield waiting
    finally:
        for _, running in waiting:
            running.stop()


def _late(
    waiting: Waiting, poll_ms: int, end_of: Callable[[Task], float]
) -> dict[str, list[float]]:
    """{command: the seconds from the end of its task to its exit}"""
    late: dict[str, list[float]] = {}
    for command, running in waiting:
        said = json.loads(running.checked(poll_ms / 1000 + 60).out)
        task = said.get("task", said)  # of a document, or bare
        late.setdefault(command, []).append(running.ended - end_of(task))
    return late
