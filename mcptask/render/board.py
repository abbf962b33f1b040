"""The picture of several tasks: a summary, then a row a task, active ones first.

What has no room is counted, never left out silently. Rows stand in the order of the tasks' numbers, not of
their news: a table whose rows jump cannot be read, and where nothing jumps little is drawn anew.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mcptask.protocol.task import Status
from mcptask.render.cells import cell_width, fit, shorten
from mcptask.render.ink import Line, Piece, line
from mcptask.render.parts import flow, percent, sides
from mcptask.render.questions import ANOTHER, asked, task_name, to_type
from mcptask.render.report import Subject
from mcptask.render.style import look
from mcptask.render.text import clean, clock_time, humane
from mcptask.render.view import Screen, TaskView, mode_phrase, summary, whole

_MOST_WARNINGS = 2
_BELOW = "  answered below"
_ROWS_ABOVE_FORM = 3  # one row of the screen in so many, at most
# A screen with room for both wide columns; and one that has none but for the number and the message.
_ROOMY, _NARROW = 76, 40
# A message gets so many columns before the numbers after it get any.
_LEAST_MESSAGE = 8
# Where the active tasks alone would fill the screen, one row in so many is for the latest bad ends.
_FOR_BAD_ENDS = 4
# With fewer rows, one count of all that have none.
_ROWS_FOR_COUNTS = 5

# A task that has a row, or several that share one, as a count.
_Row = TaskView | Sequence[TaskView]


@dataclass(frozen=True, slots=True)
class _Widths:
    """Columns of each cell; 0 for one that is left out: `server` where every task is on one and room is
    short, and `tool` as well where there is hardly any.
    """

    ref: int
    tool: int
    server: int
    rest: int


@dataclass(frozen=True, slots=True)
class _Groups:
    """Tasks by how much they matter now: open questions first. Each in the order of the table."""

    active: Sequence[TaskView]
    bad: Sequence[TaskView]
    completed: Sequence[TaskView]


def board(screen: Screen, now: float, width: int, height: int) -> list[Line]:
    """Summary, rows, folded counts, warnings, foot; within `height` unless the last rows are bad ends.

    Above a form only what asks has a row: the others go on meanwhile, and what stands there would be old.
    """
    groups = _grouped(screen.tasks)
    head = _head(screen, groups, now, width)
    if screen.form is not None:
        asking = [view for view in groups.active if view.questions]
        rows = list(_folded(asking, max(height // _ROWS_ABOVE_FORM, 1)))
        return [*head, *_drawn(rows, now, width, screen.form)]
    foot = [] if screen.over or not groups.active else [_foot(groups.active, width)]
    warnings = _warnings(screen.tasks)
    room = max(height - len(head) - len(foot) - len(warnings), 1)
    rows = list(_last(groups, room) if screen.over else _rows(groups, room))
    return [
        *head,
        *_drawn(rows, now, width),
        *(line(Piece(shorten(f"  ! {text}", width), "yellow")) for text in warnings),
        *(line(Piece(shorten(text, width), "dim")) for text in foot),
    ]


def _drawn(
    rows: Sequence[_Row], now: float, width: int, form: Subject | None = None
) -> Iterator[Line]:
    widths = _widths([row for row in rows if isinstance(row, TaskView)], width)
    for row in rows:
        if isinstance(row, TaskView):
            yield _row(row, widths, now, asked_below=row.subject == form)
        else:
            yield _count(row, width)


def _grouped(views: Sequence[TaskView]) -> _Groups:
    asking: list[TaskView] = []
    running: list[TaskView] = []
    completed: list[TaskView] = []
    bad: list[TaskView] = []
    for view in views:
        if view.active:
            asks = view.status == Status.INPUT_REQUIRED and view.questions
            (asking if asks else running).append(view)
        else:
            (completed if view.status == Status.COMPLETED else bad).append(view)
    for group in (asking, running, completed, bad):
        group.sort(key=_place)
    return _Groups([*asking, *running], bad, completed)


def _place(view: TaskView) -> tuple[int, str]:
    return view.subject.ref or 0, view.subject.task_id


def _head(screen: Screen, groups: _Groups, now: float, width: int) -> list[Line]:
    """`3 working · 1 asks            push · 0:42`; the mode gives way where both have no room."""
    counts, time = summary(screen.tasks), clock_time(now - screen.since)
    mode = "" if screen.over else mode_phrase(groups.active)
    right = f"{mode} · {time}" if mode else time
    if cell_width(counts) + cell_width(right) + 2 > width:
        right = time
    first, *rest = flow(counts.split(" · "), max(width - len(right) - 2, 1), cut=True)
    return [
        *sides(line(Piece(first, "bold")), Piece(right), width),
        *(line(Piece(each, "bold")) for each in rest),
    ]


def _last(groups: _Groups, room: int) -> Iterator[_Row]:
    """The table that stays: of an end that was no success, and of a task that goes on, nothing is folded."""
    yield from groups.active
    yield from groups.bad
    if len(groups.active) + len(groups.bad) + len(groups.completed) <= room:
        yield from groups.completed
    elif groups.completed:
        yield groups.completed


def _rows(groups: _Groups, room: int) -> Iterator[_Row]:
    active, bad, completed = groups.active, groups.bad, groups.completed
    if len(active) + len(bad) + len(completed) <= room:
        yield from (*active, *bad, *completed)
        return
    if room < _ROWS_FOR_COUNTS:
        yield from _folded([*active, *bad, *completed], room)
        return
    room -= bool(completed)
    # Which of the bad ends have a row changes only with a new one: the latest are there.
    share = room - len(active) if len(active) < room else 0
    for_bad = min(len(bad), max(share, -(-room // _FOR_BAD_ENDS)))
    yield from _folded(active, room - for_bad)
    yield from _folded(bad, for_bad, latest=True)
    if completed:
        yield completed


def _folded(views: Sequence[TaskView], room: int, *, latest: bool = False) -> Iterator[_Row]:
    """As many rows as have room, the last of them for the count of the rest."""
    if len(views) <= room:
        yield from views
        return
    ranked = sorted(views, key=_ended_at, reverse=True) if latest else views
    kept, rest = ranked[: max(room - 1, 0)], ranked[max(room - 1, 0) :]
    yield from sorted(kept, key=_place) if latest else kept
    yield rest


def _ended_at(view: TaskView) -> float:
    return view.ended_at or 0.0


def _foot(active: Sequence[TaskView], width: int) -> str:
    left = "Ctrl-C leaves them running"
    away = [view for view in active if view.outage]
    if not away:
        back = f"{left}: mcptask watch {_all_of(active)}"
        return back if cell_width(back) <= width else left  # a command is never cut
    servers = ", ".join(sorted({clean(view.subject.server) for view in away}))
    busy = all(view.outage and view.outage.busy for view in away)
    what = (
        f"{servers} asks for fewer requests" if busy else f"No answer from {servers}; trying again"
    )
    return f"{what}. {left}"


def _all_of(views: Sequence[TaskView]) -> str:
    """What to type for them: those that are not stored here have to be named."""
    where = next((view.subject.where for view in views if view.subject.where), "")
    return to_type([_name(view) for view in views], where) if where else "--all"


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
    if width < _NARROW:
        ref, tool, server = min(ref, 6), 0, 0
    used = 2 + ref + 2 + sum(column + 2 for column in (tool, server) if column)
    return _Widths(ref, tool, server, max(width - used, 1))


def _count(views: Sequence[TaskView], width: int) -> Line:
    if all(view.status == Status.COMPLETED for view in views):
        text = f"{summary(views)} (mcptask list --status completed)"
    else:
        text = f"and {summary(views)} more (mcptask list)"
        if cell_width(text) + 2 > width:
            text = f"and {len(views)} more (mcptask list)"
    return line(Piece(f"  {text}", "dim"))


def _row(view: TaskView, widths: _Widths, now: float, *, asked_below: bool) -> Line:
    style = look(view.status)
    lead = f"  {fit(_name(view), widths.ref, right=True)}  "
    for text, columns in (
        (view.subject.tool or "–", widths.tool),
        (view.subject.server, widths.server),
    ):
        lead += f"{fit(clean(text), columns)}  " if columns else ""
    room = widths.rest - 2  # behind the glyph
    tails = [_BELOW] if asked_below else _tails(view, now)
    tail = next((tail for tail in tails if cell_width(tail) + _LEAST_MESSAGE <= room), "")
    said = fit(_message(view, now), max(room - cell_width(tail), 1))
    return line(lead, Piece(style.glyph, style.colour), f" {said}", Piece(tail, "dim"))


def _tails(view: TaskView, now: float) -> Iterator[str]:
    """The numbers, or what to type where the task asks; then what needs less room. A command is never cut."""
    if view.left & view.questions.keys():
        yield f"  mcptask update {to_type([_name(view)], view.subject.where)}"
    time = f"{clock_time(view.elapsed(now)):>10}"
    if view.active and not view.questions:
        share = view.progress
        yield f"{'–' if share is None else percent(share):>6}{time}"
    yield time


def _message(view: TaskView, now: float) -> str:
    if view.outage:
        wait = whole(view.outage.until - now)
        again = f"again in {humane(wait)}" if wait else "trying again"
        return f"{view.outage.brief}; {again}"
    for key, request in view.questions.items():
        return f"asks{ANOTHER * (key in view.changed)}: {asked(request)}"
    if view.sent:
        return "; ".join(view.sent)
    word = look(view.status).word
    if view.active and view.status == Status.WORKING:
        return view.message or word
    return f"{word}: {view.message}" if view.message else word
