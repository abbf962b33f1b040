"""Whether a server pushes: what is asked of it, what it may answer, and that polling does without (A11)."""

from __future__ import annotations

from typing import Any

import pytest

from mcptask.errors import (
    Garbled,
    HttpRefused,
    NoCommonVersion,
    ProtocolError,
    Unauthorized,
    Unreachable,
)
from mcptask.protocol.push import ACK_WAIT
from tests.protocol.fakes import ID, QUESTION, done, refused, task, wire
from tests.protocol.pushing import END, LISTEN, SILENCE, ack, acked, at, tells, watched

OTHER = "tsk_77aa"


# ── subscribing ──────────────────────────────────────────────────────────────────────────────────


def test_an_end_that_is_pushed_is_heard_at_once_whatever_the_interval_a11_1() -> None:
    slow = wire(pollIntervalMs=30_000)
    course = watched(gets={0: slow}, streams=[[ack(), at(7), tells(done()), SILENCE]])
    assert course.told[ID] == [
        "0 status working, next 30",
        "0 pushed: it acknowledged a subscription",
        "0.1 still working, next 150.1",
        "7 status completed, next never",
        "7 ended completed 0",
    ]
    assert course.polls == [0, 0.1]


def test_one_stream_names_all_tasks_and_its_id_is_a_text_a11_2() -> None:
    told = [at(2), tells(done()), at(3), tells(done(taskId=OTHER)), SILENCE]
    course = watched(
        ids=[ID, OTHER],
        gets={ID: {0: wire()}, OTHER: {0: wire(taskId=OTHER)}},
        streams=[[ack(ID, OTHER), *told]],
    )
    (request,) = [request for _, request in course.requests if request.method == LISTEN]
    assert request.params["notifications"] == {"taskIds": [ID, OTHER]}
    assert isinstance(request.id, str)
    assert course.told[ID][-1] == "2 ended completed 0"
    assert course.told[OTHER][-1] == "3 ended completed 0", "the first to leave ends no stream"


def test_the_subscription_carries_the_envelope_and_its_headers_a11_2_a2_1() -> None:
    course = watched(gets={0: wire()}, streams=[[ack(), at(1), tells(done())]])
    listen = next(request for _, request in course.requests if request.method == LISTEN)
    get = course.requests[0][1]
    assert listen.params["_meta"] == get.params["_meta"]
    assert listen.headers["Mcp-Method"] == LISTEN
    assert "Mcp-Name" not in listen.headers


@pytest.mark.parametrize(
    ("gets", "ends"),
    [
        ({0: done()}, "0 ended completed 0"),
        ({0: refused(-32602)}, "0 ended lost 6"),
        ({0: Unauthorized("401", data={"status": 401})}, "0 ended unauthorized 8"),
        ({0: Unreachable("gone")}, "300 ended unreachable 7"),
    ],
)
def test_nothing_is_subscribed_for_a_task_that_is_not_known_to_go_on_a11_1(
    gets: dict[float, Any], ends: str
) -> None:
    course = watched(gets=gets, streams=[[ack(), SILENCE]])
    assert (course.listens, course.told[ID][-1]) == ([], ends)


def test_a_task_that_was_just_made_is_subscribed_to_at_once_a11_1() -> None:
    course = watched(
        gets={0: wire()}, streams=[[ack(), at(1), tells(done())]], seed=task(poll_interval_ms=9000)
    )
    assert (course.listens, course.polls) == ([0], [0.1])


def test_leaving_ends_the_stream_a11_11() -> None:
    course = watched(gets={0: wire(), 40: done()}, streams=[[ack(), SILENCE]])
    assert course.left == [LISTEN]


def test_a_server_that_is_known_not_to_push_is_not_asked_again_a11_1() -> None:
    course = watched(gets={0: wire(), 3: done()}, known="it does not offer subscriptions")
    assert (course.listens, course.polls) == ([], [0, 1, 2, 3])
    assert course.modes == ["0 polled: it does not offer subscriptions"]
    assert course.remarks == ["it does not offer subscriptions; polling"]
    assert course.learned == [], "or it would be remembered for ever"


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────

LASTING = [
    (refused(-32601), "it does not offer subscriptions"),
    (refused(-32021, "say tasks"), "it refuses subscriptions (say tasks)"),
    (HttpRefused("HTTP 404", status=404), "it refuses subscriptions (HTTP 404)"),
    (HttpRefused("HTTP 405", status=405), "it refuses subscriptions (HTTP 405)"),
]
PASSING = [
    (refused(-32602, "unknown task"), "it refuses subscriptions (unknown task)"),
    (refused(-32603, "limit reached"), "it refuses subscriptions (limit reached)"),
    (refused(-32000, "eh"), "it refuses subscriptions (eh)"),
    (Unauthorized("HTTP 401", data={"status": 401}), "it refuses subscriptions (HTTP 401)"),
    (ProtocolError("a 202"), "it refuses subscriptions (a 202)"),
    (NoCommonVersion("older"), "it refuses subscriptions (older)"),
    (
        {"result": 7},
        "it refuses subscriptions (the answer has neither a result object nor an error)",
    ),
]


@pytest.mark.parametrize(("answer", "why"), LASTING + PASSING)
def test_a_refusal_costs_push_and_no_more_a11_10_a11_8(answer: Any, why: str) -> None:
    course = watched(gets={0: wire(), 90: done()}, streams=[[answer]])
    assert course.listens == [0], "it is asked once in a command"
    assert course.polls == list(range(91)), "and polled as if there were no push"
    assert course.modes == [f"0 polled: {why}"]
    assert course.remarks == [f"{why}; polling"]
    assert course.told[ID][-1] == "90 ended completed 0"


