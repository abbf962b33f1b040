"""Why a task is lost, as its times and its server's habits make likely; and what a lost answer leaves."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mcptask.commands._words import lost, unknown_outcome, with_next_step
from mcptask.errors import (
    Garbled,
    HttpRefused,
    McptaskError,
    NotStarted,
    ProtocolError,
    TimedOut,
    Unauthorized,
    Unreachable,
)
from mcptask.servers.endpoint import Endpoint
from mcptask.store.records import TaskRecord

NOW = datetime(2026, 9, 12, 9, 0, tzinfo=UTC)
DAY_MS = 24 * 3600 * 1000
CHANGED = "it was purged, the server was restarted, or you are someone else to it now"


def why(*, over_stdio: bool = False, **fields: Any) -> str:
    known = {"ref": 7, "task_id": "tsk", "status": "working", "ttl_ms": DAY_MS, "seen_at": NOW}
    return lost(
        TaskRecord(**(known | fields)), "studio", NOW, over_stdio=over_stdio, to_type="7"
    ).message


@pytest.mark.parametrize("over_stdio", [False, True])
def test_the_time_that_ran_out_explains_a_lost_task_a14_3_a14_4(over_stdio: bool) -> None:
    told = why(created_at=NOW - timedelta(hours=25), over_stdio=over_stdio)
    assert told == "studio no longer knows task 7 (tsk): its 24 h ran out 1 h ago"


NOT_RUN_OUT = {
    "not yet": {"created_at": NOW - timedelta(hours=23)},
    "since when": {"created_at": None},
    "for ever": {"created_at": NOW - timedelta(hours=25), "ttl_ms": None},
    "for longer than there are dates": {"created_at": NOW, "ttl_ms": 2**63 - 1},
}


@pytest.mark.parametrize("fields", NOT_RUN_OUT.values(), ids=NOT_RUN_OUT)
def test_where_no_time_ran_out_another_identity_may_be_why_a16_4(fields: dict[str, Any]) -> None:
    assert why(**fields).endswith(CHANGED)


@pytest.mark.parametrize("fields", NOT_RUN_OUT.values(), ids=NOT_RUN_OUT)
def test_a_task_of_a_process_most_likely_ended_with_it_a6_7(fields: dict[str, Any]) -> None:
    told = why(over_stdio=True, **fields)
    assert told.endswith("a stdio server's tasks often end with its process")
    assert why(over_stdio=True, status="completed", **fields).endswith(CHANGED)


def test_a_task_that_is_not_stored_is_called_by_its_id_a4_3() -> None:
    assert why(ref=0).startswith("studio no longer knows task tsk: ")
    assert why(ref=0, seen_at=None).startswith("studio does not know task tsk: it expired, or was")
    assert why(seen_at=None).startswith("studio no longer knows task 7 (tsk): ")


def test_one_that_may_come_back_is_looked_for_before_it_is_started_again() -> None:
    def hint(**fields: Any) -> str:
        record = TaskRecord(ref=7, task_id="tsk", status="working", tool="job", **fields)
        return str(lost(record, "studio", NOW, over_stdio=False, to_type="7").hint)

    again = "start it again with: mcptask call job …"
    assert hint().endswith(f"if the server was only away: mcptask watch 7; else {again}")
    over = hint(created_at=NOW - timedelta(hours=25), ttl_ms=DAY_MS)
    assert over.endswith(f"; {again}")
    assert "watch" not in over


LOGINS = {
    "no token was sent: --bearer-env VAR, or bearer_env in the config": {},
    "the token of $T was refused": {"bearer_env": "T"},
    "the Authorization header was refused": {"headers": {"authorization": "canary"}},
}


@pytest.mark.parametrize("said", LOGINS)
def test_what_was_refused_is_named_and_never_shown_a16_1(said: str) -> None:
    endpoint = Endpoint(name="s", source="", url="https://s.example/mcp", **LOGINS[said])
    assert with_next_step(Unauthorized("401"), endpoint, "later").hint == said


def test_a_server_that_is_away_is_come_back_to_after_the_wait_that_it_asks_for() -> None:
    endpoint = Endpoint(name="s", source="", url="https://s.example/mcp")
    assert with_next_step(Unreachable("no"), endpoint, "later").hint == "later"
    busy = Unreachable("429", busy=True, retry_after=7.0)
    assert with_next_step(busy, endpoint, "later").hint == "it asks to wait 7 s; later"
    own = Unreachable("no", hint="its own")
    assert with_next_step(own, endpoint, "later").hint == "its own"


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
