"""Why a task is lost, as its times and its server's habits make likely; and what a lost answer leaves."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mcptask.commands._words import lost, unknown_outcome
from mcptask.errors import (
    Garbled,
    HttpRefused,
    McptaskError,
    NotStarted,
    ProtocolError,
    TimedOut,
    Unreachable,
)
from mcptask.origin import Origin
from mcptask.store.records import TaskRecord

NOW = datetime(2026, 9, 12, 9, 0, tzinfo=UTC)
DAY_MS = 24 * 3600 * 1000
CHANGED = "it was purged, the server was restarted, or you are someone else to it now"


def why(**fields: Any) -> str:
    known = {"ref": 7, "task_id": "tsk", "status": "working", "ttl_ms": DAY_MS}
    return lost(TaskRecord(**(known | fields)), "studio", NOW).message


def test_the_time_that_ran_out_explains_a_lost_task_a14_3_a14_4() -> None:
    told = why(created_at=NOW - timedelta(hours=25))
    assert told == "studio no longer knows task 7 (tsk): its 24 h ran out 1 h ago"


@pytest.mark.parametrize(
    "fields",
    [
        {"created_at": NOW - timedelta(hours=23)},
        {"created_at": None},
        {"created_at": NOW - timedelta(hours=25), "ttl_ms": None},
        {"created_at": NOW, "ttl_ms": 2**63 - 1},
    ],
    ids=["not yet", "since when", "for ever", "for longer than there are dates"],
)
def test_where_no_time_ran_out_another_identity_may_be_why_a16_4(fields: dict[str, Any]) -> None:
    assert why(**fields).endswith(CHANGED)


def test_a_task_of_a_process_most_likely_ended_with_it_a14_4() -> None:
    told = why(origin=Origin(command=("server",)), created_at=NOW - timedelta(hours=25))
    assert told.endswith("a stdio server's tasks often end with its process")


@pytest.mark.parametrize(
    "error",
    [
        Unreachable("busy", retry_after=7.0),
        ProtocolError("odd", data={"a": 1}),
        Garbled("odd"),
        NotStarted("odd"),
        HttpRefused("odd", status=418),
        TimedOut("late"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_answer_that_is_lost_keeps_what_is_known_of_its_error_a4_5(error: McptaskError) -> None:
    known = {name: value for name, value in vars(error).items() if name not in ("message", "hint")}
    told = unknown_outcome(error, "reflow_month", "studio", 7)
    assert type(told) is type(error)
    assert known.items() <= vars(told).items()
    assert str(told) == told.message
    assert told.message.startswith("reflow_month was sent to studio, but no answer came")
    assert str(told.hint).endswith("mcptask forget 7 drops the note of it")
