from __future__ import annotations

import io
import threading
from collections.abc import Iterator

import pytest
from render_samples import (
    APPROVE,
    HOSTILE,
    START,
    SUBJECT,
    Seen,
    Terminal,
    Ticking,
    asking,
    env,
    task,
)

from mcptask.protocol.events import Created, Ended, InputRequired, StatusChanged
from mcptask.protocol.outcome import outcome_of_result
from mcptask.render.live import LiveReporter, terminal_size
from mcptask.render.report import Report

ASKS = InputRequired(asking(), {"approve": APPROVE})
COMPLETED = Ended(outcome_of_result({}, task("completed")))
LAST = "✓ reflow_month on studio completed after 0:08"


@pytest.fixture
def seen() -> Iterator[Seen]:
    watching = Seen()
    yield watching
    watching.live.close()


def test_frames_are_drawn_in_place_and_only_the_last_one_stays(seen: Seen) -> None:
    seen.show(0, Created(task()))
    seen.show(1, StatusChanged(task(message="Reflowing 日本 3/7"), START + 2))
    assert len(seen.look()) == 6
    assert seen.screen.cursor.hidden
    seen.show(2, ASKS)
    assert len(seen.look()) == 9
    seen.show(3, StatusChanged(task(message="Reflowing 4/7"), START + 2))
    assert len(seen.look()) == 6
    seen.show(8, COMPLETED)
    seen.live.close()
    assert seen.look() == ["$ mcptask watch 7", f"{LAST}{'7 · tsk_8f21c0ffee':>{79 - len(LAST)}}"]
    assert (seen.screen.cursor.x, seen.screen.cursor.y) == (0, 2)
    assert not seen.screen.cursor.hidden


def test_nothing_is_written_before_the_first_event_or_after_the_end(seen: Seen) -> None:
    seen.live.tick()
    assert seen.stream.getvalue() == ""
    seen.show(0, Created(task()))
    seen.live.close()
    seen.look()
    seen.live.close()
    seen.show(5, COMPLETED)
    assert not seen.live.tick()
    assert seen.stream.getvalue() == ""


def test_the_document_of_an_ended_task_is_nothing_to_draw(seen: Seen) -> None:
    before = seen.stream.getvalue()
    seen.live.end(Report(outcome_of_result({}, task("completed"))))
    assert seen.stream.getvalue() == before
    assert (seen.live.printed, seen.live.stays) == (0, False)


def test_a_view_that_never_showed_anything_leaves_nothing() -> None:
    watching = Seen()
    watching.live.close()
    assert watching.stream.getvalue() == ""


def test_it_never_draws_faster_than_eight_times_a_second(seen: Seen) -> None:
    writes: list[str] = []
    seen.stream.write = lambda text: writes.append(text) or len(text)  # type: ignore[method-assign]
    for step in range(1000):
        seen.ticking.now = START + step / 1000
        seen.live.show(SUBJECT, StatusChanged(task(message=str(step)), None))
    assert len(writes) <= 9


def test_a_frame_that_would_look_the_same_is_not_written(seen: Seen) -> None:
    still = task("input_required", ttl_ms=None)  # nothing in it moves but the seconds
    seen.show(0, StatusChanged(still, None))
    seen.ticking.now = START + 0.9
    seen.live.tick()
    assert seen.stream.getvalue() == ""
    seen.ticking.now = START + 1.1
    seen.live.tick()
    assert "0:01" in seen.stream.getvalue()


def test_a_frame_that_was_taken_away_is_written_again(seen: Seen) -> None:
    seen.show(0, StatusChanged(task("input_required"), None))
    before = seen.look()
    seen.live.note("a line")
    assert seen.look() == [before[0], "a line", *before[1:]]


def test_a_calm_view_wakes_just_after_the_second_that_it_shows_has_changed(seen: Seen) -> None:
    seen.show(0.25, Created(task()))
    assert seen.live._pause() < 0.5
    seen.ticking.now = START + 30.25
    assert seen.live._pause() == pytest.approx(0.755)


