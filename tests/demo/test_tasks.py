"""The life of a task: get, update, cancel, expiry."""

import re

import pytest

from mcptask.demo.jobs import Ask, Done, Job, Next, Step, Tool, form, table, text_result
from mcptask.demo.jsonrpc import Json
from tests.demo.wire import BEGIN, NOTHING, Bench, Clock, request

TEXT: Json = {"type": "string"}
SHOWN = {"taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"}
META = {"resultType", "_meta"}


def test_a_created_task_is_flat_and_can_be_got_at_once(bench: Bench) -> None:
    created = bench.call("slow_echo", text="a")
    assert set(created) == SHOWN | META
    assert created["resultType"] == "task"
    assert created["status"] == "working"
    got = bench.get(created["taskId"])
    assert got["resultType"] == "complete"
    assert {key: got[key] for key in SHOWN} == {key: created[key] for key in SHOWN}


def test_times_are_utc_with_milliseconds(bench: Bench) -> None:
    bench.clock.seconds = BEGIN + 0.0625
    created = bench.call("slow_echo", text="a")
    assert created["createdAt"] == "2027-01-15T08:00:00.062Z"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", created["lastUpdatedAt"])


def test_ids_cannot_be_guessed_and_are_no_options(bench: Bench) -> None:
    ids = {bench.start("slow_echo", text="a") for _ in range(200)}
    assert len(ids) == 200
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{31}", task_id) for task_id in ids)


def test_a_finished_task_has_its_result_inlined(bench: Bench) -> None:
    task_id = bench.start("slow_echo", text="hé", seconds=3)
    bench.wait(2.9)
    assert bench.get(task_id)["status"] == "working"
    bench.wait(0.2)
    got = bench.get(task_id)
    assert got["status"] == "completed"
    assert got["result"]["content"] == [{"type": "text", "text": "hé"}]
    assert got["result"]["resultType"] == "complete"
    assert "error" not in got
    assert "requestState" not in got


def test_a_tool_error_completes_and_a_protocol_error_fails(bench: Bench) -> None:
    flaky, crash = bench.start("flaky"), bench.start("crash")
    bench.wait(1.1)
    got = bench.get(flaky)
    assert got["status"] == "completed"
    assert got["result"]["isError"] is True
    got = bench.get(crash)
    assert got["status"] == "failed"
    assert set(got["error"]) == {"code", "message", "data"}
    assert "result" not in got


def test_a_cancelled_task_ends_cancelled(bench: Bench) -> None:
    task_id = bench.start("slow_echo", text="a")
    ack = bench.result("tasks/cancel", taskId=task_id)
    assert set(ack) == META
    assert bench.get(task_id)["status"] == "working"
    bench.turn()
    got = bench.get(task_id)
    assert got["status"] == "cancelled"
    bench.wait(5)
    assert bench.get(task_id) == got


def test_a_task_that_asks_can_be_cancelled(bench: Bench) -> None:
    task_id = bench.start("reflow_month", month="2026-09", seconds=0, ask=True)
    bench.wait(0.1)
    assert bench.get(task_id)["status"] == "input_required"
    bench.result("tasks/cancel", taskId=task_id)
    bench.turn()
    got = bench.get(task_id)
    assert got["status"] == "cancelled"
    assert "inputRequests" not in got


def test_a_stubborn_task_takes_note_and_completes(bench: Bench) -> None:
    task_id = bench.start("stubborn", seconds=2)
    bench.wait(0.5)
    bench.result("tasks/cancel", taskId=task_id)
    bench.wait(0.5)
    got = bench.get(task_id)
    assert got["status"] == "working"
    assert got["statusMessage"].startswith("Asked to stop, going on")
    bench.wait(1.1)
    assert bench.get(task_id)["result"]["structuredContent"] == {"cancelAsked": True}


def test_cancelling_what_has_ended_is_acknowledged_and_changes_nothing(bench: Bench) -> None:
    task_id = bench.start("slow_echo", text="a", seconds=0)
    bench.turn()
    got = bench.get(task_id)
    assert got["status"] == "completed"
    assert set(bench.result("tasks/cancel", taskId=task_id)) == META
    bench.wait(1)
    assert bench.get(task_id) == got


def test_an_expired_task_is_gone_also_from_the_store(bench: Bench) -> None:
    task_id = bench.start("slow_echo", text="a", seconds=0)
    bench.wait(1)
    bench.clock.seconds = BEGIN + 24 * 3600 - 0.01
    assert bench.get(task_id)["status"] == "completed"
    bench.clock.seconds = BEGIN + 24 * 3600
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        error = bench.error(method, taskId=task_id, inputResponses={})
        assert error["code"] == -32602
    bench.turn()
    assert bench.engine.store.execute("SELECT count(*) FROM tasks") == [(0,)]


def _two_questions(job: Job) -> Step:
    asked = {key: form(key, {"value": TEXT}, ["value"]) for key in ("one", "two")}
    missing = {key: asked[key] for key in asked if key not in job.answers}
    if missing:
        return Ask(missing)
    return Done(text_result(" ".join(job.answers[key]["content"]["value"] for key in asked)))


def _greedy(job: Job) -> Step:
    return Ask({"one": form("again", {"value": TEXT}, [])})


def _broken(job: Job) -> Step:
    return Next(0.1, {"begun": job.state["begun"] + 1} if job.state else {"begun": "text"})


