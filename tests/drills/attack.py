"""One run of the drill: one thing fails at one moment; then what a person would do; then the oracle."""

import json
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.drills import oracle
from tests.drills.disk import fill, mounted
from tests.drills.witness import LATENCY, TOOLS, read_log
from tests.drills.world import Client, World, between

COMMANDS = ("call", "call --wait", "watch", "update")
TRANSPORTS = ("http", "stdio")
MODES = ("client killed", "server killed", "disk full")
# By the command: what the witness sees when the request has come, and when its answer is handed over.
SIGNS = {"call": ("call", "gave"), "call --wait": ("call", "gave"), "watch": ("get", "acked")}
SIGNS["update"] = ("update", "acked")
STRATA = ("start-up", "request", "answer", "rest")
ENDS = ("completed", "failed", "cancelled")
LONG_AGO = 1.0  # in seconds since 1970


@dataclass(frozen=True)
class Plan:
    """`seed` is all that a run needs to be repeated, but for the speed of the machine."""

    seed: str
    command: str
    transport: str
    mode: str
    tool: str
    stratum: str
    tmpfs: bool = False


@dataclass
class Figures:
    """What one run adds to the sums."""

    moment: str = ""
    created: int = 0
    stored: int = 0
    marks: int = 0
    answers: int = 0
    sent_again: int = 0
    leftovers: int = 0
    violations: list[str] = field(default_factory=list)


@dataclass
class Times:
    """Of an unkilled run, in seconds since its start: its request, its answer, its end."""

    request: float = 0.3
    answer: float = 0.4
    end: float = 1.5


