"""The picture of several tasks: a summary, then a row a task, active ones first.

What has no room is counted, never left out silently.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from mcptask.protocol.task import Status
from mcptask.render.cells import cell_width, fit, shorten
from mcptask.render.parts import percent, sides
from mcptask.render.questions import asked, task_name
from mcptask.render.style import look
from mcptask.render.text import clean, clock_time, humane
from mcptask.render.view import Screen, TaskView, summary, whole

_MOST_WARNINGS = 2
# A screen with room for both wide columns.
_ROOMY = 76


@dataclass(frozen=True, slots=True)
class _Widths:
    """Columns of each cell; `server` is 0 where every task is on one server and room is short."""

    ref: int
    tool: int
    server: int
    rest: int


def board(screen: Screen, now: float, width: int, height: int) -> list[Text]:
    """Summary, rows, folded counts, warnings, foot; within `height` unless the last rows are bad ends."""
    views = sorted(screen.tasks, key=_order)
    time = clock_time(now - screen.since)
    counts = Text(shorten(summary(views), max(width - len(time) - 2, 1)), "bold")
    head = sides(counts, Text(time), width)
    active = [view for view in views if view.active]
    foot = [] if screen.over or not active else [_foot(active)]
    warnings = _warnings(views)
    room = max(height - len(head) - len(foot) - len(warnings), 1)
    shown, folded = _fold(views, room, whole=screen.over)
    widths = _widths(shown, width)
    rows = [_row(view, widths, now) for view in shown]
    counted = [Text(shorten(f"  {text}", width), "dim") for text in folded]
    noted = [Text(shorten(f"  ! {text}", width), "yellow") for text in warnings]
    return [*head, *rows, *counted, *noted, *(Text(shorten(text, width), "dim") for text in foot)]


def _order(view: TaskView) -> tuple[int, int, str]:
    """Questions first, then what runs, then what ended badly, then what completed."""
    ranks = (0 if view.questions else 1) if view.active else 2
    rank = 3 if view.status == Status.COMPLETED else ranks
    return rank, view.subject.ref or 0, view.subject.task_id


def _fold(
    views: Sequence[TaskView], room: int, *, whole: bool
) -> tuple[Sequence[TaskView], list[str]]:
    """The rows that have room, and the counts of the rest. `whole`: only completed ones may fold."""
    if len(views) <= room:
        return views, []
    completed = [view for view in views if view.status == Status.COMPLETED]
    others = [view for view in views if view.status != Status.COMPLETED]
    folded = [f"{summary(completed)} (mcptask list --status completed)"] if completed else []
    if whole or len(others) + len(folded) <= room:
        return others, folded
    running = [view for view in others if view.active]
    ended = [view for view in others if not view.active]
    if ended:
        folded.insert(0, f"{summary(ended)} (mcptask list)")
    if len(running) + len(folded) <= room:
        spare = room - len(running) - len(folded)
        if spare and ended:  # as many of the bad ends as still fit
            folded[0] = f"{summary(ended[spare:])} more (mcptask list)"
        return [*running, *ended[:spare]], folded
    kept = max(room - len(folded) - 1, 0)
    return running[:kept], [f"and {summary(running[kept:])} more (mcptask list)", *folded]


def _foot(active: Sequence[TaskView]) -> str:
    away = [view for view in active if view.outage]
    if not away:
        return "Ctrl-C leaves them running: mcptask watch --all"
    servers = ", ".join(sorted({clean(view.subject.server) for view in away}))
    return f"No answer from {servers}; trying again. Ctrl-C leaves them running"


def _warnings(views: Sequence[TaskView]) -> list[str]:
    found = [f"{_name(view)}: {text}" for view in views for text in view.warnings]
    hidden = len(found) - _MOST_WARNINGS
    return [*([f"{hidden} more warnings"] if hidden > 0 else []), *found[:_MOST_WARNINGS]]


def _name(view: TaskView) -> str:
    return task_name(view.subject.ref, view.subject.task_id)


def _widths(views: Sequence[TaskView], width: int) -> _Widths:
    roomy = width >= _ROOMY
    ref = min(max((cell_width(_name(view)) for view in views), default=1), 12)
    tool = max((cell_width(clean(view.subject.tool or "–")) for view in views), default=1)
    servers = {clean(view.subject.server) for view in views}
    server = max((cell_width(name) for name in servers), default=0)
    tool, server = min(tool, 18 if roomy else 12), min(server, 14 if roomy else 8)
    if len(servers) < 2 and not roomy:
        server = 0
    used = 2 + ref + 2 + tool + 2 + (server + 2 if server else 0)
    return _Widths(ref, tool, server, max(width - used, 12))


def _row(view: TaskView, widths: _Widths, now: float) -> Text:
    style = look(view.status)
    server = fit(clean(view.subject.server), widths.server) + "  " if widths.server else ""
    lead = f"  {fit(_name(view), widths.ref, right=True)}  "
    lead += f"{fit(clean(view.subject.tool or '–'), widths.tool)}  {server}"
    tail = _tail(view, now)
    message = max(widths.rest - 2 - cell_width(tail), 1)
    said = fit(_message(view, now), message)
    return Text.assemble(lead, (style.glyph, style.colour), f" {said}", (tail, "dim"))


def _tail(view: TaskView, now: float) -> str:
    """The numbers, or what to type where the task asks."""
    if view.questions:
        return f"  mcptask update {_name(view)}"
    share = view.progress
    done = percent(share) if share is not None else "–" if view.active else ""
    return f"{done:>6}{clock_time(view.elapsed(now)):>10}"


def _message(view: TaskView, now: float) -> str:
    if view.outage:
        wait = whole(view.outage.until - now)
        again = f"again in {humane(wait)}" if wait else "trying again"
        return f"no answer ({view.outage.reason}); {again}"
    for request in view.questions.values():
        return f"asks: {asked(request)}"
    word = look(view.status).word
    if view.active and view.status == Status.WORKING:
        return view.message or word
    return f"{word}: {view.message}" if view.message else word
