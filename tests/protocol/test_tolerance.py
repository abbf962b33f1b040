"""What a server may leave out, add or say twice (C2), and what no tolerance excuses (C3)."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.errors import McptaskError, ProtocolError
from mcptask.protocol.generations.snapshots import read_task
from mcptask.protocol.outcome import outcome_of_task
from mcptask.protocol.task import Task
from tests.protocol.fakes import RESULT, Peer, done, wire
from tests.protocol.sessions import BUSY, DISCOVER, DISCOVERED, DOINGS, GOOD, Course, do

# ── what may be missing, or more ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", DOINGS)
def test_an_answer_without_a_result_type_is_a_complete_one_t1(name: str) -> None:
    answer = {key: value for key, value in GOOD[name].items() if key != "resultType"}
    tagged = do(DOINGS[name], [{**answer, "resultType": "complete"}])
    untagged = do(DOINGS[name], [answer])
    assert not isinstance(untagged[0], McptaskError)
    assert untagged[1].methods == tagged[1].methods
    assert type(untagged[0]) is type(tagged[0])


@pytest.mark.parametrize(
    "more",
    [
        {"ttlMs": 1, "cacheScope": "public"},
        {"ttlMs": -5, "cacheScope": 7},
        {"capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {"most": 5}}}},
        {"capabilities": {}},
    ],
    ids=["fresh for 1 ms", "a broken freshness", "an extension with settings", "no extension"],
)
def test_of_a_discovery_nothing_but_the_revisions_is_learned_a1_6_t14_t18(
    more: dict[str, Any],
) -> None:
    plain = Course(DISCOVER, Peer([{"supportedVersions": DISCOVERED["supportedVersions"]}]))
    course = Course(DISCOVER, Peer([DISCOVERED | more]))
    assert not isinstance(course.found, McptaskError)
    assert course.learned == plain.learned
    assert len(plain.learned) == 1


@pytest.mark.parametrize("kind", [None, "complete", "task", "input_required", "banana", 5])
def test_a_result_within_a_task_is_what_it_is_whatever_it_calls_itself_a9_8(kind: Any) -> None:
    inner = RESULT if kind is None else {**RESULT, "resultType": kind}
    outcome = outcome_of_task(read_task({**done(), "result": inner}))
    assert (outcome.name, outcome.exit_code, outcome.result) == ("completed", 0, inner)


# ── what no tolerance excuses ────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["discover", "tools"])
def test_a_task_is_no_answer_to_anything_but_a_call_s3(name: str) -> None:
    made = wire(resultType="task")
    found, _ = do(DOINGS[name], [made], forced=True)
    assert isinstance(found, ProtocolError)
    if name == "tools":
        both = {**made, "tools": []}
        assert isinstance(do(DOINGS[name], [both], forced=True)[0], ProtocolError)
    found, _ = do(DOINGS["call"], [made], forced=True)
    assert isinstance(found, Task)


def test_an_update_that_was_lost_on_the_way_goes_out_again_as_it_was_a12_8() -> None:
    found, peer = do(DOINGS["update"], [BUSY, BUSY, {}], forced=True)
    first, *again = peer.transport.requests
    assert (found, len(again)) == (None, 2)
    assert all(request.params == first.params for request in again)
    assert first.params["inputResponses"] == {"room": {"action": "decline"}}
