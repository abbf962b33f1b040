from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.protocol.task import Status, Task
from mcptask.store.records import (
    LARGEST_INTEGER,
    LONGEST_MESSAGE,
    Origin,
    TaskRecord,
    bare_url,
    moment,
    new_record,
    observed,
)

NOW = datetime(2026, 9, 12, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("url", "bare"),
    [
        ("https://studio.example/mcp", "https://studio.example/mcp"),
        (
            "https://me:secret@studio.example:8443/mcp?key=secret#secret",
            "https://studio.example:8443/mcp",
        ),
        ("https://a@b:secret@host/p@th", "https://host/p@th"),
        ("https://host?key=secret", "https://host"),
        ("https://[broken:secret@host/", "https://host/"),
        ("me:secret@host/mcp", "host/mcp"),
        ("https://host/x?u=http://me:secret@other/", "https://host/x"),
        ("", ""),
    ],
)
def test_a_stored_url_has_no_user_and_no_query(url, bare):
    assert bare_url(url) == bare
    assert Origin(url=url).url == bare


@given(st.text(alphabet="abc:@/?#[]%", max_size=30))
def test_stripping_a_url_never_fails_and_is_done_once(url):
    assert bare_url(bare_url(url)) == bare_url(url)


def test_how_to_log_in_does_not_make_another_place():
    assert Origin(server="a", bearer_env="X").place == Origin(server="a").place
    assert Origin(server="a").place != Origin(server="b").place


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-09-12T09:00:00Z", datetime(2026, 9, 12, 9, tzinfo=UTC)),
        ("2026-09-12T09:00:00+02:00", datetime(2026, 9, 12, 7, tzinfo=UTC)),
        ("2026-09-12T09:00:00", datetime(2026, 9, 12, 9, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("yesterday", None),
        ("", None),
        (None, None),
    ],
)
def test_a_servers_timestamp_is_read_as_utc_or_not_at_all(text, when):
    assert moment(text) == when


def record(**changes) -> TaskRecord:
    return new_record(
        Task(task_id="tsk_1", status="working", **changes),
        NOW,
        ref=7,
        origin=Origin(server="studio"),
        tool="reflow",
        protocol="2026-07-28",
    )


def test_a_new_record_says_what_the_snapshot_said():
    first = record(status_message="1 of 2", created_at="2026-09-12T09:00:00Z", ttl_ms=5)
    assert (first.ref, first.tool, first.protocol) == (7, "reflow", "2026-07-28")
    assert (first.status, first.status_message, first.ttl_ms) == ("working", "1 of 2", 5)
    assert first.created_at == datetime(2026, 9, 12, 9, tzinfo=UTC)
    assert (first.seen_at, first.ended_at, first.terminal) == (NOW, None, False)


def test_a_snapshot_replaces_what_changes_and_keeps_what_it_does_not_say():
    later = NOW + timedelta(minutes=1)
    before = record(created_at="2026-09-12T09:00:00Z", ttl_ms=5, status_message="1 of 2")
    after = observed(before, Task(task_id="tsk_1", status=Status.COMPLETED), later)
    assert (after.status, after.status_message, after.ttl_ms) == ("completed", None, None)
    assert type(after.status) is str
    assert after.created_at == before.created_at
    assert (after.seen_at, after.ended_at, after.terminal) == (later, later, True)


def test_an_ended_task_stays_as_it_ended():
    ended = observed(record(), Task(task_id="tsk_1", status="cancelled"), NOW)
    assert observed(ended, Task(task_id="tsk_1", status="working"), NOW) is ended
    assert observed(ended, Task(task_id="tsk_1", status="completed"), NOW) is ended
    again = observed(ended, Task(task_id="tsk_1", status="cancelled"), NOW + timedelta(hours=1))
    assert again.ended_at == NOW


def test_huge_numbers_and_endless_messages_are_bounded():
    huge = record(ttl_ms=10**5000, poll_interval_ms=-3, status_message="x" * 10**6)
    assert (huge.ttl_ms, huge.poll_interval_ms) == (LARGEST_INTEGER, 0)
    assert len(huge.status_message) == LONGEST_MESSAGE
    assert huge.status_message.endswith("x…")


def test_other_zones_are_turned_into_utc():
    assert (
        moment(datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1))).isoformat()).tzinfo is UTC
    )
