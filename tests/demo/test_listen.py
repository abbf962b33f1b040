"""subscriptions/listen: the acknowledgement, then every change as tasks/get would show it."""

from pathlib import Path
from typing import Any

import pytest

from mcptask.demo.jsonrpc import META_SUBSCRIPTION, TASKS, Json
from tests.demo.wire import NOTHING, TASKS_ONLY, Bench, Clock, request


def listen(bench: Bench, task_ids: Any, request_id: str | int = "L") -> Any:
    message = request(
        "subscriptions/listen", request_id=request_id, notifications={"taskIds": task_ids}
    )
    return bench.say(message)


def without_meta(message: Json) -> Json:
    return {key: value for key, value in message.items() if key not in ("_meta", "resultType")}


@pytest.mark.parametrize("request_id", ["L", 7, 0])
def test_the_acknowledgement_comes_first_and_names_the_honoured_ids(
    bench: Bench, request_id: str | int
) -> None:
    task_id = bench.start("slow_echo", text="a")
    listen(bench, [task_id, "nope", task_id], request_id)
    bench.turn()
    acknowledged = bench.sent.pop(0)
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
    assert acknowledged["params"]["notifications"] == {"taskIds": [task_id]}
    assert acknowledged["params"]["_meta"] == {META_SUBSCRIPTION: request_id}
    assert "id" not in acknowledged


def test_each_change_is_pushed_as_tasks_get_would_show_it(bench: Bench) -> None:
    task_id = bench.start("reflow_month", month="2026-09", seconds=0.5, ask=True)
    other = bench.start("slow_echo", text="a", seconds=0.1)
    listen(bench, [task_id])
    bench.sent.clear()
    bench.wait(1)
    asked = bench.sent[-1]
    assert asked["method"] == "notifications/tasks"
    assert asked["params"]["status"] == "input_required"
    assert asked["params"]["_meta"] == {META_SUBSCRIPTION: "L"}
    pushed = list(bench.sent)
    assert without_meta(asked["params"]) == without_meta(bench.get(task_id))
    assert other not in {message["params"]["taskId"] for message in pushed}
    bench.sent.clear()
    answer = {"unplaced": {"action": "decline"}}
    bench.result("tasks/update", taskId=task_id, inputResponses=answer)
    bench.turn()
    last = bench.sent[-1]["params"]
    assert last["status"] == "completed"
    assert last["result"]["content"]


def test_nothing_is_pushed_while_nothing_changes(bench: Bench) -> None:
    task_id = bench.start("slow_echo", text="a", seconds=0)
    bench.wait(0.2)
    listen(bench, [task_id])
    bench.sent.clear()
    bench.wait(5)
    assert bench.sent == []


def test_what_another_process_does_is_pushed_too(tmp_path: Path) -> None:
    clock = Clock()
    watching = Bench(tmp_path / "store", clock=clock)
    working = Bench(tmp_path / "store", clock=clock)
    task_id = working.start("slow_echo", text="a", seconds=1)
    listen(watching, [task_id])
    watching.sent.clear()
    for _ in range(12):
        working.wait(0.1)
        watching.turn()
    statuses = [message["params"]["status"] for message in watching.sent]
    assert statuses[0] == "working"
    assert statuses[-1] == "completed"
    watching.close()
    working.close()


def test_a_subscription_that_is_cancelled_is_silent(bench: Bench) -> None:
    task_id = bench.start("slow_echo", text="a")
    cancel = listen(bench, [task_id])
    cancel()
    bench.sent.clear()
    bench.wait(5)
    assert bench.sent == []


def test_the_end_of_the_server_ends_the_subscription_with_a_result(bench: Bench) -> None:
    listen(bench, [])
    bench.engine.watchers.close()
    last = bench.sent[-1]
    assert last["id"] == "L"
    assert last["result"]["_meta"][META_SUBSCRIPTION] == "L"


@pytest.mark.parametrize("capabilities", [NOTHING, {"elicitation": {}}])
def test_task_ids_without_the_extension_are_refused(bench: Bench, capabilities: Json) -> None:
    error = bench.error("subscriptions/listen", capabilities, notifications={"taskIds": []})
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


@pytest.mark.parametrize(
    "wanted", [None, [], {"taskIds": "x"}, {"taskIds": [1]}, {"taskIds": None}]
)
def test_a_filter_of_another_shape_is_refused(bench: Bench, wanted: object) -> None:
    error = bench.error("subscriptions/listen", TASKS_ONLY, notifications=wanted)
    assert error["code"] == -32602


def test_a_filter_without_task_ids_is_acknowledged_and_stays_silent(bench: Bench) -> None:
    bench.start("slow_echo", text="a")
    bench.say(request("subscriptions/listen", NOTHING, notifications={"toolsListChanged": True}))
    assert bench.sent.pop()["params"]["notifications"] == {}
    bench.wait(4)
    assert bench.sent == []
