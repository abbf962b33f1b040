from datetime import UTC, datetime

import pytest

from mcptask.errors import UsageError
from mcptask.store.lookup import find, latest, unended
from mcptask.store.records import CallRecord, State, TaskRecord


def state_of(*ids: str, calls: tuple[int, ...] = (), first: int = 1) -> State:
    tasks = tuple(
        TaskRecord(ref=ref, task_id=text, status="working") for ref, text in enumerate(ids, first)
    )
    return State(tasks=tasks, calls=tuple(CallRecord(ref=ref) for ref in calls))


STATE = state_of(
    "tsk_8f21", "tsk_8f99", "12345", "tsk_8f21-long", "--help", "a b/“c”\n", calls=(40,)
)


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("1", 1),
        ("tsk_8f21", 1),  # a whole id beats the beginning of another
        ("tsk_8f9", 2),
        ("12345", 3),  # no such number, but such an id
        ("1234", 3),
        ("tsk_8f21-", 4),
        ("--help", 5),
        ("a b/“c”\n", 6),
        ("last", 6),
    ],
)
def test_a_task_is_named_by_number_id_beginning_or_last(text, ref):
    assert find(STATE, text).ref == ref


def test_a_number_that_is_another_tasks_id_is_ambiguous_until_it_says_which():
    with pytest.raises(UsageError) as caught:
        find(state_of("2", "b"), "2")
    assert caught.value.hint == "ref:2 is the number, id:2 the id"
    assert find(state_of("2", "b"), "ref:2").task_id == "b"
    assert find(state_of("2", "b"), "id:2").task_id == "2"
    assert find(state_of("2", "b", first=8), "2").ref == 8
    assert find(state_of("1", "2"), "2").ref == 2


def test_several_that_fit_are_listed():
    with pytest.raises(UsageError, match=r"fits 3 tasks: 1 \(tsk_8f21\), 2 \(tsk_8f99\)") as caught:
        find(STATE, "tsk_")
    assert caught.value.data["candidates"][1] == {"ref": 2, "taskId": "tsk_8f99"}
    assert "number" in caught.value.hint


def test_a_long_list_of_candidates_is_cut_and_says_so():
    with pytest.raises(UsageError, match=r"fits 12 tasks.*\(same10\) and 2 more$"):
        find(state_of(*(f"same{number:02}" for number in range(1, 13))), "same")


def test_the_same_id_on_two_servers_is_ambiguous():
    with pytest.raises(UsageError, match="fits 2 tasks"):
        find(state_of("one", "one"), "one")


@pytest.mark.parametrize("text", ["99", "nothing", "", "007", "9" * 5000, "-1"])
def test_what_fits_nothing_says_where_to_look(text):
    with pytest.raises(UsageError, match=r"no task .* is stored$") as caught:
        find(STATE, text)
    assert (
        caught.value.hint
        == "mcptask list; one that was started elsewhere needs its server: -s SERVER"
    )


def test_a_beginning_that_is_too_short_is_refused_with_the_reason():
    with pytest.raises(UsageError, match="needs 4 characters"):
        find(STATE, "tsk")


def test_a_call_without_an_answer_is_no_task_yet():
    with pytest.raises(UsageError, match="answer never came") as caught:
        find(STATE, "40")
    assert caught.value.hint == "mcptask forget 40 drops it"


def test_last_of_nothing_says_how_to_start():
    with pytest.raises(UsageError, match="no task is stored yet"):
        find(State(), "last")
    assert latest(State()) is None


def test_unended_leaves_out_what_has_ended_and_what_is_lost():
    ended = TaskRecord(ref=9, task_id="e", status="failed")
    odd = TaskRecord(ref=10, task_id="o", status="dreaming")
    lost = TaskRecord(
        ref=11, task_id="l", status="working", lost_at=datetime(2026, 9, 12, tzinfo=UTC)
    )
    assert unended(State(tasks=(ended, odd, lost))) == (odd,)
