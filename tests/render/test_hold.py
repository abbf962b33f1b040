"""The live view steps aside for a form: what stands above it, what waits, and what is drawn afterwards."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

import pytest
from render_samples import (
    ASKS,
    COMPLETED,
    START,
    SUBJECT,
    WORKING,
    Log,
    Seen,
    Ticking,
    answered,
    asking,
    env,
    task,
)

from mcptask.protocol.events import Created, StatusChanged, TaskEvent
from mcptask.render.jsonlines import JsonLinesReporter
from mcptask.render.live import LiveReporter

ABOVE = ["$ mcptask watch 7", "✓ working ─── ◐ input required ─── ○ completed"]
FORM = "approve? (y/n) "


@pytest.fixture
def seen() -> Iterator[Seen]:
    """A watch of a task that asks."""
    watching = Seen(columns=60)
    watching.show(0, Created(task()))
    watching.show(1, ASKS)
    yield watching
    watching.live.close()


def typed(seen: Seen, text: str = "y\r\n") -> None:
    seen.stream.write(text)


def short(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("reflow_month on studio")]


def test_in_a_form_nothing_is_drawn_whatever_happens_and_however_long(seen: Seen) -> None:
    with seen.live.hold(SUBJECT):
        assert short(seen.look()) == ABOVE
        assert (seen.screen.cursor.x, seen.screen.cursor.hidden) == (0, False)
        typed(seen, FORM)
        seen.look()
        for at in range(2, 60):
            seen.show(at, StatusChanged(replace(asking(), status_message=str(at)), None))
            seen.live.tick()
        seen.live.note("warning: the disk is full")
        assert seen.stream.getvalue() == ""
        typed(seen)
    lines = short(seen.look())
    assert lines[:4] == [*ABOVE, f"{FORM}y", "warning: the disk is full"]
    assert lines[5] == "◐ 59"
    assert seen.screen.cursor.hidden


def test_the_view_goes_on_below_the_form_and_leaves_it_alone(seen: Seen) -> None:
    with seen.live.hold(SUBJECT):
        typed(seen, f"{FORM}y\r\n")
    seen.show(3, answered("approve"))
    assert "approve: sent, not yet applied" in seen.look()
    seen.show(4, WORKING)
    assert "approve: sent, not yet applied" not in seen.look()
    seen.show(8, COMPLETED)
    seen.live.close()
    last = ["✓ reflow_month on studio completed after 0:08", "7 · tsk_8f21c0ffee"]
    assert short(seen.look()) == [*ABOVE, f"{FORM}y", *last]
    assert not seen.screen.cursor.hidden


def test_a_form_that_fails_gives_the_screen_back_as_well(seen: Seen) -> None:
    with pytest.raises(KeyboardInterrupt), seen.live.hold(SUBJECT):
        raise KeyboardInterrupt
    seen.show(3, WORKING)
    assert any("Reflowing 96 of 142 bookings" in line for line in seen.look())


def test_what_comes_at_the_end_of_a_watch_waits_for_its_form_no_more(seen: Seen) -> None:
    with seen.live.hold(SUBJECT):
        seen.look()
        seen.live.note("warning: kept")
        seen.show(3, COMPLETED)
        seen.live.close()
        seen.live.note("after all")
        closed = seen.look()
    assert closed[-4:-2] == ["warning: kept", "✓ reflow_month on studio completed after 0:03"]
    assert closed[-1] == "after all"
    assert seen.stream.getvalue() == ""


def test_the_last_table_has_every_row_whatever_form_is_open(seen: Seen) -> None:
    seen.live.show(replace(SUBJECT, ref=8, task_id="other"), WORKING)
    with seen.live.hold(SUBJECT):
        seen.live.close()
    assert [line.split()[0] for line in seen.look()[-2:]] == ["7", "8"]


def test_one_hold_in_another_keeps_the_screen_until_the_outer_one_is_over(seen: Seen) -> None:
    with seen.live.hold(SUBJECT):
        with seen.live.hold(SUBJECT):
            seen.look()
        seen.live.note("warning: kept")
        assert seen.stream.getvalue() == ""
    assert "warning: kept" in seen.look()


def test_ctrl_z_in_a_form_stops_and_draws_nothing(seen: Seen) -> None:
    stopped: list[str] = []
    with seen.live.hold(SUBJECT):
        seen.look()
        seen.live.aside(lambda: stopped.append(seen.stream.getvalue()))
        assert stopped == [""]
        assert seen.stream.getvalue() == ""


def test_title_and_taskbar_go_on_above_a_form_and_rest_while_it_is_stopped() -> None:
    stream, ticking = io.StringIO(), Ticking()
    world = env(ticking, stream, TERM="foot")
    live = LiveReporter(world, animate=False, size=lambda: (60, 24))

    def written() -> str:
        text = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        return text

    live.show(SUBJECT, ASKS)
    with live.hold(SUBJECT):
        written()
        live.show(SUBJECT, WORKING)
        title = "\x1b]2;reflow_month 68% — mcptask\x1b\\"
        assert title in written()
        left: list[str] = []
        live.aside(lambda: left.append(written()))
        assert "\x1b[23;0t" in left[0]
        assert title in written()
    live.close()


def test_before_there_is_anything_to_show_a_form_has_the_screen_to_itself() -> None:
    watching = Seen(TERM="foot")
    with watching.live.hold(replace(SUBJECT, ref=None, task_id="")):
        assert watching.stream.getvalue() == ""
        watching.live.note("a remark")
        watching.live.aside(lambda: None)
        assert watching.stream.getvalue() == ""
    assert watching.look()[-1] == "a remark"


@pytest.mark.parametrize("event", [WORKING, COMPLETED])
def test_a_view_that_is_closed_is_held_without_harm(seen: Seen, event: TaskEvent) -> None:
    seen.show(2, event)
    seen.live.close()
    seen.look()
    with seen.live.hold(SUBJECT):
        assert seen.stream.getvalue() == ""
    assert seen.stream.getvalue() == ""


def test_lines_and_json_lines_go_on_beside_a_form() -> None:
    log, out = Log(), io.StringIO()
    json_lines = JsonLinesReporter(out, Ticking().clock, io.StringIO())
    with log.at(START).hold(SUBJECT), json_lines.hold(SUBJECT):
        log.reporter.show(SUBJECT, WORKING)
        json_lines.show(SUBJECT, WORKING)
    assert "working" in log.new()
    assert json_lines.printed == 1