def _counting(job: Job) -> Step:
    steps = job.state.get("steps", 0)
    return Next(1.0, {"steps": steps + 1}, f"Step {steps}")


OBJECT: Json = {"type": "object", "properties": {}}
FIXTURES = table(
    Tool("two", "", "", OBJECT, step=_two_questions),
    Tool("greedy", "", "", OBJECT, step=_greedy),
    Tool("broken", "", "", OBJECT, step=_broken),
    Tool("counting", "", "", OBJECT, step=_counting, ttl_ms=None),
)


def accept(value: object) -> Json:
    return {"action": "accept", "content": {"value": value}}


def test_each_of_several_questions_may_be_answered_by_itself() -> None:
    bench = Bench(tools=FIXTURES)
    task_id = bench.start("two")
    bench.turn()
    assert set(bench.get(task_id)["inputRequests"]) == {"one", "two"}
    ack = bench.result("tasks/update", taskId=task_id, inputResponses={"two": accept("world")})
    assert set(ack) == META
    got = bench.get(task_id)
    assert got["status"] == "input_required"
    assert set(got["inputRequests"]) == {"one"}
    bench.result(
        "tasks/update",
        taskId=task_id,
        inputResponses={"one": accept("hello"), "two": accept("again"), "three": 3},
    )
    assert bench.get(task_id)["status"] == "working"
    bench.turn()
    assert bench.get(task_id)["result"]["content"][0]["text"] == "hello world"
    bench.close()


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "yes",
        {},
        {"action": "maybe"},
        {"action": "accept"},
        {"action": "accept", "content": []},
        accept(7),
        {"action": "accept", "content": {}},
    ],
)
def test_a_wrong_answer_is_refused_by_name_and_the_question_stays(answer: object) -> None:
    bench = Bench(tools=FIXTURES)
    task_id = bench.start("two")
    bench.turn()
    before = bench.get(task_id)
    responses = {"one": accept("fine"), "two": answer}
    error = bench.error("tasks/update", taskId=task_id, inputResponses=responses)
    assert error["code"] == -32602
    assert "'two'" in error["message"]
    assert bench.get(task_id) == before
    bench.close()


@pytest.mark.parametrize("responses", [None, [], "x"])
def test_responses_must_be_an_object(responses: object) -> None:
    bench = Bench(tools=FIXTURES)
    task_id = bench.start("two")
    error = bench.error("tasks/update", taskId=task_id, inputResponses=responses)
    assert error["code"] == -32602
    bench.close()


def test_keys_that_are_not_asked_are_ignored(bench: Bench) -> None:
    task_id = bench.start("slow_echo", text="a")
    before = bench.get(task_id)
    assert set(bench.result("tasks/update", taskId=task_id, inputResponses={"x": 1})) == META
    assert bench.get(task_id) == before


def test_a_tool_that_asks_a_key_twice_fails_instead() -> None:
    bench = Bench(tools=FIXTURES)
    task_id = bench.start("greedy")
    bench.turn()
    bench.result("tasks/update", taskId=task_id, inputResponses={"one": accept("a")})
    bench.turn()
    assert bench.get(task_id)["error"]["code"] == -32603
    bench.close()


def test_a_bug_in_a_tool_fails_its_own_task_alone() -> None:
    bench = Bench(tools=FIXTURES)
    broken, counting = bench.start("broken"), bench.start("counting")
    bench.wait(1.2)
    assert bench.get(broken)["error"]["code"] == -32603
    assert bench.get(counting)["statusMessage"] == "Step 1"
    bench.close()


def test_a_task_without_a_time_to_live_stays() -> None:
    bench = Bench(tools=FIXTURES, clock=Clock())
    task_id = bench.start("counting")
    assert bench.get(task_id)["ttlMs"] is None
    bench.clock.seconds += 10**9
    bench.turn()
    assert bench.get(task_id)["status"] == "working"
    bench.close()


def test_a_client_without_the_extension_gets_the_result_itself(bench: Bench) -> None:
    bench.say(bench_request("slow_echo", text="a", seconds=1))
    assert bench.sent == []
    bench.wait(1.1)
    answer = bench.sent.pop()
    assert answer["result"]["resultType"] == "complete"
    assert answer["result"]["content"][0]["text"] == "a"
    assert bench.engine.store.execute("SELECT count(*) FROM tasks") == [(0,)]


def test_a_failure_reaches_a_client_without_the_extension_as_the_error(bench: Bench) -> None:
    bench.say(bench_request("crash"))
    bench.wait(1.1)
    assert bench.sent.pop()["error"]["data"]["tool"] == "crash"


def test_who_waits_too_long_without_the_extension_is_told_to_declare_it(bench: Bench) -> None:
    bench.say(bench_request("slow_echo", text="a", seconds=60))
    bench.wait(10.1)
    assert bench.sent.pop()["error"]["code"] == -32021
    assert bench.engine.store.execute("SELECT count(*) FROM tasks") == [(0,)]
    bench.wait(60)
    assert bench.sent == []


def test_a_call_that_is_given_up_is_neither_answered_nor_continued(bench: Bench) -> None:
    cancel = bench.say(bench_request("slow_echo", text="a", seconds=1))
    assert cancel is not None
    cancel()
    bench.wait(12)
    assert bench.sent == []
    assert bench.engine.store.execute("SELECT count(*) FROM tasks") == [(0,)]


def bench_request(name: str, **arguments: object) -> Json:
    return request("tools/call", NOTHING, name=name, arguments=arguments)