@pytest.mark.parametrize(("answer", "why"), LASTING)
def test_that_a_server_does_not_push_is_learned_a11_1(answer: Any, why: str) -> None:
    assert watched(gets={0: wire(), 3: done()}, streams=[[answer]]).learned == [why]


@pytest.mark.parametrize(("answer", "why"), PASSING)
def test_a_refusal_of_these_tasks_or_of_no_known_meaning_is_not_learned_a11_1_a4_6(
    answer: Any, why: str
) -> None:
    assert watched(gets={0: wire(), 3: done()}, streams=[[answer]]).learned == []


@pytest.mark.parametrize("answer", [Unreachable("no route"), Garbled("<html>"), END])
def test_what_is_no_refusal_is_tried_again_a11_8(answer: Any) -> None:
    course = watched(gets={0: wire()}, streams=[[answer], [ack(), at(4), tells(done()), SILENCE]])
    assert course.listens == [0, 1]
    assert course.told[ID][-1] == "4 ended completed 0"


# ── the acknowledgement ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "honoured",
    [
        None,
        [],
        "all",
        {},
        {"taskIds": None},
        {"taskIds": ID},
        {"taskIds": [ID, 7]},
        {"tasks": [ID]},
    ],
)
def test_an_acknowledgement_without_ids_closes_the_stream_and_is_learned_a11_3(
    honoured: Any,
) -> None:
    course = watched(gets={0: wire(), 3: done()}, streams=[[acked(honoured), SILENCE]])
    assert (course.listens, course.left) == ([0], [LISTEN])
    assert course.polls == [0, 1, 2, 3]
    assert course.learned == ["it acknowledges no subscription to tasks"]


@pytest.mark.parametrize("ids", [[], [OTHER]])
def test_an_acknowledgement_of_none_of_these_tasks_says_nothing_of_others_a11_3(
    ids: list[str],
) -> None:
    course = watched(gets={0: wire(), 3: done()}, streams=[[acked({"taskIds": ids}), SILENCE]])
    assert (course.left, course.polls) == ([LISTEN], [0, 1, 2, 3])
    assert course.modes == ["0 polled: it acknowledges no subscription to tasks"]
    assert course.learned == []


def test_what_the_acknowledgement_leaves_out_is_polled_for_a11_3() -> None:
    other = {0: wire(taskId=OTHER), 9: done(taskId=OTHER)}
    course = watched(
        ids=[ID, OTHER],
        gets={ID: {0: wire()}, OTHER: other},
        streams=[[ack(ID), at(20), tells(done()), SILENCE]],
    )
    assert course.told[OTHER][1] == "0 polled: it acknowledged no subscription to this task"
    assert course.told[OTHER][-1] == "9 ended completed 0"
    assert course.told[ID][-1] == "20 ended completed 0"
    assert course.polls == [0, 0, 0.1, *range(1, 10)], "two first questions, one after the ack"
    assert course.remarks[0].endswith("it acknowledged a subscription to 1 of 2 tasks")


def test_an_acknowledgement_counts_for_tasks_that_ended_meanwhile_as_well_a11_3() -> None:
    """Else a server that pushes would be remembered as one that does not."""
    course = watched(
        ids=[ID, OTHER],
        gets={ID: {0: wire(), 1: done()}, OTHER: {0: wire(taskId=OTHER), 9: done(taskId=OTHER)}},
        streams=[[at(2), ack(ID), SILENCE]],
    )
    assert course.learned == []
    assert "2 polled: it acknowledged no subscription to this task" in course.told[OTHER]


def test_what_comes_before_the_acknowledgement_is_ignored_a11_4() -> None:
    asks = wire("input_required", inputRequests={"room": QUESTION})
    early = [tells(asks), tells(done())]
    course = watched(
        gets={0: wire()}, streams=[[*early, at(2), ack(), at(5), tells(done()), SILENCE]]
    )
    assert not any("asks" in line for line in course.told[ID])
    assert course.told[ID][-1] == "5 ended completed 0"


def test_a_second_acknowledgement_changes_nothing_a11_4() -> None:
    course = watched(
        gets={0: wire()}, streams=[[ack(), at(2), acked({}), at(5), tells(done()), SILENCE]]
    )
    assert course.modes == ["0 pushed: it acknowledged a subscription"]
    assert course.told[ID][-1] == "5 ended completed 0"


def test_a_server_that_does_not_acknowledge_is_polled_meanwhile_and_after_a11_4() -> None:
    course = watched(gets={0: wire(), 60: done()}, streams=[[at(3), tells(done()), SILENCE]])
    assert course.polls == list(range(61))
    assert course.modes == ["10 polled: it did not acknowledge the subscription within 10 s"]
    assert (course.listens, course.left, course.learned) == ([0], [LISTEN], [])
    assert ACK_WAIT == 10


def test_nothing_waits_for_an_acknowledgement_that_came_a11_4() -> None:
    course = watched(
        gets={0: wire()}, streams=[[ack(), at(12), tells(done()), SILENCE]], ack_wait=0.01
    )
    assert course.modes == ["0 pushed: it acknowledged a subscription"]
    assert course.told[ID][-1] == "12 ended completed 0"
