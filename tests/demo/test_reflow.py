"""reflow_month, the show piece, as a client sees it."""

import jsonschema
import pytest

from mcptask.demo.catalog import TOOLS
from mcptask.demo.jsonrpc import Json
from tests.demo.wire import Bench

SEPTEMBER = {"month": "2026-09"}


def finished(bench: Bench, task_id: str) -> Json:
    got = bench.get(task_id)
    assert got["status"] == "completed", got
    result: Json = got["result"]
    schema = TOOLS["reflow_month"].output_schema
    assert schema
    jsonschema.validate(result["structuredContent"], schema)
    return result


def text_of(result: Json) -> str:
    return str(result["content"][0]["text"])


def test_it_takes_its_eight_seconds_and_says_how_far_it_is(bench: Bench) -> None:
    task_id = bench.start("reflow_month", **SEPTEMBER)
    counts: list[int] = []
    while bench.get(task_id)["status"] == "working":
        bench.wait(0.25)
        message = bench.get(task_id)["statusMessage"]
        if message.startswith("Reflowing "):
            assert message.endswith(" of 142 bookings")
            counts.append(int(message.split()[1]))
    assert counts == sorted(counts)
    assert len(set(counts)) > 25
    result = finished(bench, task_id)
    assert bench.clock.seconds - 1_800_000_000 == pytest.approx(8.0, abs=0.3)
    assert text_of(result) == "moved 138, unresolved 4"
    assert result["structuredContent"]["moved"] == 138
    assert len(result["structuredContent"]["unplaced"]) == 4


@pytest.mark.parametrize(
    ("closed", "text"),
    [
        ([], "moved 142, unresolved 0"),
        (["studio-a", "studio-b", "studio-c", "studio-d"], "moved 0, unresolved 142"),
        (["studio-a", "studio-b"], "moved 130, unresolved 12"),
    ],
)
def test_other_closed_rooms_give_other_numbers(bench: Bench, closed: list[str], text: str) -> None:
    task_id = bench.start("reflow_month", seconds=0, offline_rooms=closed, **SEPTEMBER)
    bench.wait(0.1)
    assert text_of(finished(bench, task_id)) == text


def asking(bench: Bench) -> str:
    task_id = bench.start("reflow_month", seconds=0, ask=True, **SEPTEMBER)
    bench.wait(0.1)
    return task_id


def test_it_asks_about_the_four_that_fit_nowhere(bench: Bench) -> None:
    got = bench.get(asking(bench))
    assert got["status"] == "input_required"
    assert list(got["inputRequests"]) == ["unplaced"]
    asked = got["inputRequests"]["unplaced"]
    assert asked["method"] == "elicitation/create"
    assert asked["params"]["message"] == "4 bookings fit nowhere. What should happen to them?"
    schema = asked["params"]["requestedSchema"]
    assert schema["properties"]["action"]["enum"] == ["waitlist", "refund", "keep"]
    assert schema["properties"]["note"]["maxLength"] == 200
    assert schema["required"] == ["action"]


def test_it_does_not_ask_where_everything_fits(bench: Bench) -> None:
    task_id = bench.start("reflow_month", seconds=0, ask=True, offline_rooms=[], **SEPTEMBER)
    bench.wait(0.1)
    assert text_of(finished(bench, task_id)) == "moved 142, unresolved 0"


ANSWERS = [
    ({"action": "accept", "content": {"action": "waitlist"}}, "waitlist", "waitlist"),
    ({"action": "accept", "content": {"action": "refund", "note": "sorry"}}, "refund", "refund"),
    ({"action": "decline"}, "declined, kept", "keep"),
    ({"action": "cancel", "content": {"action": "refund"}}, "not answered, kept", "keep"),
]


@pytest.mark.parametrize(("answer", "said", "action"), ANSWERS)
def test_the_answer_is_in_the_result(bench: Bench, answer: Json, said: str, action: str) -> None:
    task_id = asking(bench)
    bench.result("tasks/update", taskId=task_id, inputResponses={"unplaced": answer})
    bench.turn()
    result = finished(bench, task_id)
    assert text_of(result) == f"moved 138, unresolved 4 ({said})"
    structured = result["structuredContent"]
    assert structured["action"] == action
    assert structured["answer"] == answer["action"]
    note = answer.get("content", {}).get("note") if answer["action"] == "accept" else None
    assert structured.get("note") == note


@pytest.mark.parametrize(
    "content", [{"action": "burn"}, {}, {"action": "keep", "note": "x" * 201}, {"action": None}]
)
def test_an_invalid_answer_leaves_it_asking(bench: Bench, content: Json) -> None:
    task_id = asking(bench)
    answer = {"action": "accept", "content": content}
    error = bench.error("tasks/update", taskId=task_id, inputResponses={"unplaced": answer})
    assert error["code"] == -32602
    assert bench.get(task_id)["status"] == "input_required"
