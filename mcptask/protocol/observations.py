"""What each observation makes of what is known of a followed task. Pure: a view in, a view out.

    view = begin(rules, now)                    nothing known yet
    view = asking(view, now)                    a question goes out
    view = observe(view, snapshot, now)         the server answered
    view = told(view, snapshot, now)            the server told of a change by itself (A11)
    view = hinted(view, now)                    the same, and it did not say of what change
    view = outdone(view, snapshot, now)         it answered, but told of something meanwhile
    view = missed(view, reason, now, …)         it could not be reached: says nothing about the task
    view = denied(view, now)                    it said that it does not know the task
    view = listening(view, push, why, now)      how changes are learned from now on
    view = woken(view, skipped, now)            this machine was asleep

`now` is in seconds on a clock that never goes backwards. `lifecycle.py` decides what to do about a view; what
becomes of its questions is in `replies.py`.
"""

from dataclasses import replace
from typing import Any

from mcptask.protocol.questions import asked_now, named
from mcptask.protocol.replies import oddities
from mcptask.protocol.task import Task, may_follow
from mcptask.protocol.view import (
    EMPTY_LIMIT,
    FIRST_BACKOFF,
    LONGEST_BACKOFF,
    LONGEST_RETRY_AFTER,
    View,
    asked_soon,
    interval,
    warned,
)

KIND_SECONDS = 2.0  # a task this young may not be known everywhere yet (A4.3): ask once more
CONFIRM_AFTER = 0.5  # s until that second question


def asking(view: View, now: float) -> View:
    """A question goes out. What gives reason for one from now on wants another: the answer may be older."""
    prompted = view.ask_at is not None
    at = now if prompted and not view.urgent else view.prompted_at
    return replace(view, ask_at=None, urgent=False, prompted=prompted, prompted_at=at)


def observe(view: View, snapshot: Task, now: float) -> View:
    """The answer to a question of ours. After a terminal status nothing else is accepted (A14.1).

    A change that it shows first, where nothing gave reason to ask, says that the server does not tell of
    all (A11.5).
    """
    unprompted = not view.prompted and view.ask_at is None
    untold = view.push and unprompted and _has_news(view, snapshot)
    return replace(_accepted(view, snapshot, now), polled_at=now, untold=view.untold + bool(untold))


def told(view: View, snapshot: Task, now: float) -> View:
    """A snapshot that the server sent by itself (A11.6): as good as an answer, in the order of their coming.

    One without what its status promises is asked for. What comes after the end was told before it, and
    has only been under way for longer.
    """
    view, before = replace(view, untold=0), view.task
    if before is not None and before.terminal and not snapshot.terminal:
        return view
    if snapshot.has_payload:
        return _accepted(view, snapshot, now)
    if before is None or before.status != snapshot.status:
        view = replace(_accepted(view, snapshot, now), empty=0)  # only answers to questions count
    return asked_soon(view, now)


def hinted(view: View, now: float) -> View:
    """The server says that something changed, and not what."""
    return asked_soon(replace(view, untold=0), now)


def outdone(view: View, snapshot: Task, now: float) -> View:
    """An answer that was under way while the server told of something: which of them is the newer cannot be
    known, so where they differ one more question decides (A11.7).
    """
    differs = _has_news(view, snapshot)
    view = replace(view, failures=0, denials=0, polled_at=now)
    return asked_soon(view, now) if differs else view


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
        _still_prompted(view, now),
        failures=view.failures + 1,
        failing_since=since,
        failed_at=now,
        resume_at=now + wait,
        reason=reason,
    )


def denied(view: View, now: float) -> View:
    """The server does not know the task. A very young one is asked for once more before it counts as lost."""
    young = view.created is not None and now - view.created < KIND_SECONDS
    if view.task is not None and view.task.terminal:
        text = f"the task is {view.task.status}, and the server no longer knows what came of it"
        view = warned(view, text)
    return replace(
        _still_prompted(view, now),
        failures=0,
        denials=view.denials + (1 if young else 2),
        resume_at=now + max(CONFIRM_AFTER, interval(view.task, view.rules)),
    )


def listening(view: View, push: bool, why: str, now: float) -> View:
    """The server tells of changes from now on, or does so no more.

    Once it does, the task is asked for at once: nothing is told of what was before (A11.5).
    """
    view = replace(view, push=push, why=why, untold=0)
    return replace(asked_soon(view, now), urgent=True) if push else view


def woken(view: View, skipped: float, now: float) -> View:
    """This machine was asleep: ask at once. `skipped` seconds of that passed on the clock, too, and were no
    time without contact: nobody was there to have any.
    """
    since, resume = view.failing_since + skipped, min(view.resume_at, now)
    return asked_soon(replace(view, failing_since=since, resume_at=resume, urgent=True), now)


def _accepted(view: View, snapshot: Task, now: float) -> View:
    """The view with the server's latest word."""
    before = view.task
    view = replace(view, failures=0, reason="", denials=0)
    if before is not None and not may_follow(before.status, snapshot.status):
        text = f"the server says {snapshot.status} after {before.status}; {before.status} is final"
        return warned(replace(view, seed=False, empty=view.empty + 1, seen_at=now), text)
    changed = before is None or before.status != snapshot.status
    empty = 0 if snapshot.has_payload else 1 if changed else view.empty + 1
    view = replace(
        view,
        task=snapshot,
        seed=False,
        seen_at=now,
        status_since=now if changed else view.status_since,
        empty=empty,
        asked=view.asked | named(asked_now(snapshot)),
    )
    view = warned(view, *snapshot.warnings, *oddities(view, now))
    if empty < EMPTY_LIMIT:
        return view
    return warned(view, f"the server says {snapshot.status} without sending what belongs to it")


def _still_prompted(view: View, now: float) -> View:
    """What gave reason for a question that got no answer is a reason still."""
    return asked_soon(view, now) if view.prompted else view


def _has_news(view: View, snapshot: Task) -> bool:
    return view.task is not None and _said(view.task) != _said(snapshot)


def _said(task: Task) -> tuple[Any, ...]:
    """What a change is told of for; that a server leaves out a duration in what it tells is none."""
    return task.status, task.status_message, task.input_requests or {}
