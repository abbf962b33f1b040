"""Reading what a server tells on a subscription, whatever that is (A11.3, A11.6)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.protocol.generations.base import Acknowledged, Over, Told
from mcptask.protocol.generations.notices import READERS, read_notice
from tests.protocol.fakes import ID, JSON, JSON_OBJECTS, done, wire


def read(method: str, params: Any) -> Any:
    return read_notice({"jsonrpc": "2.0", "method": method, "params": params})


def test_an_acknowledgement_names_tasks_or_knows_no_such_thing_a11_3() -> None:
    acknowledged = "notifications/subscriptions/acknowledged"
    assert read(acknowledged, {"notifications": {"taskIds": [ID]}}) == Acknowledged(frozenset({ID}))
    assert read(acknowledged, {"notifications": {"taskIds": []}}) == Acknowledged(frozenset())
    assert read(acknowledged, {"notifications": {}}) == Acknowledged(None)
    assert read_notice({"method": acknowledged}) == Acknowledged(None)


@pytest.mark.parametrize("method", ["notifications/tasks", "notifications/tasks/status"])
def test_what_is_told_is_read_as_an_answer_is_a11_6(method: str) -> None:
    told = read(method, done(_meta={"io.modelcontextprotocol/subscriptionId": "x"}))
    assert told.task_id == ID
    assert told.task.status == "completed"
    assert told.task.has_payload
    assert read(method, wire("queued")).task.status == "queued"


def test_which_subscription_it_is_of_is_no_part_of_the_task_a11_6() -> None:
    tag = {"io.modelcontextprotocol/subscriptionId": "x"}
    assert "_meta" not in read("notifications/tasks", done(_meta=tag)).task.raw
    own = read("notifications/tasks", done(_meta={**tag, "studio/room": 7})).task.raw
    assert own["_meta"] == {"studio/room": 7}
    assert read("notifications/tasks", done(_meta="odd")).task.raw["_meta"] == "odd"


def test_an_id_alone_says_that_something_changed_a11_6() -> None:
    assert read("notifications/tasks", {"taskId": ID}) == Told(ID, None)
    assert read("notifications/tasks", {"status": "completed"}) is None


def test_the_rest_says_nothing_about_tasks_a11_6() -> None:
    assert read("notifications/progress", {"progress": 1}) is None
    assert read_notice({"id": "x", "result": {}}) is None
    assert read("notifications/cancelled", {"requestId": "x"}) == Over()


@given(st.sampled_from(sorted(READERS)), JSON_OBJECTS | JSON)
def test_whatever_is_told_is_a_notice_or_nothing_a11_6(method: str, params: Any) -> None:
    notice = read(method, params)
    assert notice is None or isinstance(notice, Acknowledged | Told | Over)
    if isinstance(notice, Told) and notice.task is not None:
        assert notice.task.task_id == notice.task_id == params["taskId"]
