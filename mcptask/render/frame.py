"""One picture of what is followed: a pure function of what is known, the time and the width."""

from collections.abc import Iterator

from mcptask.protocol.task import Status
from mcptask.render.answer_line import answer_line
from mcptask.render.board import board
from mcptask.render.cells import cell_width
from mcptask.render.ink import Line, Piece, columns, cropped, line, marked
from mcptask.render.parts import (
    bar,
    flow,
    named,
    percent,
    pulse,
    sides,
    spinner,
    who,
    wrapped,
)
from mcptask.render.questions import Request, fields, question, task_name, to_type
from mcptask.render.style import PENDING, look
from mcptask.render.text import clean, clock_time, flat, humane
from mcptask.render.view import Screen, TaskView, hearing_phrase, outage_phrase, whole

# Beyond this a line is hard to read as one.
WIDEST = 120
_BAR = 28
_SHORTEST_BAR = 10
_MOST_MESSAGE_LINES = 3
_MOST_WARNINGS = 3
# Outcomes that are said of the task itself: "reflow_month on studio completed after 0:08".
_VERBS = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})

_LEFT = "Left open. Answer it in another terminal, or here after Ctrl-C:"
_COUNTDOWN = ", next in {}"
COUNTED_DOWN = 2.0  # s to the next poll from which on they are shown


def frame(screen: Screen, now: float, width: int, height: int = 24) -> list[Line]:
    """The lines of one picture, none wider than `width`, at most `height` unless it is the last one."""
    room = max(min(width, WIDEST), 1)
    if len(screen.tasks) > 1:
        lines = board(screen, now, room, height)
    else:
        lines = [each for view in screen.tasks for each in _fitted(view, screen, now, room, height)]
    if not screen.over and len(lines) > height:
        hidden = len(lines) - height + 1
        lines = [*lines[: height - 1], line(Piece(f"… {hidden} more lines", "dim"))]
    return [cropped(marked(each), room) for each in lines]


def _fitted(view: TaskView, screen: Screen, now: float, width: int, height: int) -> list[Line]:
    """The fields of a form give way where there is no room, never the command that answers it."""
    lines = list(_single(view, screen, now, width))
    if (over := len(lines) - height) <= 0:
        return lines
    asked = sum(len(_fields(request, width)) for request in view.questions.values())
    # Each form that is cut has one line more, for the word of it.
    most = max(asked - over - len(view.questions), 0)
    return list(_single(view, screen, now, width, most))


def _single(
    view: TaskView, screen: Screen, now: float, width: int, most_fields: int | None = None
) -> Iterator[Line]:
    """`most_fields`: that many lines of fields, in all questions together."""
    if screen.over:
        yield from _last(view, now, width)
        return
    title = line(Piece(who(view.subject.tool, view.subject.server), "bold"))
    yield from sides(title, _ids(view), width)
    yield _states(view, now, width)
    if screen.form is not None:
        yield from _above_form(view, width)
        return
    yield from _activity(view, now, width)
    for text in _facts(view, now, width):
        yield line(Piece(text, "dim"))
    if view.outage:
        for text in wrapped(outage_phrase(view, now), width, 2):
            yield line(Piece(text, "yellow"))
    yield from _questions(view, width, most_fields)
    yield from _warnings(view, width)
    if view.active:
        subject = view.subject
        task = to_type([task_name(subject.ref, subject.task_id)], subject.where)
        for text in wrapped(f"Ctrl-C leaves it running: mcptask watch {task}", width, 9):
            yield line(Piece(text, "dim"))


def _above_form(view: TaskView, width: int) -> Iterator[Line]:
    """What still holds while nothing is drawn; the question itself is the form's."""
    for text in wrapped(view.message, width, _MOST_MESSAGE_LINES) if view.message else ():
        yield line(text)
    yield from _sent(view, width)
    if len(view.questions) > 1:
        asked = f"{len(view.questions)} questions: {', '.join(map(clean, view.questions))}"
        yield from (line(text) for text in wrapped(asked, width, 2))


def _ids(view: TaskView) -> Piece:
    ref = f"{view.subject.ref} · " if view.subject.ref is not None else ""
    return Piece(f"{ref}{clean(view.subject.task_id)}", "dim")


def _last(view: TaskView, now: float, width: int) -> Iterator[Line]:
    style = look(view.status)
    what = who(view.subject.tool, view.subject.server)
    said = f" {style.word}" if view.outcome and view.status in _VERBS else f": {style.word}"
    if view.outcome is None and view.active:
        said = f": still {style.word}"
    text = f" {what}{said} after {clock_time(view.elapsed(now))}"
    yield from sides(line(Piece(style.glyph, style.colour), text), _ids(view), width)
    yield from _warnings(view, width)


def _states(view: TaskView, now: float, width: int) -> Line:
    slots = _slots(view)
    away = ""
    if view.outage and view.heard_at is not None:
        away = f"     (last heard {clock_time(now - view.heard_at)} ago)"
    for join in (" ─── ", " ─ "):
        first, second, last = slots
        text = line(first, Piece(join, "dim"), second, Piece(join, "dim"), last)
        for tail in (away, ""):
            if columns(text) + len(tail) <= width:
                return line(text, Piece(tail, "dim"))
    return cropped(line(named(look(view.status), loud=True)), width)