def planned(seed: str, number: int, tmpfs: bool) -> Plan:
    """The combinations in turn, so that few runs cover all of them; the rest by chance."""
    chance = random.Random(seed)
    command = COMMANDS[number % 4]
    tools = {"watch": ("asks", "asks", "works"), "update": ("asks",)}
    return Plan(
        seed=seed,
        command=command,
        transport=TRANSPORTS[number // 4 % 2],
        mode=MODES[number // 8 % 3],
        tool=chance.choice(tools.get(command, TOOLS)),
        stratum=chance.choice(STRATA),
        tmpfs=tmpfs and chance.random() < 0.5,
    )


def measured(command: str, transport: str) -> Times:
    with TemporaryDirectory(prefix="drill-") as folder:
        world = World(Path(folder), transport)
        try:
            plan = Plan("", command, transport, "none", "asks", "")
            argv = _prepared(world, plan)
            began, at = time.time(), time.monotonic()
            client = world.start(*argv)
            client.end()
            end = time.monotonic() - at
            saw = read_log(world.log)[client.seen_before :]
        finally:
            world.close()
    first = [next((e["at"] - began for e in saw if e["saw"] == s), 0.3) for s in SIGNS[command]]
    return Times(first[0], first[1], end)


def run(plan: Plan, times: Times) -> Figures:
    chance, figures = random.Random(plan.seed + "!"), Figures()
    with TemporaryDirectory(prefix="drill-") as folder, _disk(Path(folder), plan):
        world = World(Path(folder), plan.transport)
        try:
            argv = _prepared(world, plan)
            _ATTACKS[plan.mode](world, plan, argv, times, chance, figures)
            world.quiet()
            full = plan.mode == "disk full"
            figures.leftovers = len(world.leftovers())
            figures.violations += _judged(world, full)
            if not full:
                _afterwards(world, figures)
                figures.violations += _judged(world, full)
                _swept(world, figures)
            _counted(world, figures)
        except (RuntimeError, OSError, ValueError, KeyError) as error:
            figures.violations.append(f"the drill itself: {error!r}")
        finally:
            world.close()
    figures.violations = list(dict.fromkeys(figures.violations))
    return figures


def _prepared(world: World, plan: Plan) -> tuple[str, ...]:
    """The command to attack; for one about a task there is one."""
    answers = ("--answers", "first.toml", "--timeout", "25s", "--give-up-after", "20s")
    if plan.command.startswith("call"):
        return (*plan.command.split(), plan.tool, *answers, *world.where)
    made = world.run("call", plan.tool, *world.where)
    if made.code != 0:
        raise RuntimeError(f"no task to attack: {made.err}")
    world.quiet()
    if plan.command == "update":
        return ("update", "1", "say=A", "--key", "one", "--timeout", "25s")
    return ("watch", "1", *answers)


# ── the attacks ──


def _kill_client(
    world: World,
    plan: Plan,
    argv: tuple[str, ...],
    times: Times,
    chance: random.Random,
    figures: Figures,
) -> None:
    client = world.start(*argv)
    _wait_for_moment(world, client, plan, times, chance)
    over = client.ended
    client.popen.kill()
    ran = client.end(kill=True)
    figures.moment = "after the end" if over else _moment(world, plan, client)
    if over and ran.code is None:
        figures.moment = _moment(world, plan, client)


def _kill_server(
    world: World,
    plan: Plan,
    argv: tuple[str, ...],
    times: Times,
    chance: random.Random,
    figures: Figures,
) -> None:
    client = world.start(*argv)
    _wait_for_moment(world, client, plan, times, chance)
    figures.moment = "after the end" if client.ended else _moment(world, plan, client)
    world.kill_server()
    if world.over_http:
        time.sleep(between(chance, 0.0, 0.3))
        world.start_server()
    client.end()


def _fill_disk(
    world: World,
    plan: Plan,
    argv: tuple[str, ...],
    times: Times,
    chance: random.Random,
    figures: Figures,
) -> None:
    figures.moment = "disk full"
    if plan.tmpfs:
        fill(world.folder / "state" / "filler", 4 * chance.randrange(4))
    else:
        world.room = chance.randrange(3 * len(world.bytes() or b"x" * 200))
    before = world.content().get("tasks", [])
    ran = world.run(*argv)
    world.room = None
    if plan.tmpfs:
        (world.folder / "state" / "filler").unlink()
    after = {task["task_id"] for task in world.content().get("tasks", [])}
    if not {task["task_id"] for task in before} <= after:
        figures.violations.append("a full disk lost a task that was stored")
    if ran.code not in (0, 3):
        figures.violations.append(f"exit {ran.code} on a full disk: {ran.err[-300:]}")
    looked = world.run("list", "--json")
    if looked.code != 0:
        figures.violations.append(f"list after a full disk: {looked.err[-300:]}")


_ATTACKS = dict(zip(MODES, (_kill_client, _kill_server, _fill_disk), strict=True))


def _wait_for_moment(
    world: World, client: Client, plan: Plan, times: Times, chance: random.Random
) -> None:
    """Starting takes longest and can go wrong least, so the moments are drawn from each part alike."""
    request, answer = SIGNS[plan.command]
    if plan.stratum == "start-up":
        time.sleep(between(chance, 0.0, 0.9 * times.request))
        return
    sign = request if plan.stratum == "request" else answer
    if plan.command == "watch" and plan.tool != "asks":
        sign = "get"
    with suppress(RuntimeError):
        world.until(lambda: client.saw(sign) or client.ended, sign)
    most = {
        "request": LATENCY,
        "answer": LATENCY,
        "rest": 1.1 * (times.end - times.answer),
    }
    time.sleep(between(chance, 0.0, most[plan.stratum]))


def _moment(world: World, plan: Plan, client: Client) -> str:
    """Where a command was that is not at its end."""
    request, answer = SIGNS[plan.command]
    if not client.saw(request):
        return "before the request"
    if plan.command == "watch":
        return "following"
    if not client.saw(answer):
        return "unanswered"
    following = plan.command == "call --wait" and client.saw("get")
    return "following" if following else "after the answer"


# ── afterwards ──


def _judged(world: World, full: bool) -> list[str]:
    return oracle.violations(read_log(world.log), world.bytes(), world.ran, full=full)


def _afterwards(world: World, figures: Figures) -> None:
    """What a person would do: look, and go on; with other answers, which must not reach what is answered."""
    listed = world.run("list", "--json")
    if listed.code != 0 or "tasks" not in json.loads(listed.out or "{}"):
        figures.violations.append(f"list: exit {listed.code}: {listed.err[-300:]}")
    for task in world.content().get("tasks", []):
        name = str(task["ref"])
        if task["status"] in ENDS:
            ran = world.run("get", name, "--json")
        else:
            ran = world.run("watch", name, "--answers", "second.toml", "--timeout", "25s", "--json")
            world.quiet()
        if ran.code != 0:
            figures.violations.append(f"{' '.join(ran.argv)}: exit {ran.code}: {ran.out[-400:]}")


def _swept(world: World, figures: Figures) -> None:
    """A killed write may leave one file; a later one takes it away, once it is old."""
    left = world.leftovers()
    if len(left) > 2:  # of the state file, and of one outcome
        figures.violations.append(f"one kill left {[each.name for each in left]}")
    beside = [each for each in left if each.parent == world.state.parent]
    for each in beside:
        os.utime(each, (LONG_AGO, LONG_AGO))
    if beside:
        world.run("call", "at_once", *world.where)
        if still := [each.name for each in beside if each.exists()]:
            figures.violations.append(f"never swept: {still}")


def _counted(world: World, figures: Figures) -> None:
    log, state = read_log(world.log), world.content()
    updates = [(each["task"], each["key"]) for each in log if each["saw"] == "update"]
    figures.created = sum(each["saw"] == "created" for each in log)
    figures.stored = len(state.get("tasks", []))
    figures.marks = len(state.get("calls", []))
    figures.answers = len(set(updates))
    figures.sent_again = len(updates) - len(set(updates))


@contextmanager
def _disk(folder: Path, plan: Plan) -> Iterator[None]:
    if not plan.tmpfs or plan.mode != "disk full":
        yield
        return
    with mounted(folder / "state"):
        yield
