"""Every conversation of 2026-07-28, fed with anything that is JSON: a value or an error of the wire."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import ProtocolError, RpcError, WireError
from mcptask.protocol.generations.base import (
    Call,
    Discovered,
    Immediate,
    InputNeeded,
    Reply,
    Steps,
    ToolList,
)
from mcptask.protocol.generations.snapshots import FIELDS, LONGEST_MS, read_call_answer
from mcptask.protocol.generations.tool_pages import MAX_TOOLS, pages_of
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.lifecycle import Finish, Get, Stop, Wait, next_action
from mcptask.protocol.observations import observe
from mcptask.protocol.questions import open_questions
from mcptask.protocol.task import Task, moment, same_state
from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.messages import dump
from mcptask.protocol.view import Rules, begin
from tests.fuzz.hostile import (
    CALL_ANSWERS,
    DISCOVERIES,
    LONGEST_MESSAGE,
    OBJECTS,
    PAGES,
    PLAUSIBLE,
    SCHEMA,
    SNAPSHOTS,
    TEXTS,
    VALUES,
    oddly,
    outcome,
    spoiled,
    tries,
)
from tests.protocol.fakes import ID, NAMES

GENERATION = V20260728()
CODES = [-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022, -32000, 0, 10**400]
ERRORS = st.builds(RpcError, st.sampled_from(CODES) | st.integers(), TEXTS, data=VALUES)

RESPONSES = {"room": {"action": "decline"}}

# What is begun, what plausible answers look like, and the most calls that it may come to.
CONVERSATIONS: dict[str, tuple[Callable[[], Steps[Any]], list[dict[str, Any]], int]] = {
    "discover": (GENERATION.discover, DISCOVERIES, 1),
    "list_tools": (
        GENERATION.list_tools,
        PAGES,
        2 * pages_of(MAX_TOOLS),
    ),  # begun anew once, at the most
    "call_tool": (lambda: GENERATION.call_tool("t", {}, SCHEMA), CALL_ANSWERS, 1),
    "get_task": (lambda: GENERATION.get_task(ID), SNAPSHOTS, 1),
    "update_task": (lambda: GENERATION.update_task(ID, RESPONSES), SNAPSHOTS, 2),
    "cancel_task": (lambda: GENERATION.cancel_task(ID), SNAPSHOTS, 2),
}


def held(steps: Steps[Any], answers: Sequence[Any], most: int) -> tuple[Any, list[Call]]:
    """The value or the WireError, and the calls; the last answer is given again and again.

    Fails where anything else is raised, and where there are more calls than `most`.
    """
    calls = [next(steps)]
    try:
        for answer in chain(answers, repeat(answers[-1])):
            assert len(calls) <= most
            sent = steps.throw(answer) if isinstance(answer, Exception) else steps.send(answer)
            calls.append(sent)
    except StopIteration as stop:
        return stop.value, calls
    except WireError as error:
        return error, calls
    raise AssertionError("the answers are endless")  # pragma: no cover


def answers_like(samples: list[dict[str, Any]]) -> st.SearchStrategy[list[Any]]:
    one = spoiled(samples) | oddly(samples, NAMES) | spoiled(PLAUSIBLE) | OBJECTS | ERRORS
    return st.lists(one, min_size=1, max_size=4)


@pytest.mark.parametrize("name", CONVERSATIONS)
@tries(50)
@given(data=st.data())
def test_any_answers_end_in_a_value_or_a_wire_error_after_few_calls_s1_a7_1(
    name: str, data: st.DataObject
) -> None:
    begin, samples, most = CONVERSATIONS[name]
    answers = data.draw(answers_like(samples))
    results = [answer for answer in answers if isinstance(answer, dict)]
    as_they_came = copy.deepcopy(results)
    found, calls = held(begin(), answers, most)
    assert results == as_they_came, "what a server sent is kept as it came"
    for number, call in enumerate(calls):
        dump(Request(number, call.method, call.params).message())
    check = check_error if isinstance(found, WireError) else CHECKS[type(found)]
    check(found, results)


def check_error(error: WireError, answers: list[Any]) -> None:
    if isinstance(error, ProtocolError) and not isinstance(error.__cause__, RpcError):
        assert len(error.message) < LONGEST_MESSAGE


def check_task(task: Task, answers: list[Any]) -> None:
    sent = answers[0]
    meta = sent.get("_meta")
    early = meta.get("modelcontextprotocol.io/task") if isinstance(meta, dict) else None
    assert any(task.raw == each for each in (sent, sent.get("task"), early))
    assert task.raw["taskId"] == task.task_id != ""
    assert task.status
    assert task.ttl_ms is None or (type(task.ttl_ms) is int and 0 <= task.ttl_ms <= LONGEST_MS)
    interval = task.poll_interval_ms
    assert interval is None or (type(interval) is int and 0 < interval <= LONGEST_MS)
    for told in (task.result, task.error, task.input_requests):
        assert told is None or isinstance(told, dict)
    assert all(isinstance(each, dict) for each in (task.input_requests or {}).values())
    assert len(task.warnings) <= 2 * len(FIELDS) + 3
    check_use_of(task)


def check_use_of(task: Task) -> None:
    """Nothing that is asked of a snapshot later may stumble over what is in it."""
    assert same_state(task, task)
    assert open_questions(task, {}).keys() <= (task.input_requests or {}).keys()
    assert isinstance(task.has_payload, bool)
    view = observe(begin(Rules(deadline=1e9), 0.0), task, 1.0)
    assert isinstance(next_action(view, 1.0), Get | Wait | Finish | Stop)
    assert not (task.terminal and open_questions(task, {}))
    moment(task.created_at)


def check_tools(found: ToolList, answers: list[Any]) -> None:
    assert all(isinstance(tool["name"], str) for tool in found.tools)
    assert type(found.ttl_ms) is int
    assert 0 <= found.ttl_ms <= LONGEST_MS
    assert all(len(warning) < LONGEST_MESSAGE for warning in found.warnings)


def check_input(needed: InputNeeded, answers: list[Any]) -> None:
    assert needed.requests or answers[0].keys() & {"inputRequests", "requestState"}
    assert all(answers[0]["inputRequests"][key] is each for key, each in needed.requests.items())
    state = needed.request_state
    assert state == (answers[0].get("requestState") if isinstance(state, str) else None)


def check_immediate(immediate: Immediate, answers: list[Any]) -> None:
    assert immediate.result is answers[0]


def check_discovered(found: Discovered, answers: list[Any]) -> None:
    assert found.raw is answers[0]
    assert list(found.versions) == answers[0]["supportedVersions"]


def check_nothing(found: None, answers: list[Any]) -> None:
    assert found is None


CHECKS: dict[type, Callable[[Any, list[Any]], None]] = {
    Task: check_task,
    ToolList: check_tools,
    InputNeeded: check_input,
    Immediate: check_immediate,
    Discovered: check_discovered,
    type(None): check_nothing,
}


WIRE_NAMES = [name for new, old, _ in FIELDS.values() for name in (new, old) if name]


@tries(300)
@given(oddly(SNAPSHOTS, WIRE_NAMES))
def test_a_snapshot_of_which_one_field_is_odd_is_read_but_for_that_t4_t9(
    answer: dict[str, Any],
) -> None:
    found, _ = held(GENERATION.get_task(ID), [answer], 1)
    check_task(found, [answer])


@tries(80)
@given(spoiled(SNAPSHOTS) | spoiled(CALL_ANSWERS))
def test_a_snapshot_is_of_the_task_that_was_asked_for_or_none_s1(answer: dict[str, Any]) -> None:
    found, _ = held(GENERATION.get_task(ID), [answer], 1)
    assert isinstance(found, ProtocolError) or found.task_id == ID


@tries(80)
@given(spoiled(CALL_ANSWERS) | spoiled(SNAPSHOTS))
def test_no_id_of_a_task_is_lost_whatever_stands_beside_it_a8_2(answer: dict[str, Any]) -> None:
    """A readable answer is a task, or has no id at its top; an unreadable one is told with the id."""
    task_id = answer.get("taskId")
    found = outcome(ProtocolError, read_call_answer, answer)
    if isinstance(found, ProtocolError):
        assert not isinstance(task_id, str) or task_id[:200] in found.message
    elif isinstance(found, Task):
        assert not isinstance(task_id, str) or found.task_id == task_id
    elif isinstance(found, Immediate) and isinstance(task_id, str) and task_id:
        assert answer.get("resultType") in (None, "complete")
        assert "content" in answer or not isinstance(answer.get("status"), str) or (
            answer["status"] == "" or isinstance(answer.get("task"), dict)
        )  # fmt: skip


@tries(60)
@given(st.dictionaries(TEXTS, OBJECTS, max_size=3), st.none() | TEXTS)
def test_another_round_carries_the_state_as_it_came_a8_4(
    responses: dict[str, Any], state: str | None
) -> None:
    reply = Reply(responses=responses, request_state=state)
    params = next(GENERATION.call_tool("t", {"a": 1}, None, reply)).params
    assert params.get("requestState") == state
    assert params.get("inputResponses", {}) == responses


def test_a_list_of_nameless_tools_is_warned_of_once_c2() -> None:
    page = {"tools": [None] * 1000, "nextCursor": "1"}
    tools, _ = held(
        GENERATION.list_tools(), [page, {**page, "nextCursor": None}], pages_of(MAX_TOOLS)
    )
    assert tools.warnings == ("the server lists a tool without a name",)


def test_an_id_of_any_length_makes_a_short_message_s1() -> None:
    error, _ = held(GENERATION.get_task(ID), [{"taskId": "x" * 10**6, "status": "working"}], 1)
    assert ID in error.message
    assert len(error.message) < LONGEST_MESSAGE
