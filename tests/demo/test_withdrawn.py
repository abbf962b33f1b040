"""A question that the server takes back: its key is gone, and the job goes on."""

from pathlib import Path

from mcptask.demo.jobs import Ask, Done, Job, Step, Tool, form, table, text_result
from mcptask.demo.jsonrpc import Json
from tests.demo.interviewed import accept, answer, asked, begin
from tests.demo.wire import Bench, Clock, request

TEA: Json = accept(drink="tea")


def told(bench: Bench, task_id: str) -> Json:
    got = bench.get(task_id)
    assert got["status"] == "completed", got
    found: Json = got["result"]["structuredContent"]
    return found


WITHDRAWN: Json = {"questions": [{"key": "tea", "outcome": "withdrawn"}]}


def test_a_question_is_withdrawn_when_its_time_is_over(bench: Bench) -> None:
    task_id = begin(bench, only="withdrawn", seconds=6)
    bench.wait(5.9)
    assert list(asked(bench, task_id)) == ["tea"]
    bench.wait(0.2)
    got = bench.get(task_id)
    assert (got["status"], got["statusMessage"]) == ("working", "Going on without an answer")
    assert "inputRequests" not in got
    bench.wait(2)
    assert told(bench, task_id) == WITHDRAWN


def test_answered_in_time_it_is_not_withdrawn(bench: Bench) -> None:
    task_id = begin(bench, only="withdrawn", seconds=6)
    bench.wait(5.9)
    answer(bench, task_id, tea=TEA)
    bench.wait(1)
    questions = told(bench, task_id)["questions"]
    assert questions == [{"key": "tea", "outcome": "accepted", "answer": {"drink": "tea"}}]


def test_an_answer_that_comes_too_late_is_acknowledged_and_ignored(bench: Bench) -> None:
    task_id = begin(bench, only="withdrawn", seconds=6)
    bench.wait(6.1)
    answer(bench, task_id, tea=TEA)
    bench.wait(2)
    assert told(bench, task_id) == WITHDRAWN


def test_the_end_of_a_question_is_pushed(bench: Bench) -> None:
    task_id = begin(bench, only="withdrawn", seconds=6)
    bench.say(request("subscriptions/listen", notifications={"taskIds": [task_id]}))
    bench.turn()
    bench.sent.clear()
    bench.wait(6.1)
    assert [message["params"]["status"] for message in bench.sent] == ["working"]


def test_a_task_can_be_cancelled_while_its_question_has_time(bench: Bench) -> None:
    task_id = begin(bench, only="withdrawn", seconds=6)
    bench.result("tasks/cancel", taskId=task_id)
    bench.turn()
    assert bench.get(task_id)["status"] == "cancelled"
    bench.wait(7)
    assert bench.get(task_id)["status"] == "cancelled"


def test_the_next_process_withdraws_what_a_killed_one_asked(tmp_path: Path) -> None:
    first = Bench(tmp_path / "demo.sqlite3")
    task_id = begin(first, only="withdrawn", seconds=6)
    first.wait(1)
    first.close()
    second = Bench(tmp_path / "demo.sqlite3", clock=first.clock)
    second.wait(4)
    assert list(asked(second, task_id)) == ["tea"]
    second.wait(1.1)
    assert second.get(task_id)["status"] == "working"
    second.wait(2)
    assert told(second, task_id) == WITHDRAWN
    second.close()


def test_an_interview_goes_on_in_the_next_process_at_the_question_where_it_was(
    tmp_path: Path,
) -> None:
    first = Bench(tmp_path / "demo.sqlite3")
    task_id = begin(first)
    answer(first, task_id, name=accept(name="Grace"))
    first.close()
    second = Bench(tmp_path / "demo.sqlite3", clock=first.clock)
    assert "Grace" in asked(second, task_id)["purpose"]["params"]["message"]
    answer(second, task_id, purpose={"action": "decline"})
    assert set(asked(second, task_id)) == {"day", "room", "people"}
    second.close()


QUESTIONS: Json = {
    key: form(key, {"value": {"type": "string"}}, ["value"]) for key in ("one", "two")
}


def _impatient(job: Job) -> Step:
    if job.answers:
        return Done(text_result("done", {"answers": job.answers}))
    return Ask(QUESTIONS, withdraw_after_s=2)


def _stubborn(job: Job) -> Step:
    return Ask(QUESTIONS, withdraw_after_s=2)


def test_only_what_is_still_open_is_withdrawn() -> None:
    tools = table(Tool("impatient", "", "", {"type": "object"}, step=_impatient))
    bench = Bench(tools=tools, clock=Clock())
    task_id = bench.start("impatient")
    bench.turn()
    given = accept(value="a")
    answer(bench, task_id, one=given)
    bench.wait(1.9)
    assert list(asked(bench, task_id)) == ["two"]
    bench.wait(0.2)
    assert told(bench, task_id) == {"answers": {"one": given, "two": None}}
    bench.close()


def test_a_key_that_was_withdrawn_is_not_asked_again() -> None:
    bench = Bench(tools=table(Tool("stubborn", "", "", {"type": "object"}, step=_stubborn)))
    task_id = bench.start("stubborn")
    bench.wait(2.1)
    assert bench.get(task_id)["error"]["code"] == -32603
    bench.close()
