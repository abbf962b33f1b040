"""What a new view tells that the old one did not: two views in, events out. Pure."""

from collections.abc import Iterator

from mcptask.protocol.events import (
    Answered,
    Heard,
    InputRequired,
    Left,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.lifecycle import due_at, gave_up, give_up_at
from mcptask.protocol.questions import Ledger, Name, fingerprint, names_of, open_questions
from mcptask.protocol.replies import is_changed
from mcptask.protocol.task import same_state
from mcptask.protocol.view import View


def changes(before: View, after: View, now: float) -> Iterator[TaskEvent]:
    """The events between two views, in the order in which a person would want to read them."""
    for message in after.warnings[len(before.warnings) :]:
        yield Warned(message)
    if after.push is not None and (after.push, after.why) != (before.push, before.why):
        yield Listening(after.push, after.why, due_at(after))
    yield from _of_the_answers(before, after)
    if after.failures > before.failures:
        if not gave_up(after):
            yield Retrying(after.reason, after.failures, after.resume_at, give_up_at(after))
    else:
        if before.failures and not after.failures:
            yield Reconnected(now - before.failing_since)
        yield from _of_the_task(before, after)
    if left := after.left - before.left:
        yield Left(tuple(sorted(key for key, _ in left)))


def _of_the_task(before: View, after: View) -> Iterator[TaskEvent]:
    task = after.task
    heard = task is not before.task or after.polled_at != before.polled_at
    if task is None or after.denials or not heard:
        return
    next_poll = None if task.terminal else due_at(after)
    unchanged = before.task is not None and same_state(before.task, task)
    yield Heard(task, next_poll) if unchanged else StatusChanged(task, next_poll)
    asked = open_questions(task, after.answered)
    if new := {k: v for k, v in asked.items() if (k, fingerprint(v)) not in before.asked}:
        changed = tuple(key for key, request in new.items() if is_changed(before, key, request))
        yield InputRequired(task, new, changed)


def _of_the_answers(before: View, after: View) -> Iterator[TaskEvent]:
    new = _acknowledged(after.answered) - _acknowledged(before.answered)
    for elsewhere, names in ((False, new & after.sent), (True, new - after.sent)):
        if names:
            keys = tuple(sorted(key for key, _ in names))
            yield Answered(keys, elsewhere=elsewhere, ledger=after.answered)


def _acknowledged(ledger: Ledger) -> frozenset[Name]:
    return names_of({key: answer for key, answer in ledger.items() if answer.acknowledged})
