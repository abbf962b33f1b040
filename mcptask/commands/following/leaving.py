"""Leaving tasks that are still followed, because a signal came: alone, or with a request to cancel each;
and what is said then: what becomes of them, and how to come back."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import Enum, auto
from itertools import groupby
from typing import Any, NamedTuple

from mcptask.commands._job import Job
from mcptask.commands._reports import name_of, parting_lines, to_type_for
from mcptask.commands._run import Interruption
from mcptask.commands._sessions import Sessions
from mcptask.commands.following.events import Followed
from mcptask.errors import Interrupted, McptaskError
from mcptask.protocol.outcome import Outcome, outcome_of_error
from mcptask.protocol.pacing import AT_ONCE
from mcptask.protocol.task import Task
from mcptask.render.report import Report, Subject
from mcptask.servers.endpoint import Endpoint

CANCEL_WAIT = 5.0  # s for `--on-interrupt cancel`, however many tasks there are
NAMED = 12  # tasks that one command to type may name


class Cancelling(Enum):
    """What became of the request to cancel a task that was left."""

    UNWANTED = auto()
    ACKNOWLEDGED = auto()
    UNACKNOWLEDGED = auto()
    UNSENT = auto()  # of many, there was time for some


class _Words(NamedTuple):
    """`error.data`; then the words of one task, of several, and of more than a command can name. `{0}` is
    what to type for them."""

    data: Mapping[str, Any] | None
    one: str
    hint: str
    several: str
    hint_of_several: str
    hint_of_many: str


_WORDS: Mapping[Cancelling, _Words] = {
    Cancelling.UNWANTED: _Words(
        None,
        "; it was left alone",
        "follow it again: mcptask watch {0}; cancel it: mcptask cancel {0}",
        "; they were left alone",
        "follow them again: mcptask watch {0}; cancel them: mcptask cancel {0}",
        "follow them again: mcptask watch --all; see them: mcptask list",
    ),
    Cancelling.ACKNOWLEDGED: _Words(
        {"cancelAcknowledged": True},
        ", and asked the server to cancel it",
        "see what became of it: mcptask get {0}",
        ", and asked their servers to cancel them",
        "see what became of them: mcptask {1}",
        "see what became of them: mcptask {1}",
    ),
    Cancelling.UNACKNOWLEDGED: _Words(
        {"cancelAcknowledged": False},
        "; its cancellation was not acknowledged",
        "see what became of it: mcptask get {0}; ask once more: mcptask cancel {0}",
        "; their cancellation was not acknowledged",
        "see what became of them: mcptask {1}; ask once more: mcptask cancel {0}",
        "see what became of them: mcptask {1}",
    ),
    Cancelling.UNSENT: _Words(
        {"cancelAcknowledged": False, "cancelSent": False},
        "; there was no time to ask for its cancellation",
        "cancel it: mcptask cancel {0}; follow it again: mcptask watch {0}",
        "; there was no time to ask for their cancellation",
        "cancel them: mcptask cancel {0}; follow them again: mcptask watch {0}",
        "see what goes on: mcptask list --refresh",
    ),
}


async def leave(
    job: Job,
    tasks: Sequence[Followed],
    latest: Mapping[Subject, Task],
    interruption: Interruption,
    sessions: Sessions,
) -> dict[Subject, Outcome]:
    """The outcome of each task that had not ended when the signal came."""
    signum = interruption.signum
    assert signum is not None
    ids = [(item.endpoint, item.record.task_id) for item in tasks]
    cancelled = await cancelled_on_leaving(job, ids, interruption, sessions)
    return {
        item.subject: outcome_of_error(
            interrupted(item, signum, cancelled=answer), latest.get(item.subject)
        )
        for item, answer in zip(tasks, cancelled, strict=True)
    }


async def cancelled_on_leaving(
    job: Job,
    tasks: Sequence[tuple[Endpoint, str]],
    interruption: Interruption,
    sessions: Sessions,
) -> Sequence[Cancelling]:
    """One request for each, as many at once as a server takes (A10.10), for `CANCEL_WAIT` seconds at most or
    until one more signal.
    """
    if job.options.on_interrupt != "cancel" or not tasks:
        return [Cancelling.UNWANTED] * len(tasks)
    became = [Cancelling.UNSENT] * len(tasks)
    turns: dict[object, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(AT_ONCE))

    async def ask(place: int, endpoint: Endpoint, task_id: str) -> None:
        async with turns[endpoint.key]:
            became[place] = Cancelling.UNACKNOWLEDGED
            with suppress(McptaskError):
                await sessions.to(endpoint).cancel(task_id)
                became[place] = Cancelling.ACKNOWLEDGED

    what = "the task" if len(tasks) == 1 else f"{len(tasks)} tasks"
    job.say(f"Asking to cancel {what}, up to {CANCEL_WAIT:.0f} s. Ctrl-C again leaves at once.")
    asking = [asyncio.create_task(ask(place, *task)) for place, task in enumerate(tasks)]
    with suppress(Interrupted), interruption.as_error():
        await asyncio.wait(asking, timeout=CANCEL_WAIT)
    for each in asking:
        if not each.cancel():
            each.result()  # what it raised, if anything
    return became


def interrupted(item: Followed, signum: int, *, cancelled: Cancelling) -> Interrupted:
    """A signal ended the following of a task."""
    words = _WORDS[cancelled]
    return Interrupted(
        f"Stopped following task {item.name}{words.one}",
        signum=signum,
        hint=words.hint.format(item.to_type),
        data=words.data,
    )


def goodbye_lines(reports: Sequence[Report]) -> list[str]:
    """The same of all interrupted ones among the reports, short however many there are."""
    lines: list[str] = []
    for words in _WORDS.values():
        left = [report for report in reports if _is_left(report, words)]
        if len(left) > 1:
            names = in_short([name_of(report) for report in left])
            what = f"Stopped following {len(left)} tasks ({names}){words.several}"
            stored = all(report.ref for report in left)  # else no list and no --all has them
            few = len(left) <= NAMED or not stored
            hint, task = words.hint_of_several if few else words.hint_of_many, to_type_for(*left)
            show = "list --refresh" if stored else f"watch {task}"
            lines += parting_lines(what, hint.format(task, show))
        elif left and (error := left[0].outcome.error):
            lines += parting_lines(error.message, error.hint)
    return lines


def all_of(reports: Sequence[Report]) -> str:
    """What to type for very many: those that are not stored here have to be named all the same."""
    return "--all" if all(report.ref for report in reports) else to_type_for(*reports)


def left_running(reports: Sequence[Report]) -> str:
    """Of tasks that nobody watches any more: how to come back to them."""
    names = to_type_for(*reports) if len(reports) <= NAMED else all_of(reports)
    what, them = ("One task goes on", "it")
    if len(reports) > 1:
        what, them = f"{len(reports)} tasks go on", "them"
    return f"{what}. Follow {them} again:  mcptask watch {names}"


def _is_left(report: Report, words: _Words) -> bool:
    error = report.outcome.error
    return report.outcome.name == "interrupted" and error is not None and error.data == words.data


def in_short(names: Sequence[str]) -> str:
    """`1–28, 31`: of numbers in a row the first and the last; what is not stored has an id, as it is."""
    numbers = sorted(int(name) for name in names if name.isdecimal())
    rows = [
        [number for _, number in row]
        for _, row in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])
    ]
    short = [f"{row[0]}–{row[-1]}" if row[1:] else str(row[0]) for row in rows]
    return ", ".join([*short, *(name for name in names if not name.isdecimal())])
