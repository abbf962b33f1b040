"""One picture of what is followed: a pure function of what is known, the time and the width."""

from collections.abc import Iterator

from rich.text import Text

from mcptask.protocol.task import Status
from mcptask.render.answer_line import answer_line
from mcptask.render.board import board
from mcptask.render.cells import cell_width, shorten
from mcptask.render.parts import (
    bar,
    cropped,
    flow,
    named,
    percent,
    pulse,
    sides,
    spinner,
    who,
    wrapped,
)
from mcptask.render.questions import fields, question, task_name
from mcptask.render.style import PENDING, look
from mcptask.render.text import clean, clock_time, humane
from mcptask.render.view import Screen, TaskView, outage_phrase, polling_phrase, whole

# Beyond this a line is hard to read as one.
WIDEST = 120
_BAR = 28
_SHORTEST_BAR = 10
_MOST_MESSAGE_LINES = 3
_MOST_WARNINGS = 3
# Outcomes that are said of the task itself: "reflow_month on studio completed after 0:08".
_VERBS = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED})

COUNTED_DOWN = 2.0  # s to the next poll from which on they are shown


def frame(screen: Screen, now: float, width: int, height: int = 24) -> Text:
    """The lines of one picture, none wider than `width`, at most `height` unless it is the last one."""
    columns = max(min(width, WIDEST), 1)
    if len(screen.tasks) > 1:
        lines = board(screen, now, columns, height)
    else:
        lines = [line for view in screen.tasks for line in _single(view, screen, now, columns)]
    if not screen.over and len(lines) > height:
        hidden = len(lines) - height + 1
        lines = [*lines[: height - 1], Text(shorten(f"… {hidden} more lines", columns), "dim")]
    fitted = [cropped(line, columns) for line in lines]
    for line in fitted:
        line.rstrip()
    return Text("\n", no_wrap=True, end="").join(fitted)


def _single(view: TaskView, screen: Screen, now: float, width: int) -> Iterator[Text]:
    if screen.over:
        yield from _last(view, now, width)
        return
    yield from sides(Text(who(view.subject.tool, view.subject.server), "bold"), _ids(view), width)
    yield _states(view, now, width)
    yield from _activity(view, now, width)
    for line in flow(_facts(view, now), width, cut=True):
        yield Text(line, "dim")
    if view.outage:
        for line in wrapped(outage_phrase(view, now), width, 2):
            yield Text(line, "yellow")
    yield from _questions(view, width)
    yield from _warnings(view, width)
    if view.active:
        name = task_name(view.subject.ref, view.subject.task_id)
        yield Text(shorten(f"Ctrl-C leaves it running: mcptask watch {name}", width), "dim")


def _ids(view: TaskView) -> Text:
    ref = f"{view.subject.ref} · " if view.subject.ref is not None else ""
    return Text(f"{ref}{clean(view.subject.task_id)}", "dim")


def _last(view: TaskView, now: float, width: int) -> Iterator[Text]:
    style = look(view.status)
    what = who(view.subject.tool, view.subject.server)
    said = f" {style.word}" if view.outcome and view.status in _VERBS else f": {style.word}"
    if view.outcome is None and view.active:
        said = f": still {style.word}"
    text = f" {what}{said} after {clock_time(view.elapsed(now))}"
    yield from sides(Text.assemble((style.glyph, style.colour), text), _ids(view), width)
    yield from _warnings(view, width)


def _states(view: TaskView, now: float, width: int) -> Text:
    slots = _slots(view)
    away = ""
    if view.outage and view.heard_at is not None:
        away = f"     (last heard {clock_time(now - view.heard_at)} ago)"
    for join in (" ─── ", " ─ "):
        first, second, last = slots
        text = Text.assemble(first, (join, "dim"), second, (join, "dim"), last)
        for tail in (away, ""):
            if text.cell_len + len(tail) <= width:
                return text.append(tail, "dim")
    return cropped(named(look(view.status), loud=True), width)


