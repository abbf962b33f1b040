"""What a new view tells that the old one did not: two views in, events out. Pure."""

from collections.abc import Iterator

from mcptask.protocol.events import (
    Heard,
    InputRequired,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.lifecycle import due_at, gave_up, give_up_at
from mcptask.protocol.observations import View
from mcptask.protocol.task import open_questions, same_state


def changes(before: View, after: View, now: float) -> Iterator[TaskEvent]:
    """The events between two views, in the order in which a person would want to read them."""
    for message in after.warnings[len(before.warnings) :]:
        yield Warned(message)
    if after.push is not None and (after.push, after.why) != (before.push, before.why):
        yield Listening(after.push, after.why, due_at(after))
    if after.failures > before.failures:
        if not gave_up(after):
            yield Retrying(after.reason, after.failures, after.resume_at, give_up_at(after))
        return
    if before.failures and not after.failures:
        yield Reconnected(now - before.failing_since)
    yield from _of_the_task(before, after)


def _of_the_task(before: View, after: View) -> Iterator[TaskEvent]:
    task = after.task
    heard = task is not before.task or after.polled_at != before.polled_at
    if task is None or after.denials or not heard:
        return
    next_poll = None if task.terminal else due_at(after)
    unchanged = before.task is not None and same_state(before.task, task)
    yield Heard(task, next_poll) if unchanged else StatusChanged(task, next_poll)
    if asked := open_questions(task, after.answered | before.asked):
        yield InputRequired(task, asked)
