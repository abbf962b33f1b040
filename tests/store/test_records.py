from datetime import UTC, datetime, timedelta

from mcptask.origin import Origin
from mcptask.protocol.task import Status, Task
from mcptask.store.records import (
    LARGEST_INTEGER,
    LONGEST_MESSAGE,
    TaskRecord,
    new_record,
    observed,
)

NOW = datetime(2026, 9, 12, 12, tzinfo=UTC)


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


def test_a_snapshot_replaces_what_changes_and_keeps_what_it_does_not_say_a14_3():
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


def test_a_tool_error_is_noted_and_kept_until_a_result_says_otherwise():
    def seen(before: TaskRecord, result: dict | None) -> TaskRecord:
        return observed(before, Task(task_id="tsk_1", status="completed", result=result), NOW)

    failed = seen(record(), {"isError": True})
    assert (record().tool_error, failed.tool_error) == (None, True)
    assert seen(failed, None).tool_error is True
    assert seen(failed, {"content": []}).tool_error is None
    assert seen(record(), {"isError": "yes"}).tool_error is None
