"""All that is known of one followed task: a value that only grows by what is observed."""

from dataclasses import dataclass, field, replace

from mcptask.protocol.questions import NOTHING_ANSWERED, Ledger, Name, named, open_questions
from mcptask.protocol.task import Task

FLOOR = 0.1  # s: never ask more often, whatever the server allows, or tells
DEFAULT_INTERVAL = 1.0  # s: where the server names no interval (A10.2)
FIRST_BACKOFF = 1.0  # s, doubled for each failure in a row (A10.6)
LONGEST_BACKOFF = 30.0
LONGEST_RETRY_AFTER = 300.0  # s: a server may ask for more; it gets asked again all the same
GIVE_UP_AFTER = 300.0  # s without contact
EMPTY_LIMIT = 2  # snapshots without what their status promises (A9.7)

NEVER = float("-inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the user asked for. `deadline` is a time on the clock; the rest are seconds."""

    deadline: float | None = None
    give_up_after: float = GIVE_UP_AFTER
    min_interval: float = 0.0  # may slow polling down, never speed it up
    stop_for_input: bool = False  # once nobody here answers what is open
    stop_when_answered: bool = False  # once nothing is open that somebody here answers


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """All that is known of one followed task. `task` is the last snapshot that was accepted."""

    rules: Rules
    first_poll: float  # when the task may be asked for first
    task: Task | None = None
    seed: bool = False  # it is the answer to tools/call: no payload to expect in it (A8.6)
    seen_at: float = 0.0  # when the snapshot came
    polled_at: float = NEVER  # when an answer came to a question of ours
    status_since: float = 0.0
    empty: int = 0  # snapshots in a row without their payload
    failures: int = 0  # in a row
    failing_since: float = 0.0
    failed_at: float = NEVER  # the last of them
    resume_at: float = 0.0  # not before this, after a failure
    reason: str = ""  # of the last failure
    denials: int = 0  # in a row
    created: float | None = None  # when the task was made, if it was made here
    push: bool | None = None  # does the server tell of changes? None: not found out yet
    why: str = ""  # that is so
    ask_at: float | None = None  # from then on a question does not wait for the interval
    urgent: bool = False  # it closes a gap that nobody else will tell of
    prompted: bool = False  # the last question was such a one
    prompted_at: float = NEVER  # when the last one went out that was not urgent
    untold: int = 0  # changes in a row that a poll found before the server told of any
    answered: Ledger = field(default_factory=dict)
    asked: frozenset[Name] = frozenset()  # every question seen: none is announced twice (A12.2)
    left: frozenset[Name] = frozenset()  # those that nobody answers here
    sent: frozenset[Name] = frozenset()  # those that were answered from here
    sent_at: float = NEVER  # when the last of them was acknowledged
    warnings: tuple[str, ...] = ()


def begin(
    rules: Rules, now: float, *, answered: Ledger = NOTHING_ANSWERED, phase: float = 0.0
) -> View:
    """A task of which only the id is known: it is asked for at once (A10.3), or `phase` seconds later where
    many are to be asked for (A10.10).
    """
    return View(rules=rules, first_poll=now + phase, answered=answered)


def begin_with(
    seed: Task, rules: Rules, now: float, *, answered: Ledger = NOTHING_ANSWERED
) -> View:
    """A task that `tools/call` has just made: first asked for after one interval (A10.3)."""
    return View(
        rules=rules,
        first_poll=now,
        task=seed,
        seed=True,
        seen_at=now,
        polled_at=now,
        status_since=now,
        created=now,
        answered=answered,
        asked=named(open_questions(seed, answered)),
        warnings=seed.warnings,
    )


def interval(task: Task | None, rules: Rules) -> float:
    """Seconds between two polls, by the latest snapshot alone (A10.1)."""
    given = task.poll_interval_ms if task is not None else None
    wanted = DEFAULT_INTERVAL if given is None else given / 1000
    return max(wanted, FLOOR, rules.min_interval)


def asked_soon(view: View, now: float) -> View:
    """A question that does not wait for the end of a long pause."""
    return replace(view, ask_at=now)


def warned(view: View, *messages: str) -> View:
    """Each of these is said once."""
    new = tuple(m for m in dict.fromkeys(messages) if m not in view.warnings)
    return replace(view, warnings=view.warnings + new) if new else view
