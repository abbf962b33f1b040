"""One `watch` while nothing happens: the CPU that it takes, and what wakes it.

Each time that a thread goes to sleep, something has woken it. The causes are counted where they
arise: polls and comments by the server, signs of life and frames by the clock.
"""

from __future__ import annotations

import signal
import time

from changing_peer import Plan
from watching import (
    MCPTASK,
    ChangingPeer,
    Running,
    Trouble,
    World,
    changing_peer,
    sleeps,
    spent,
    until,
    verdict,
)

from mcptask.origin import Origin

SHARE = 0.01  # of a core
SETTLED = 5.0  # s after the first contact
POLL_MS = 5000
# How often the process may be woken for one of each. A poll: its time has come, the connection is there
# (the last one was too old), the answer is there. A frame is drawn by a thread of its own.
WAKES = {"polls": 4, "comments": 1, "signs of life": 2, "frames": 2}
HEAD = f"{'how':<6}{'shown on':<10}{'% of a core':>12}{'wake-ups':>10}{'allowed':>9}  causes"


def measure(world: World, rounds: int, *, quick: bool) -> bool:
    """Prints a line for each way to watch; whether all are within reach."""
    seconds = 20.0 if quick else 60.0
    print(f"\n`watch` of one task that does not change, for {seconds:.0f} s\n{HEAD}")
    held = []
    for how in ("push", "poll"):
        for shown in ("a pipe", "terminal"):
            try:
                held.append(_told(world, how, shown, seconds))
            except Trouble as trouble:
                print(f"{how:<6}{shown:<10}  {trouble}", flush=True)
                held.append(False)
    return all(held)


def _told(world: World, how: str, shown: str, seconds: float) -> bool:
    with changing_peer(Plan(poll_ms=POLL_MS, push=how == "push")) as peer:
        state = world.state(f"idle-{how}-{shown}", Origin(url=peer.url), ["tsk_1"])
        running = Running(
            [MCPTASK, "watch", "1"],
            world.env(state),
            state.with_name("out"),
            terminal=shown == "terminal",
        )
        try:
            until(lambda: _met(peer, how), "the first contact")
            time.sleep(SETTLED)
            before = _look(running, peer)
            time.sleep(seconds)
            after = _look(running, peer)
        finally:
            running.stop(signal.SIGTERM)
    used, woken, polls, comments = (now - was for now, was in zip(after, before, strict=True))
    terminal = shown == "terminal"
    causes = {
        "polls": polls,
        "comments": comments,
        "signs of life": 0 if terminal else seconds // 30,
        "frames": seconds if terminal else 0,
    }
    allowed = sum(WAKES[name] * count for name, count in causes.items()) + 2
    ok = used / seconds <= SHARE and woken <= allowed
    named = ", ".join(f"{count:.0f} {name}" for name, count in causes.items() if count)
    print(
        f"{how:<6}{shown:<10}{100 * used / seconds:>12.2f}{woken:>10.0f}{allowed:>9.0f}"
        f"  {named or 'none'}  {verdict(ok)}",
        flush=True,
    )
    return ok


def _met(peer: ChangingPeer, how: str) -> bool:
    log = peer.log()
    return bool(log["pushedTo"] if how == "push" else log["gets"]["tsk_1"])


def _look(running: Running, peer: ChangingPeer) -> tuple[float, float, float, float]:
    """CPU seconds, sleeps, polls and comments so far."""
    log = peer.log()
    polls, comments = len(log["gets"]["tsk_1"]), log["said"].get("keep-alives", 0)
    return spent(running.pid), sleeps(running.pid), polls, comments