def test_a_wider_or_narrower_terminal_gets_a_whole_new_frame(seen: Seen) -> None:
    seen.show(0, Created(task(message="Reflowing 96 of 142 bookings")))
    for at, columns in enumerate((120, 60, 100), start=1):
        seen.columns = columns
        # A terminal that wraps what no longer fits would need more rows to be erased.
        seen.screen.resize(24, columns)
        seen.ticking.now = START + at
        seen.live.tick()
        assert all(len(line) < columns for line in seen.look())
    assert seen.look()[-1] == "Ctrl-C leaves it running: mcptask watch 7"


def test_the_lines_that_a_narrower_terminal_wrapped_are_erased_too() -> None:
    watching = Seen(columns=80)
    watching.show(0, Created(task(message="Reflowing 96 of 142 bookings")))
    watching.columns = 40
    watching.ticking.now = START + 1
    watching.live.tick()
    # 79, 46, 67, 46 and 41 columns (at 0:00) take 2 rows each at 40 columns: up nine from the last.
    assert watching.stream.getvalue().startswith("\r\x1b[9A\x1b[J")


def test_without_colour_a_frame_has_no_colours_at_all() -> None:
    watching = Seen(NO_COLOR="1")
    watching.ticking.now = START
    watching.live.show(SUBJECT, Created(task()))
    watching.live.close()
    codes = {code for code in watching.stream.getvalue().split("\x1b[")[1:] if "m" in code[:4]}
    assert codes == set()


def test_with_colour_a_frame_is_coloured() -> None:
    watching = Seen()
    watching.live.show(SUBJECT, Created(task()))
    assert "\x1b[1;36m● working\x1b[0m" in watching.stream.getvalue()


def test_a_note_stays_above_the_view(seen: Seen) -> None:
    seen.show(0, Created(task()))
    seen.live.note(f"server says {HOSTILE[:9]}")
    lines = seen.look()
    assert lines[1].startswith("server says \\x1b[2J")
    assert lines[2].startswith("reflow_month on studio")
    assert len(lines) == 7
    seen.live.close()
    assert len(seen.look()) == 3


def test_a_small_terminal_is_never_scrolled() -> None:
    watching = Seen(columns=40, rows=5)
    watching.show(0, Created(task()))
    watching.show(1, ASKS)
    watching.show(2, Created(task()))
    assert watching.screen.cursor.y <= 4
    assert len(watching.look()) <= 5


def test_markup_in_what_a_server_says_is_only_text(seen: Seen) -> None:
    seen.show(0, Created(task(message="[bold]x[/bold] [link=https://evil]y[/link] :smile:")))
    assert any("[bold]x[/bold] [link=https://evil]y[/link] :smile:" in line for line in seen.look())
    assert "evil" not in "".join(seen.stream.getvalue())


def test_a_terminal_that_goes_away_does_not_end_the_watch() -> None:
    watching = Seen()
    watching.live.show(SUBJECT, Created(task()))
    watching.stream.close()
    watching.ticking.now += 1
    watching.live.show(SUBJECT, COMPLETED)
    watching.live.close()


def test_a_thread_keeps_the_view_moving_and_ends_with_it() -> None:
    written = threading.Event()

    class Waiting(Terminal):
        frames = 0

        def write(self, text: str) -> int:
            self.frames += 1
            if self.frames >= 3:
                written.set()
            return super().write(text)

    ticking = Ticking()
    world = env(ticking, Waiting())
    live = LiveReporter(world)
    live.show(SUBJECT, Created(task()))
    for _ in range(200):
        ticking.now += 0.5
        if written.wait(0.02):
            break
    assert written.is_set()
    live.close()
    assert not any(thread.name == "live view" for thread in threading.enumerate())


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, (80, 24)),
        ({"COLUMNS": "100", "LINES": "30"}, (100, 30)),
        ({"COLUMNS": "0", "LINES": "x"}, (80, 24)),
    ],
)
def test_a_size_that_nobody_knows_is_that_of_the_environment(
    environ: dict[str, str], expected: tuple[int, int]
) -> None:
    assert terminal_size(env(Ticking(), io.StringIO(), **environ)) == expected
