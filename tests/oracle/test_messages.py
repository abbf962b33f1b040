"""The judge of messages: what is right passes, and each way to be wrong is told."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.oracle.messages import META_CAPABILITIES, META_CLIENT, META_VERSION, TASKS, violation
from tests.oracle.samples import GOOD, broken

Message = dict[str, Any]
Change = Callable[[Message], object]


@pytest.mark.parametrize("name", GOOD)
def test_a_message_as_it_should_be_passes(name: str) -> None:
    assert violation(GOOD[name]) is None


def meta(message: Message) -> Message:
    found: Message = message["params"]["_meta"]
    return found


def answer(message: Message) -> Message:
    found: Message = message["params"]["inputResponses"]["size"]
    return found


def wanted(message: Message) -> Message:
    found: Message = message["params"]["notifications"]
    return found


BROKEN: dict[str, tuple[str, Change, str]] = {
    "no id": ("get", lambda m: m.pop("id"), "id: Field required"),
    "no id but null": ("get", lambda m: m.update(id=None), "id"),
    "an id that is a fraction": ("get", lambda m: m.update(id=1.5), "id"),
    "another JSON-RPC": ("list", lambda m: m.update(jsonrpc="1.0"), "jsonrpc"),
    "a field of our own": ("list", lambda m: m.update(extra=1), "extra"),
    "the same, in a task's request": ("get", lambda m: m.update(extra=1), "extra"),
    "no params": ("discover", lambda m: m.pop("params"), "params: Field required"),
    "a cursor that is a number": ("list", lambda m: m["params"].update(cursor=1), "cursor"),
    "a name in Python's spelling": (
        "another round",
        lambda m: m["params"].update(input_responses=m["params"].pop("inputResponses")),
        "input_responses: no such field",
    ),
    "the same, for a task": (
        "get",
        lambda m: m["params"].update(task_id=m["params"].pop("taskId")),
        "taskId: Field required",
    ),
    "a list of arguments": ("call", lambda m: m["params"].update(arguments=[1]), "arguments"),
    "no tool": ("call", lambda m: m["params"].pop("name"), "name: Field required"),
    "the older way to ask for a task": (
        "call",
        lambda m: m["params"].update(task={"ttl": 1}),
        "params.task: no such field",
    ),
    "a state that is no text": (
        "another round",
        lambda m: m["params"].update(requestState={"a": 1}),
        "requestState",
    ),
    "no task": ("cancel", lambda m: m["params"].pop("taskId"), "taskId: Field required"),
    "an empty task": ("get", lambda m: m["params"].update(taskId=""), "taskId"),
    "no answers": (
        "update",
        lambda m: m["params"].pop("inputResponses"),
        "inputResponses: Field required",
    ),
    "a bare answer": ("update", lambda m: m["params"].update(inputResponses={"a": 1}), "a"),
    "an answer in an object": (
        "update",
        lambda m: answer(m).update(content={"a": {"b": 1}}),
        "inputResponses",
    ),
    "an answer that is null": (
        "update",
        lambda m: answer(m).update(content={"a": None}),
        "inputResponses.size.content: a value is null",
    ),
    "an action that there is not": (
        "update",
        lambda m: answer(m).update(action="reject"),
        "inputResponses",
    ),
    "a subscription to everything": (
        "listen",
        lambda m: wanted(m).clear(),
        "taskIds: Field required",
    ),
    "a subscription to nothing": ("listen", lambda m: wanted(m).update(taskIds=[]), "taskIds"),
    "a subscription to an empty task": (
        "listen",
        lambda m: wanted(m).update(taskIds=[""]),
        "taskIds",
    ),
    "a subscription to more than tasks": (
        "listen",
        lambda m: wanted(m).update(toolsListChanged=True),
        "toolsListChanged",
    ),
    "a subscription whose id is a number": ("listen", lambda m: m.update(id=7), "id"),
    "no envelope": ("call", lambda m: m["params"].pop("_meta"), "_meta: Field required"),
    "no version": ("get", lambda m: meta(m).pop(META_VERSION), META_VERSION),
    "another version": (
        "get",
        lambda m: meta(m).update({META_VERSION: "2025-11-25"}),
        "the version '2025-11-25'",
    ),
    "no capabilities": ("get", lambda m: meta(m).pop(META_CAPABILITIES), META_CAPABILITIES),
    "no tasks": ("get", lambda m: meta(m)[META_CAPABILITIES].pop("extensions"), TASKS),
    "tasks with settings": (
        "get",
        lambda m: meta(m)[META_CAPABILITIES]["extensions"].update({TASKS: {"list": {}}}),
        TASKS,
    ),
    "no client": ("list", lambda m: meta(m).pop(META_CLIENT), "who the client is"),
    "a client without a version": (
        "list",
        lambda m: meta(m)[META_CLIENT].pop("version"),
        "version",
    ),
    "a method of the older tasks": ("get", lambda m: m.update(method="tasks/result"), "no message"),
    "a notification of the older wire": (
        "give up",
        lambda m: m.update(method="notifications/initialized", params={}),
        "no message",
    ),
    "giving up nothing": ("give up", lambda m: m["params"].clear(), "requestId: Field required"),
    "an initialize without capabilities": (
        "initialize",
        lambda m: m["params"].pop("capabilities"),
        "capabilities: Field required",
    ),
    "an initialize of the modern wire": (
        "initialize",
        lambda m: m["params"].update(_meta={META_VERSION: "2026-07-28"}),
        "no message",
    ),
    "not a number": ("call", lambda m: m["params"].update(arguments={"a": float("nan")}), "JSON"),
    "an answer to the server": ("get", lambda m: (m.clear(), m.update(id=1, result={})), "A2.7"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_message_that_is_wrong_is_told_by_its_fault(name: str) -> None:
    sample, change, told = BROKEN[name]
    assert told in (violation(broken(sample, change)) or "nothing")


def test_a_batch_is_no_message_a15_17() -> None:
    assert "batch" in (violation([GOOD["get"]]) or "")


def test_an_answer_may_have_members_that_the_types_do_not_know() -> None:
    assert violation(broken("update", lambda m: answer(m).update(x=1))) is None


def test_half_a_character_in_a_text_is_no_fault_of_the_message() -> None:
    assert violation(broken("get", lambda m: m["params"].update(taskId="a\ud800"))) is None