def _slots(view: TaskView) -> list[Text]:
    """Working, input required and the end; a status that we do not know stands where working does."""
    status = view.task.status if view.task else Status.WORKING
    known = status in {Status.INPUT_REQUIRED, *_VERBS}
    first = Status.WORKING if known else status
    ended = view.status if not view.active else None
    current = "" if ended else status
    slots = [_slot(view, name, current) for name in (first, Status.INPUT_REQUIRED)]
    if ended:
        return [*slots, named(look(ended), loud=True)]
    return [*slots, Text(f"{PENDING.glyph} {look(Status.COMPLETED).word}", "dim")]


def _slot(view: TaskView, name: str, current: str) -> Text:
    style = look(name)
    if name == current:
        return named(style, loud=True)
    # Every task begins by working, whether it was seen then or not.
    if name in view.visited or name == Status.WORKING:
        return Text.assemble((look(Status.COMPLETED).glyph, "green"), f" {style.word}")
    return Text(f"{PENDING.glyph} {style.word}", "dim")


def _activity(view: TaskView, now: float, width: int) -> Iterator[Text]:
    """Spinner, message and bar: on one line where the message leaves room for the bar."""
    if not view.active:
        for line in wrapped(view.message, width, _MOST_MESSAGE_LINES) if view.message else ():
            yield Text(line)
        return
    asking = view.status == Status.INPUT_REQUIRED
    lead = Text(look(view.status).glyph, "yellow") if asking else spinner(now)
    message = view.message or ("waiting for an answer" if asking else f"{look(view.status).word} …")
    lines = wrapped(message, width - 2, _MOST_MESSAGE_LINES)
    meter = None if asking or view.outage else _meter(view, now, width, cell_width(lines[-1]))
    for index, line in enumerate(lines):
        text = Text.assemble(lead if index == 0 else " ", " ", line)
        fits = meter and index == len(lines) - 1 and text.cell_len + 4 + meter.cell_len <= width
        yield Text.assemble(text, "    ", meter) if meter and fits else text
    if meter and cell_width(lines[-1]) + 6 + meter.cell_len > width:
        yield Text.assemble("  ", meter)


def _meter(view: TaskView, now: float, width: int, used: int) -> Text | None:
    share = view.progress
    room = width - used - 6 - (6 if share is not None else 0)
    if room < _SHORTEST_BAR:  # on a line of its own
        room = width - 8
    length = min(_BAR, room)
    if length < _SHORTEST_BAR:
        return Text(percent(share)) if share is not None else None
    if share is None:
        return pulse(now, length)
    return Text.assemble(bar(share, length), f"  {percent(share):>4}")


def _facts(view: TaskView, now: float) -> Iterator[str]:
    yield f"{clock_time(view.elapsed(now))} elapsed"
    if view.active and not view.outage:
        yield _polling(view, now)
    left = view.ttl_left(now)
    if left is not None:
        yield f"result kept for {humane(left)}" if left > 0 else "its time to live is over"


def _polling(view: TaskView, now: float) -> str:
    every = polling_phrase(view.task)
    if view.next_poll is None:
        return every
    wait = view.next_poll - now
    # A countdown that is over within a second or two only flickers.
    return f"{every}, next in {humane(whole(wait))}" if wait > COUNTED_DOWN else every


def _questions(view: TaskView, width: int) -> Iterator[Text]:
    asked, subject = view.questions, view.subject
    for key, request in asked.items():
        for line in wrapped(question(subject.server, key, request), width, 4):
            yield Text(line, "yellow")
        for line in fields(request):
            first, *rest = wrapped(f"  {line}", width - 4, 2)
            yield from (Text(part) for part in (first, *(f"    {part}" for part in rest)))
        answer = answer_line(subject.ref, subject.task_id, key, request, len(asked))
        together = f"  Answer in another terminal:  {answer}"
        if cell_width(together) <= width:
            yield Text(together, "bold")
        else:  # a command to copy is never cut
            yield Text("  Answer in another terminal:")
            yield from (Text(line, "bold") for line in wrapped(answer, width, 9))


def _warnings(view: TaskView, width: int) -> Iterator[Text]:
    hidden = len(view.warnings) - _MOST_WARNINGS
    if hidden > 0:
        yield Text(shorten(f"! {hidden} earlier warnings", width), "yellow")
    for warning in view.warnings[-_MOST_WARNINGS:]:
        for line in wrapped(f"! {warning}", width, 3):
            yield Text(line, "yellow")
