"""Reading tasks out of JSON: tolerant of everything but a missing or foreign id."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings

from mcptask.errors import NotStarted, ProtocolError
from mcptask.protocol.generations.base import Immediate, InputNeeded
from mcptask.protocol.generations.snapshots import LONGEST_MS, read_call_answer, read_task
from mcptask.protocol.task import Task
from tests.protocol.fakes import ID, JSON_OBJECTS, QUESTION

LONG = 10**400  # an integer that no float can hold

UNTAGGED = "the server did not tag the task as one"
NESTED = "the server nests the task in `task`, as a draft of the extension did"
NO_STATUS = "the server gave the task no status"


def test_the_flat_task_of_the_extension_is_read_without_a_warning_a9_1() -> None:
    raw = {
        "resultType": "task",
        "taskId": ID,
        "status": "working",
        "statusMessage": "Reflowing 96 of 142 bookings",
        "createdAt": "2026-09-12T09:00:00Z",
        "lastUpdatedAt": "2026-09-12T09:00:05Z",
        "ttlMs": None,
        "pollIntervalMs": 5000,
        "unknown": {"kept": True},
    }
    assert read_task(raw) == Task(
        task_id=ID,
        status="working",
        status_message="Reflowing 96 of 142 bookings",
        created_at="2026-09-12T09:00:00Z",
        poll_interval_ms=5000,
        raw=raw,
    )


def test_the_nested_task_of_the_published_examples_is_unwrapped_a8_2_t3() -> None:
    found = read_task({"resultType": "task", "task": {"taskId": ID, "status": "working"}})
    assert (found.task_id, found.status, found.warnings) == (ID, "working", (NESTED,))
    assert found.raw == {"taskId": ID, "status": "working"}


def test_the_names_of_the_earlier_revision_are_read_with_a_warning_a9_11_t5() -> None:
    found = read_task({"taskId": ID, "status": "working", "ttl": 60_000, "pollInterval": 500})
    assert (found.ttl_ms, found.poll_interval_ms) == (60_000, 500)
    assert found.warnings == (
        "the server calls ttlMs ttl, as an earlier revision did",
        "the server calls pollIntervalMs pollInterval, as an earlier revision did",
    )


def test_the_new_name_wins_over_the_old_one_a9_11() -> None:
    found = read_task({"taskId": ID, "status": "working", "ttlMs": 1, "ttl": 2})
    assert (found.ttl_ms, found.warnings) == (1, ())


@pytest.mark.parametrize(
    ("given_ms", "read"),
    [
        (5000, 5000),
        (1, 1),
        (1.5, 2),
        (500.0, 500),
        (1e308, LONGEST_MS),
        (LONG, LONGEST_MS),
        (2**53, LONGEST_MS),
    ],
)
def test_a_duration_is_a_whole_number_of_ms_never_too_early_a9_5(given_ms: Any, read: int) -> None:
    found = read_task(
        {"taskId": ID, "status": "working", "ttlMs": given_ms, "pollIntervalMs": given_ms}
    )
    assert (found.ttl_ms, found.poll_interval_ms, found.warnings) == (read, read, ())


@pytest.mark.parametrize(
    "broken", [-5, -0.5, -LONG, math.nan, math.inf, -math.inf, True, False, "5000", [], {}]
)
def test_a_duration_that_is_none_counts_as_absent_with_a_warning_a9_4(broken: Any) -> None:
    found = read_task(
        {"taskId": ID, "status": "working", "ttlMs": broken, "pollIntervalMs": broken}
    )
    assert (found.ttl_ms, found.poll_interval_ms) == (None, None)
    assert found.warnings == (
        "the server sent a ttlMs that cannot be used",
        "the server sent a pollIntervalMs that cannot be used",
    )


def test_zero_is_a_time_to_live_but_no_interval_a9_5() -> None:
    found = read_task({"taskId": ID, "status": "working", "ttlMs": 0, "pollIntervalMs": 0})
    assert (found.ttl_ms, found.poll_interval_ms) == (0, None)
    assert found.warnings == ("the server sent a pollIntervalMs that cannot be used",)


@pytest.mark.parametrize("name", ["statusMessage", "createdAt", "result", "error", "inputRequests"])
def test_a_field_of_the_wrong_type_is_absent_with_a_warning_and_kept_raw_t4(name: str) -> None:
    raw = {"taskId": ID, "status": "working", name: 5}
    found = read_task(raw)
    assert found == Task(
        task_id=ID,
        status="working",
        raw=raw,
        warnings=(f"the server sent a {name} that cannot be used",),
    )
    assert read_task({**raw, name: None}).warnings == ()


def test_one_broken_question_does_not_hide_the_others_a12_2() -> None:
    raw = {"taskId": ID, "status": "input_required", "inputRequests": {"a": QUESTION, "b": 5}}
    assert read_task(raw).input_requests == {"a": QUESTION}


def test_questions_none_of_which_can_be_read_count_as_absent_a9_7() -> None:
    raw = {"taskId": ID, "status": "input_required", "inputRequests": {"b": 5}}
    assert read_task(raw).input_requests is None
    assert read_task({**raw, "inputRequests": {}}).input_requests == {}


@pytest.mark.parametrize("task_id", [None, "", 7, [], {}])
def test_an_answer_without_an_id_is_no_task_a9_1(task_id: Any) -> None:
    with pytest.raises(ProtocolError, match="usable taskId"):
        read_task({"taskId": task_id, "status": "working"})


@pytest.mark.parametrize("status", [None, "", 7, [], True])
def test_an_answer_without_a_status_is_no_snapshot_a9_1(status: Any) -> None:
    with pytest.raises(ProtocolError, match="no status"):
        read_task({"taskId": ID, "status": status})


def test_an_answer_about_another_task_is_never_taken_for_ours_s1() -> None:
    with pytest.raises(ProtocolError, match="another task"):
        read_task({"taskId": "tsk_other", "status": "working"}, asked=ID)


@pytest.mark.parametrize("status", ["queued", "Working", "submitted"])
def test_an_unknown_status_is_kept_verbatim_a9_2(status: str) -> None:
    assert read_task({"taskId": ID, "status": status}).status == status


# ── tools/call ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("answer", "status", "warnings"),
    [
        ({"resultType": "task", "taskId": ID, "status": "working"}, "working", ()),
        ({"resultType": "task", "taskId": ID, "status": "completed"}, "completed", ()),
        ({"resultType": "task", "taskId": ID, "status": "queued"}, "queued", ()),
        ({"resultType": "task", "taskId": ID}, "working", (NO_STATUS,)),
        ({"resultType": "task", "taskId": ID, "status": None}, "working", (NO_STATUS,)),
        ({"resultType": "task", "taskId": ID, "status": [5]}, "working", (NO_STATUS,)),
        ({"resultType": "task", "task": {"taskId": ID}}, "working", (NESTED, NO_STATUS)),
        (
            {"resultType": "task", "task": {"taskId": ID, "status": "failed"}},
            "failed",
            (NESTED,),
        ),
        ({"taskId": ID, "status": "working"}, "working", (UNTAGGED,)),
        ({"resultType": "complete", "taskId": ID, "status": "working"}, "working", (UNTAGGED,)),
        ({"task": {"taskId": ID, "status": "working"}}, "working", (UNTAGGED, NESTED)),
        (
            {"_meta": {"modelcontextprotocol.io/task": {"taskId": ID}}, "content": []},
            "working",
            (UNTAGGED, NO_STATUS),
        ),
        (
            {
                "_meta": {"modelcontextprotocol.io/task": {"taskId": ID, "status": "completed"}},
                "content": [],
            },
            "completed",
            (UNTAGGED,),
        ),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, dict) else None,
)
def test_every_shape_of_a_handle_that_servers_send_is_a_task_a8_2_a8_3(
    answer: dict[str, Any], status: str, warnings: tuple[str, ...]
) -> None:
    found = read_call_answer(answer)
    assert isinstance(found, Task)
    assert (found.task_id, found.status, found.warnings) == (ID, status, warnings)


def test_a_handle_with_every_other_field_broken_is_not_lost_t4() -> None:
    found = read_call_answer(
        {"resultType": "task", "taskId": ID, "status": 5, "ttlMs": "x", "createdAt": 1, "error": 2}
    )
    assert isinstance(found, Task)
    assert found.task_id == ID


@pytest.mark.parametrize(
    "body", [{"taskId": ID, "status": "queued"}, {"task": {"taskId": ID, "status": "new"}}]
)
def test_an_untagged_task_in_a_status_unknown_here_is_still_a_task_a8_3_a9_2(body: Any) -> None:
    found = read_call_answer(body)
    assert isinstance(found, Task)
    assert found.task_id == ID
    assert found.warnings


@pytest.mark.parametrize(
    "answer",
    [
        {"content": []},
        {"resultType": "complete", "content": [], "isError": True},
        {},
        {"resultType": None, "structuredContent": None},
        {"content": [], "taskId": ID, "status": "working"},  # a result may say what it likes
        {"taskId": ID, "status": ["working"]},
        {"taskId": "", "status": "working"},
        {"task": "nightly", "status": "working"},
        {"content": [], "_meta": {"modelcontextprotocol.io/task": {"taskId": ""}}},
        {"content": [], "_meta": {"modelcontextprotocol.io/task": 5}},
        {"content": [], "_meta": []},
    ],
    ids=str,
)
def test_anything_else_without_a_tag_or_tagged_complete_is_a_result_untouched_a8_2(
    answer: dict[str, Any],
) -> None:
    found = read_call_answer(answer)
    assert isinstance(found, Immediate)
    assert found.result is answer


def test_a_task_without_an_id_is_a_breach_a8_2() -> None:
    with pytest.raises(ProtocolError, match="usable taskId"):
        read_call_answer({"resultType": "task", "status": "working"})


@pytest.mark.parametrize("kind", ["banana", "", 5, True, [], {}])
def test_an_unknown_result_type_is_invalid_but_names_a_task_that_it_holds_s2(kind: Any) -> None:
    with pytest.raises(ProtocolError, match=r"unknown resultType .*; a task may exist: tsk_8f21"):
        read_call_answer({"resultType": kind, "taskId": ID, "status": "working"})
    with pytest.raises(ProtocolError, match=r"unknown resultType [^;]*$"):
        read_call_answer({"resultType": kind})


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"inputRequests": {"a": QUESTION}}, InputNeeded(requests={"a": QUESTION})),
        ({"requestState": "s"}, InputNeeded(requests={}, request_state="s")),
        ({"requestState": "s", "inputRequests": {}}, InputNeeded(requests={}, request_state="s")),
        ({"requestState": "", "inputRequests": None}, InputNeeded(requests={}, request_state="")),
    ],
)
def test_a_question_before_the_task_is_read_as_one_a8_4(
    fields: dict[str, Any], found: InputNeeded
) -> None:
    assert read_call_answer({"resultType": "input_required", **fields}) == found


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"inputRequests": {}},
        {"inputRequests": [1]},
        {"inputRequests": [1], "requestState": "s"},
        {"inputRequests": {"a": QUESTION, "b": 5}, "requestState": "s"},
        {"requestState": 5},
        {"requestState": {}, "inputRequests": {"a": QUESTION}},
    ],
)
def test_a_question_that_cannot_be_answered_in_full_is_a_breach_a8_4(
    fields: dict[str, Any],
) -> None:
    with pytest.raises(NotStarted):
        read_call_answer({"resultType": "input_required", **fields})


# ── anything ─────────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=50)
@given(JSON_OBJECTS)
def test_any_object_is_a_task_or_a_breach(raw: dict[str, Any]) -> None:
    for asked in (None, ID):
        try:
            found = read_task(raw, asked=asked)
        except ProtocolError:
            continue
        assert found.task_id
        assert asked in (None, found.task_id)
        assert found.ttl_ms is None or 0 <= found.ttl_ms <= LONGEST_MS
        assert found.poll_interval_ms is None or 0 < found.poll_interval_ms <= LONGEST_MS


@settings(max_examples=50)
@given(JSON_OBJECTS)
def test_any_answer_to_a_call_is_a_value_or_a_breach(raw: dict[str, Any]) -> None:
    for answer in (raw, {**raw, "resultType": "task"}, {**raw, "resultType": "input_required"}):
        try:
            found = read_call_answer(answer)
        except ProtocolError:
            continue
        assert isinstance(found, Task | Immediate | InputNeeded)
