"""Many tasks in one `watch --all`: is every change heard, and what does a task cost?

The tasks report every few seconds, about ten times as often as in earnest, and end at random in the
second half of the time. So a minute holds ten minutes' worth of changes.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any

from changes import Compared, compare, overdue, too_many
from changing_peer import Plan
from watching import MCPTASK, Running, Trouble, World, changing_peer, peak

from mcptask.origin import Origin

MIB, CORE = 150, 0.5  # of memory, and of a core at one poll a second for so many tasks:
TASKS_A_POLL = 100
CHANGE = 3.0  # s from one report of a task to the next, on average
INTERVAL = 10.0  # s that the server wants between two polls
ANSWER = 0.002  # s that the server takes for an answer
AT_ONCE = 8  # requests under way at one server
FLAT = 2.0  # what a task may cost among very many, as a multiple of what it costs among fewer

NOTHING = Compared(0, 0, 0, [])
HEAD = (
    f"{'tasks':>6} {'how':<5} {'as':<9}{'wall s':>7}{'MiB':>6}{'cores':>7}{'changes':>9}{'lost':>6}"
    f"{'requests':>9}{'at once':>8}{'pushes':>8}{'ms/task':>9}{'KiB/task':>9}{'ms/event':>9}"
)


@dataclass
class Ran:
    tasks: int
    how: str
    shown: str
    running: Running
    rss_mib: float
    log: dict[str, Any]
    compared: Compared

    @property
    def wall(self) -> float:
        return self.running.ended - self.running.began

    @property
    def requests(self) -> int:
        return sum(self.log["heard"].values())

    @property
    def polls(self) -> int:
        return sum(map(len, self.log["gets"].values()))

    @property
    def pushes(self) -> int:
        return int(self.log["said"].get("pushes", 0))

    @property
    def share(self) -> float:
        """The part of a core; of the fewer polls that the figure speaks of, by what one costs here."""
        if self.how == "push":
            return self.running.cpu / self.wall
        return self.running.cpu / max(self.polls, 1) * self.tasks / TASKS_A_POLL


def measure(world: World, rounds: int, *, quick: bool) -> bool:
    """Prints a line for each number of tasks; whether all is within reach."""
    seconds, counts = (10.0, (10, 100)) if quick else (60.0, (10, 100, 1000))
    print(f"\n`watch --all` of tasks that change every {CHANGE:.0f} s for {seconds:.0f} s")
    print(f"cost per task and event is what comes on top of one task\n{HEAD}")
    held = [_curve(world, how, counts, seconds) for how in ("push", "poll")]
    short, long = (10.0, 20.0) if quick else (20.0, 60.0)
    return all([*held, _independent(world, 100, short, long)])


def _curve(world: World, how: str, counts: tuple[int, ...], seconds: float) -> bool:
    held, cost = [], {}
    floor = None
    shapes = [(count, "--jsonl") for count in (1, *counts)]
    for tasks, shown in [*shapes, (counts[-1], "--json"), (counts[-1], "terminal")]:
        try:
            ran = run(world, tasks, how, shown, seconds)
        except Trouble as trouble:
            print(f"{tasks:>6} {how:<5} {shown:<9}  {trouble}", flush=True)
            held.append(False)
            continue
        floor = floor or ran
        print(_row(ran, floor), flush=True)
        held.append(_within(ran))
        if shown == "--jsonl":
            cost[tasks] = (ran.running.cpu - floor.running.cpu) / tasks
    few, many = cost.get(counts[-2]), cost.get(counts[-1])
    if few and many and many > FLAT * few:
        print(f"       OVER: a task costs {many / few:.1f} times as much among {counts[-1]}")
        held.append(False)
    return all(held)


def _row(ran: Ran, floor: Ran) -> str:
    cpu, rss = ran.running.cpu, ran.rss_mib
    events = ran.polls + ran.pushes
    more = cpu - floor.running.cpu
    return (
        f"{ran.tasks:>6} {ran.how:<5} {ran.shown:<9}{ran.wall:>7.1f}{rss:>6.0f}{cpu / ran.wall:>7.2f}"
        f"{ran.compared.visible:>9}{ran.compared.lost:>6}{ran.requests:>9}{ran.log['busiest']:>8}"
        f"{ran.pushes:>8}{1000 * more / ran.tasks:>9.1f}"
        f"{1024 * (rss - floor.rss_mib) / ran.tasks:>9.1f}{1000 * more / events:>9.2f}"
    )


def _within(ran: Ran) -> bool:
    """Says what is out of reach, and how late the changes were told."""
    beyond = too_many(ran.log, INTERVAL) if ran.how == "poll" else 0
    faults = {
        f"{ran.compared.lost} changes were never told": ran.compared.lost > 0,
        f"{ran.compared.back} changes were told after newer ones": ran.compared.back > 0,
        f"more than {MIB} MiB": ran.rss_mib > MIB,
        f"{beyond} polls more than the intervals allow": beyond > 0,
        f"more than {AT_ONCE} requests at once": ran.log["busiest"] > AT_ONCE,
        f"more than {CORE} of a core": ran.share > CORE,
    }
    delays = {"until a change was told": sorted(ran.compared.late)}
    if ran.how == "poll":
        delays["by which polls came late"] = overdue(ran.log, INTERVAL)
    for name, each in delays.items():
        if each:
            shown = (statistics.median(each), each[len(each) * 99 // 100], each[-1])
            median, p99, most = (f"{1000 * seconds:.0f}" for seconds in shown)
            print(f"       ms {name}: median {median}, p99 {p99}, most {most}", flush=True)
    if ran.how == "poll":
        print(f"       of a core, at a poll a second for {TASKS_A_POLL} tasks: {ran.share:.3f}")
    for fault in (fault for fault, is_so in faults.items() if is_so):
        print(f"       OVER: {fault}", flush=True)
    return not any(faults.values())


def _independent(world: World, tasks: int, short: float, long: float) -> bool:
    """With push: do requests depend on how long the tasks run?"""
    try:
        counts = [run(world, tasks, "push", "--jsonl", each).requests for each in (short, long)]
    except Trouble as trouble:
        print(f"requests for tasks of {short:.0f} and {long:.0f} s: {trouble}")
        return False
    print(
        f"requests for {tasks} pushed tasks: {counts[0]} in {short:.0f} s, {counts[1]} in {long:.0f} s"
    )
    return counts[1] <= counts[0] * 1.1


def run(world: World, tasks: int, how: str, shown: str, seconds: float) -> Ran:
    plan = Plan(
        tasks=tasks,
        poll_ms=int(INTERVAL * 1000),
        push=how == "push",
        change_s=CHANGE,
        end_s=seconds,
        answer_s=ANSWER,
    )
    with changing_peer(plan) as peer:
        task_ids = [f"tsk_{number}" for number in range(1, tasks + 1)]
        state = world.state(f"scale-{tasks}-{how}-{shown}", Origin(url=peer.url), task_ids)
        on_terminal = shown == "terminal"
        argv = [MCPTASK, "watch", "--all", *([] if on_terminal else [shown])]
        out = state.with_name("out")
        running = Running(argv, world.env(state), out, terminal=on_terminal)
        rss_mib = peak(running, 3 * seconds + 60)
        log = peer.log()
    compared = NOTHING
    if shown == "--jsonl":
        compared = compare(running.out, log)
    return Ran(tasks, how, shown, running, rss_mib, log, compared)
