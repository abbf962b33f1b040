"""The one place that decides what to do next about a followed task. Pure: a view, an observation, a clock.

    view = begin(rules, now)                    nothing known yet
    view = observe(view, snapshot, now)         the server answered
    view = missed(view, reason, now, …)         it could not be reached: says nothing about the task
    view = denied(view, now)                    it said that it does not know the task
    next_action(view, now) → Get | Wait | Finish | Stop

`now` is in seconds on a clock that never goes backwards.
"""

from dataclasses import dataclass, replace

from mcptask.protocol.task import MOVES, Status, Task, may_follow, open_questions

FLOOR = 0.1  # s: never ask more often, whatever the server allows
DEFAULT_INTERVAL = 1.0  # s: where the server names no interval (A10.2)
FIRST_BACKOFF = 1.0  # s, doubled for each failure in a row (A10.6)
LONGEST_BACKOFF = 30.0
LONGEST_RETRY_AFTER = 300.0  # s: a server may ask for more; it gets asked again all the same
GIVE_UP_AFTER = 300.0  # s without contact
KIND_SECONDS = 2.0  # a task this young may not be known everywhere yet (A4.3): ask once more
CONFIRM_AFTER = 0.5  # s until that second question
EMPTY_LIMIT = 2  # snapshots without what their status promises (A9.7)
UNKNOWN_PATIENCE = 600.0  # s in one status that this client does not know (A9.2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the user asked for. `deadline` is a time on the clock; the rest are seconds."""

    deadline: float | None = None
    give_up_after: float = GIVE_UP_AFTER
    min_interval: float = 0.0  # may slow polling down, never speed it up
    stop_for_input: bool = False  # nobody can answer here


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that is known of one followed task. `task` is the last snapshot that was accepted."""

    rules: Rules
    began: float
    task: Task | None = None
    seed: bool = False  # it is the answer to tools/call: no payload to expect in it (A8.6)
    seen_at: float = 0.0  # when the snapshot came
    status_since: float = 0.0
    empty: int = 0  # snapshots in a row without their payload
    failures: int = 0  # in a row
    failing_since: float = 0.0
    failed_at: float = 0.0  # the last of them
    resume_at: float = 0.0  # not before this, after a failure
    reason: str = ""  # of the last failure
    denials: int = 0  # in a row
    created: float | None = None  # when the task was made, if it was made here
    answered: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()  # every question ever seen: none is announced twice (A12.2)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Get:
    """Ask the server now."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before `until`, which is in the future."""

    until: float


@dataclass(frozen=True, slots=True)
class Finish:
    """The task is over."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Following ends, the task may go on. `why` is an outcome's name: timeout, unreachable, …"""

    why: str


Action = Get | Wait | Finish | Stop


def begin(rules: Rules, now: float, *, answered: frozenset[str] = frozenset()) -> View:
    """A task of which only the id is known: it is asked for at once (A10.3)."""
    return View(rules=rules, began=now, answered=answered)


def begin_with(
    seed: Task, rules: Rules, now: float, *, answered: frozenset[str] = frozenset()
) -> View:
    """A task that `tools/call` has just made: first asked for after one interval (A10.3)."""
    return View(
        rules=rules,
        began=now,
        task=seed,
        seed=True,
        seen_at=now,
        status_since=now,
        created=now,
        answered=answered,
        asked=frozenset(open_questions(seed, answered)),
        warnings=seed.warnings,
    )


def observe(view: View, snapshot: Task, now: float) -> View:
    """The server's latest word. After a terminal status nothing else is accepted (A14.1)."""
    before = view.task
    view = replace(view, failures=0, reason="", denials=0)
    if before is not None and not may_follow(before.status, snapshot.status):
        told = f"the server says {snapshot.status} after {before.status}; {before.status} is final"
        return _warn(replace(view, seed=False, empty=view.empty + 1, seen_at=now), told)
    changed = before is None or before.status != snapshot.status
    empty = 0 if snapshot.has_payload else 1 if changed else view.empty + 1
    view = replace(
        view,
        task=snapshot,
        seed=False,
        seen_at=now,
        status_since=now if changed else view.status_since,
        empty=empty,
        asked=view.asked | open_questions(snapshot, view.answered).keys(),
    )
    view = _warn(view, *snapshot.warnings)
    if empty < EMPTY_LIMIT:
        return view
    return _warn(view, f"the server says {snapshot.status} without sending what belongs to it")


