from __future__ import annotations

import io
import subprocess
import sys

import pytest
from render_samples import HOSTILE, task

from mcptask.protocol.task import Status
from mcptask.render.report import ServerInfo
from mcptask.render.streams import try_write, write
from mcptask.render.style import LOOKS, look, paint
from mcptask.render.view import polling_phrase, time_of_day

HEAVY = ("asyncio", "httpx", "pydantic", "rich")
LIGHT = (
    "cells",
    "contract",
    "human",
    "jsonlines",
    "jsonout",
    "lines",
    "questions",
    "report",
    "results",
    "streams",
    "style",
    "tables",
    "text",
    "view",
)


def test_every_status_has_a_look_of_its_own() -> None:
    looks = [LOOKS[status] for status in Status]
    assert len({each.glyph for each in looks}) == len({each.word for each in looks}) == 5


def test_a_status_that_nobody_knows_is_shown_by_its_own_name() -> None:
    assert look("waiting_for_godot").word == "waiting for godot"
    assert look(HOSTILE).word.isprintable()
    assert look("").word == "(no status)"
    assert paint("x", look("new").colour, False) == "x"


def test_a_stream_gets_what_it_can_encode() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    write(stream, "✓ a\ud800\n")
    assert raw.getvalue() == b"\\u2713 a\\ud800\n"


def test_progress_survives_a_stream_that_is_gone_and_data_does_not() -> None:
    gone = io.StringIO()
    gone.close()
    assert not try_write(gone, "x")
    with pytest.raises(ValueError, match="closed"):
        write(gone, "x")


def test_a_server_given_by_hand_is_called_by_its_endpoint() -> None:
    assert ServerInfo(None, "https://x").label == "https://x"
    assert ServerInfo("studio", "https://x").label == "studio"


def test_phrases_stand_odd_numbers() -> None:
    from render_samples import MORNING

    assert polling_phrase(None) == "polling"
    assert polling_phrase(task(poll_interval_ms=500)) == "polling every 0.5 s"
    assert time_of_day(MORNING, float("nan")) is None
    assert time_of_day(MORNING, -1) is None


def test_everything_but_the_live_view_starts_without_heavy_packages() -> None:
    modules = ", ".join(f"mcptask.render.{name}" for name in LIGHT)
    code = f"import sys, {modules}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