def _slots(view: TaskView) -> list[Piece | Line]:
    """Working, input required and the end; a status that we do not know stands where working does."""
    status = view.task.status if view.task else Status.WORKING
    known = status in {Status.INPUT_REQUIRED, *_VERBS}
    first = Status.WORKING if known else status
    ended = view.status if not view.active else None
    current = "" if ended else status
    slots = [_slot(view, name, current) for name in (first, Status.INPUT_REQUIRED)]
    if ended:
        return [*slots, named(look(ended), loud=True)]
    return [*slots, Piece(f"{PENDING.glyph} {look(Status.COMPLETED).word}", "dim")]


def _slot(view: TaskView, name: str, current: str) -> Piece | Line:
    style = look(name)
    if name == current:
        return named(style, loud=True)
    # Every task begins by working, whether it was seen then or not.
    if name in view.visited or name == Status.WORKING:
        return line(Piece(look(Status.COMPLETED).glyph, "green"), f" {style.word}")
    return Piece(f"{PENDING.glyph} {style.word}", "dim")


def _activity(view: TaskView, now: float, width: int) -> Iterator[Line]:
    """Spinner, message and bar: on one line where the message leaves room for the bar."""
    if not view.active:
        for text in wrapped(view.message, width, _MOST_MESSAGE_LINES) if view.message else ():
            yield line(text)
        return
    asking = view.status == Status.INPUT_REQUIRED and not view.waits
    lead = Piece(look(view.status).glyph, "yellow") if asking else spinner(now)
    message = view.message or _instead(view, asking)
    texts = wrapped(message, width - 2, _MOST_MESSAGE_LINES)
    meter = None if asking or view.outage else _meter(view, now, width, cell_width(texts[-1]))
    fits = meter and cell_width(texts[-1]) + 6 + columns(meter) <= width
    for index, text in enumerate(texts):
        last = meter if meter and fits and index == len(texts) - 1 else ()
        yield line(lead if index == 0 else " ", " ", text, "    " if last else "", last)
    if meter and not fits:
        yield line("  ", meter)


def _instead(view: TaskView, asking: bool) -> str:
    if view.waits:
        return f"waiting for {clean(view.subject.server)}"
    return "waiting for an answer" if asking else f"{look(view.status).word} …"


def _meter(view: TaskView, now: float, width: int, used: int) -> Line | None:
    share = view.progress
    room = width - used - 6 - (6 if share is not None else 0)
    if room < _SHORTEST_BAR:  # on a line of its own
        room = width - 8
    length = min(_BAR, room)
    if length < _SHORTEST_BAR:
        return line(percent(share)) if share is not None else None
    if share is None:
        return pulse(now, length)
    return line(bar(share, length), f"  {percent(share):>4}")


def _facts(view: TaskView, now: float, width: int) -> list[str]:
    facts = [f"{clock_time(view.elapsed(now))} elapsed"]
    left = view.ttl_left(now)
    if left is not None:
        facts.append(f"result kept for {humane(left)}" if left > 0 else "its time to live is over")
    if view.active and not view.outage:
        spare = width - cell_width(" · ".join(facts)) - len(" · ")
        facts.insert(1, _hearing(view, now, spare))
    return flow(facts, width, cut=True)


def _hearing(view: TaskView, now: float, spare: int) -> str:
    """`polling every 5 s, next in 3 s`, and why it polls where so many columns have room for that."""
    how = hearing_phrase(view, now)
    if view.mode and not view.mode.push:
        why = f"{how} ({flat(view.mode.why)})"
        # Room for the countdown too, which comes and goes: the reason must not flicker with it.
        how = why if cell_width(why + _COUNTDOWN.format("59 s")) <= spare else how
    if view.next_poll is None or (view.mode and view.mode.push):
        return how
    wait = view.next_poll - now
    # A countdown that is over within a second or two only flickers.
    return how + _COUNTDOWN.format(humane(whole(wait))) if wait > COUNTED_DOWN else how


def _questions(view: TaskView, width: int, most_fields: int | None) -> Iterator[Line]:
    asked, subject = view.questions, view.subject
    for key, request in asked.items():
        text = question(subject.server, key, request, changed=key in view.changed)
        yield from (line(Piece(part, "yellow")) for part in wrapped(text, width, 4))
        told = _fields(request, width)
        shown = told if most_fields is None else told[:most_fields]
        yield from map(line, shown)
        if len(shown) < len(told):
            yield line(Piece(f"  … {len(told) - len(shown)} more lines of fields", "dim"))
        if most_fields is not None:
            most_fields -= len(shown)
        if key in view.left:
            name, total = (subject.ref, subject.task_id), len(asked)
            yield from _left(answer_line(*name, key, request, total, subject.where), width)
    yield from _sent(view, width)


def _fields(request: Request, width: int) -> list[str]:
    lines = []
    for text in fields(request):
        first, *rest = wrapped(f"  {text}", width - 4, 2)
        lines += [first, *(f"    {part}" for part in rest)]
    return lines


def _left(answer: str, width: int) -> Iterator[Line]:
    """A command to copy is never cut."""
    yield from map(line, wrapped(f"  {_LEFT}", width, 3))
    if cell_width(answer) + 4 <= width:
        yield line(Piece(f"    {answer}", "bold"))
        return
    yield from (line(Piece(text, "bold")) for text in wrapped(answer, width, 9))


def _sent(view: TaskView, width: int) -> Iterator[Line]:
    return (line(part) for text in view.sent for part in wrapped(text, width, 2))


def _warnings(view: TaskView, width: int) -> Iterator[Line]:
    hidden = len(view.warnings) - _MOST_WARNINGS
    if hidden > 0:
        yield line(Piece(f"! {hidden} earlier warnings", "yellow"))
    for warning in view.warnings[-_MOST_WARNINGS:]:
        for text in wrapped(f"! {warning}", width, 3):
            yield line(Piece(text, "yellow"))