def missed(
    view: View, reason: str, now: float, *, retry_after: float | None = None, spread: float = 1.0
) -> View:
    """No answer. Wait longer each time, but never less than the poll interval (A10.6).

    `spread` (0 to 1) is chance from outside, so that many clients do not come back at one moment.
    """
    since = view.failing_since if view.failures else now
    backoff = min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** min(view.failures, 16))
    wait = max(
        interval(view.task, view.rules),
        # The last attempt is made when the budget ends, not a backoff later.
        min(backoff * (0.5 + spread / 2), max(since + view.rules.give_up_after - now, 0.0)),
        min(retry_after or 0.0, LONGEST_RETRY_AFTER),
    )
    return replace(
        view,
        failures=view.failures + 1,
        failing_since=since,
        failed_at=now,
        resume_at=now + wait,
        reason=reason,
    )


def denied(view: View, now: float) -> View:
    """The server does not know the task. A very young one is asked for once more before it counts as lost."""
    young = view.created is not None and now - view.created < KIND_SECONDS
    return replace(
        view,
        failures=0,
        denials=view.denials + (1 if young else 2),
        resume_at=now + max(CONFIRM_AFTER, interval(view.task, view.rules)),
    )


def answered(view: View, keys: frozenset[str]) -> View:
    """These questions were answered and acknowledged: they are open no more, even if still listed."""
    return replace(view, answered=view.answered | keys)


def next_action(view: View, now: float) -> Action:
    """What to do. Always exactly one thing, and never earlier than the server allows."""
    if _over(view):
        return Finish()
    if (why := _reason_to_stop(view, now)) is not None:
        return Stop(why)
    due = due_at(view)
    if due <= now:
        return Get()
    return Wait(min((due, *_limits(view).values())))


def due_at(view: View) -> float:
    """When the next question may be put."""
    task = view.task
    if view.failures or view.denials:
        return view.resume_at
    if task is None:
        return view.began
    if view.seed and not task.has_payload:
        return view.seen_at  # made already over, or already asking: what came of it is one get away
    return view.seen_at + interval(task, view.rules)


def interval(task: Task | None, rules: Rules) -> float:
    """Seconds between two polls, by the latest snapshot alone (A10.1)."""
    given = task.poll_interval_ms if task is not None else None
    wanted = DEFAULT_INTERVAL if given is None else given / 1000
    return max(wanted, FLOOR, rules.min_interval)


def give_up_at(view: View) -> float:
    """When a run of failures has lasted too long: the first attempt from then on is the last."""
    return max(view.failing_since + view.rules.give_up_after, view.resume_at)


def gave_up(view: View) -> bool:
    """Has it? Only an attempt that fails can tell: a long interval or Retry-After is no failure."""
    spent = view.failed_at - view.failing_since
    return view.failures > 0 and spent >= view.rules.give_up_after


def _over(view: View) -> bool:
    """Ended, with all that will ever be heard of it: a task that is over may be gone already (A14.2)."""
    task = view.task
    return (
        task is not None
        and task.terminal
        and (task.has_payload or view.empty >= EMPTY_LIMIT or view.denials >= 2)
    )


def _reason_to_stop(view: View, now: float) -> str | None:
    if view.denials >= 2:
        return "lost"
    if view.rules.stop_for_input and _asks(view):
        return "input_required"
    passed = next((why for why, at in _limits(view).items() if at <= now), None)
    return passed or ("unreachable" if gave_up(view) else None)


def _asks(view: View) -> bool:
    """Is a question open, or does the server insist on one that it does not send?"""
    if view.task is None or view.task.status != Status.INPUT_REQUIRED:
        return False
    return bool(open_questions(view.task, view.answered)) or view.empty >= EMPTY_LIMIT


def _limits(view: View) -> dict[str, float]:
    """When waiting ends of itself, and why; the first that has passed is the reason."""
    limits = {"timeout": view.rules.deadline, "protocol": _unknown_until(view)}
    return {why: at for why, at in limits.items() if at is not None}


def _unknown_until(view: View) -> float | None:
    known = view.task is None or view.task.status in MOVES
    return None if known else view.status_since + UNKNOWN_PATIENCE


def _warn(view: View, *messages: str) -> View:
    new = tuple(m for m in dict.fromkeys(messages) if m not in view.warnings)
    return replace(view, warnings=view.warnings + new) if new else view
