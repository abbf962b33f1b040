"""What shows around the live view: the terminal's title, and the progress on its tab or in the taskbar.

Makes bytes and writes nothing. A terminal that cannot put its old title back keeps it.
"""

from collections.abc import Collection

from mcptask.protocol.task import Status
from mcptask.render.parts import percent
from mcptask.render.style import look
from mcptask.render.terminals import POP_TITLE, PUSH_TITLE, Environ, progress, terminal_of, title
from mcptask.render.text import clean
from mcptask.render.view import TaskView, summary

# The states of the progress; each with a number from 0 to 100.
_NONE, _SO_FAR, _ERROR, _BUSY, _PAUSED = range(5)


class Surroundings:
    """Of one terminal. Says only what is not shown already."""

    def __init__(self, environ: Environ) -> None:
        terminal = terminal_of(environ)
        self._titled, self._progressing = terminal.titled, terminal.progressing(environ)
        self._shown = self._begun = ("", "")

    def follow(self, tasks: Collection[TaskView]) -> str:
        """The bytes that bring title and progress up to date."""
        before, self._shown = self._shown, self._wanted(tasks)
        begun = PUSH_TITLE if self._titled and before == self._begun else ""
        return begun + _changed(before, self._shown)

    def leave(self) -> str:
        """The bytes that put back what was there before."""
        if self._shown == self._begun:
            return ""
        self._shown = self._begun
        return (progress(_NONE) if self._progressing else "") + (POP_TITLE if self._titled else "")

    def _wanted(self, tasks: Collection[TaskView]) -> tuple[str, str]:
        return (
            title(f"{headline(tasks)} — mcptask") if self._titled else "",
            progress(*standing(tasks)) if self._progressing else "",
        )


def _changed(before: tuple[str, str], after: tuple[str, str]) -> str:
    return "".join(new for old, new in zip(before, after, strict=True) if new != old)


def headline(tasks: Collection[TaskView]) -> str:
    """`reflow_month 68%`, `◐ reflow_month asks`, `✓ reflow_month`; of several: `3 working · 1 asks`."""
    if len(tasks) != 1:
        return summary(tasks)
    (view,) = tasks
    name = clean(view.subject.tool or f"task {view.subject.task_id}")
    if view.questions:
        return f"{look(view.status).glyph} {name} asks"
    if not view.active:
        return f"{look(view.status).glyph} {name}"
    return name if view.progress is None else f"{name} {percent(view.progress)}"


def standing(tasks: Collection[TaskView]) -> tuple[int, int]:
    """State and percent: of one task by what it says of itself, of several by how many have ended."""
    ended = [view for view in tasks if not view.active]
    share: float | None = len(ended) / len(tasks)
    if len(tasks) == 1 and not ended:
        share = next(iter(tasks)).progress
    done = round(100 * (share or 0))
    if any(view.status == Status.INPUT_REQUIRED and view.questions for view in tasks):
        return _PAUSED, done or 100  # nothing would show of a pause at 0
    if any(view.outcome is not None and not view.outcome.ok for view in ended):
        return _ERROR, done
    return (_SO_FAR, done) if share else (_BUSY, 0)
