"""`--answers`, `--accept-defaults`, `--decline-all`: what scripts and CI answer a running task with."""

from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Cli, Ran
from tests.e2e.scripted import ID, Got, Json, Reply, Scripted, asking, completed, question, result
from tests.e2e.several import Started

CALL = ("call", "job", "month=2026-09", "--wait")
KEEP = {"action": "accept", "content": {"action": "keep"}}
ADA = {"action": "accept", "content": {"who": "Ada"}}
TEXT = {"type": "string"}
NAME = question("Who plays?", who=TEXT)
LOGIN: Json = {
    "method": "elicitation/create",
    "params": {"mode": "url", "url": "https://x.example/", "message": "Sign in"},
}
SAMPLING: Json = {"method": "sampling/createMessage", "params": {"maxTokens": 9, "messages": []}}


def by_task(of: Any) -> Reply:
    """`of(task_id)` is the reply to a request about that task."""

    def reply(handler: Any, got: Got) -> None:
        of(got.params["taskId"])(handler, got)

    return reply


def asks(server: Scripted, **questions: Json) -> dict[str, Json]:
    """Each task asks these at once, until all are answered. Returns what was answered, by task."""
    answered: dict[str, Json] = {}

    def state(task_id: str) -> Reply:
        got = answered.get(task_id, {})
        left = {key: each for key, each in questions.items() if key not in got}
        return asking(task_id, **left) if left else completed(task_id)

    def take(handler: Any, got: Got) -> None:
        responses = answered.setdefault(got.params["taskId"], {})
        assert not responses.keys() & got.params["inputResponses"].keys()
        responses.update(got.params["inputResponses"])
        result()(handler, got)

    server.on("tasks/get", by_task(state))
    server.on("tasks/update", take)
    return answered


@pytest.fixture
def run(on_server: Cli, cwd: Path) -> Any:
    """`run(argv, text)`: with `--answers` naming a file of this text."""

    def with_file(argv: tuple[str, ...], text: str, **more: Any) -> Ran:
        (cwd / "a.toml").write_text(text)
        return on_server(*argv, "--answers", "a.toml", **more)

    return with_file


def test_questions_are_answered_as_they_come_each_once_a12_2_a12_6(
    run: Any, server: Scripted
) -> None:
    taken: list[Json] = []

    def take(handler: Any, got: Got) -> None:
        taken.append(got.params["inputResponses"])
        result()(handler, got)

    first, second = asking(approve=question()), asking(**{f"{ID}:9c1e02": NAME})
    server.on("tasks/get", first, first, second, second, completed())
    server.on("tasks/update", take)
    ran = run(CALL, 'approve = { action = "keep" }\nwho = "Ada"\nnoet = 1')
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    assert taken == [{"approve": KEEP}, {f"{ID}:9c1e02": ADA}]
    assert ran.err.count("a.toml: nothing asked for noet\n") == 1


def test_one_file_answers_all_the_tasks_of_a_watch(
    on_server: Cli, run: Any, server: Scripted, started: Started
) -> None:
    started(server, 3)
    answered = asks(server, approve=question(), name=NAME)
    ran = run(("watch", "--all", "--json"), 'action = "keep"\nname = { who = "Ada" }\nrest = "x"')
    assert ran.code == 0
    assert answered == {f"tsk_{n}": {"approve": KEEP, "name": ADA} for n in (1, 2, 3)}
    unused = "a.toml: nothing asked for rest"
    assert [each["warnings"] for each in ran.documents["tasks"]] == [[unused]] * 3


def test_what_is_answered_in_part_leaves_the_rest_open_by_name_a12_6_a12_11(
    run: Any, server: Scripted
) -> None:
    answered = asks(server, approve=question(), name=question("Who?", who=TEXT, note=TEXT))
    ran = run((*CALL, "--json"), 'action = "keep"\nnote = "x"')
    assert ran.code == 3
    assert answered == {ID: {"approve": KEEP}}
    error = ran.document["error"]
    assert error["kind"] == "input"
    assert set(error["data"]["inputRequests"]) == {"name"}
    assert error["data"]["update"].keys() == {"name"}
    assert error["data"]["update"]["name"].startswith("mcptask update 1 ")
    assert ran.document["warnings"] == ["task 1: a.toml: name lacks who (text)"]


@pytest.mark.parametrize("more", [(), ("--decline-all",), ("--accept-defaults",)])
def test_an_entry_that_does_not_fit_leaves_its_question_open_and_no_other_a12_12(
    run: Any, server: Scripted, started: Started, more: tuple[str, ...]
) -> None:
    """Its task goes on, and so do the others; nothing else answers in place of what was meant."""
    started(server, 2)
    optional = question("Anything else?", action={"type": "string", "enum": ["keep"]})
    optional["params"]["requestedSchema"]["required"] = []
    only_first = {"tsk_1": {"approve": optional}, "tsk_2": {"name": NAME}}
    answered: dict[str, Json] = {}

    def state(task_id: str) -> Reply:
        left = {} if task_id in answered else only_first[task_id]
        return asking(task_id, **left) if left else completed(task_id)

    def take(handler: Any, got: Got) -> None:
        answered[got.params["taskId"]] = got.params["inputResponses"]
        result()(handler, got)

    server.on("tasks/get", by_task(state))
    server.on("tasks/update", take)
    ran = run(("watch", "1", "2", *more), 'approve = { action = "burn" }\nwho = "Ada"')
    assert ran.code == 3
    assert answered == {"tsk_2": {"name": ADA}}
    assert ran.err.count("task 1: a.toml: approve: action: expected keep") == 1


def test_quiet_keeps_back_no_reason_why_a_question_is_left_open_a12_11(
    run: Any, server: Scripted, started: Started
) -> None:
    started(server, 2)
    asks(server, approve=question())
    unfit = 'approve = { action = "burn" }\n[[match]]\nmessage = "Nobody"\nanswer = "decline"'
    argv = ("watch", "1", "2")
    told = run(argv, unfit).err.splitlines()
    reasons = [
        "warning: task 1: a.toml: approve: action: expected one of waitlist, refund, keep",
        "warning: task 2: a.toml: approve: action: expected one of waitlist, refund, keep",
        "warning: a.toml: nothing asked for [[match]] 'Nobody'",
    ]
    assert sorted(line for line in told if line.startswith("warning: ")) == sorted(reasons)
    ran = run((*argv, "-q"), unfit)
    assert ran.code == 3
    assert sorted(ran.err.splitlines()[:3]) == sorted(reasons)
    assert ran.err.splitlines()[3].startswith("error: task 1: ")
    assert ran.err.count("warning: ") == 3
    assert run(("watch", "1", "-q"), unfit).err.splitlines()[:2] == reasons[::2]
    done = run((*argv, "-q"), 'action = "keep"\nnothing = 1')
    assert (done.code, done.err) == (0, "")


def test_the_answers_come_from_standard_input_read_once(on_server: Cli, server: Scripted) -> None:
    answered = asks(server, approve=question())
    assert on_server("call", "job", "month=x").code == 0
    text = 'action = "keep"'
    assert on_server("watch", "--answers", "-", stdin=text).code == 0
    assert answered == {ID: {"approve": KEEP}}
    answered.clear()
    assert on_server("call", "job", "month=x").code == 0
    assert on_server("update", "last", "--answers", "-", stdin=text).code == 0
    assert answered == {ID: {"approve": KEEP}}


def test_a_file_that_cannot_be_read_is_refused_before_anything_is_sent(
    run: Any, on_server: Cli, server: Scripted
) -> None:
    assert on_server("call", "job", "month=x").code == 0
    sent = len(server.requests)
    for argv in (CALL, ("watch",), ("update", "last")):
        ran = run(argv, "x = ")
        assert ran.code == 2
        assert "a.toml: not valid TOML" in ran.err
        assert on_server(*argv, "--answers", "none.toml").code == 2
    assert len(server.requests) == sent


# ── --accept-defaults and --decline-all ──


def test_defaults_are_accepted_where_they_fill_the_form_a12_13(
    on_server: Cli, server: Scripted
) -> None:
    filled = question("How many?", count={"type": "integer", "default": 3})
    answered = asks(server, approve=question(), count=filled, login=LOGIN, think=SAMPLING)
    ran = on_server(*CALL, "--accept-defaults", "--json")
    assert ran.code == 3
    assert answered == {ID: {"count": {"action": "accept", "content": {"count": 3}}}}
    assert set(ran.document["error"]["data"]["inputRequests"]) == {"approve", "login", "think"}


def test_all_that_can_be_declined_is_declined_after_what_the_file_answers_a12_11(
    run: Any, server: Scripted
) -> None:
    answered = asks(server, approve=question(), name=NAME, login=LOGIN, think=SAMPLING)
    ran = run((*CALL, "--decline-all", "--json"), 'action = "keep"')
    assert ran.code == 3
    declined = {"action": "decline"}
    assert answered == {ID: {"approve": KEEP, "name": declined, "login": declined}}
    assert set(ran.document["error"]["data"]["inputRequests"]) == {"think"}


# ── what cannot both be meant ──


def test_options_that_exclude_each_other(on_server: Cli, server: Scripted) -> None:
    ran = on_server(*CALL, "--accept-defaults", "--decline-all")
    assert ran.code == 2
    assert "--accept-defaults and --decline-all exclude each other" in ran.err
    server.on("tasks/get", asking())
    assert on_server("call", "job", "month=x").code == 0
    for argv in (("call", "job", "--args", "-"), ("update", "1", "action=@-")):
        ran = on_server(*argv, "--answers", "-", stdin="{}")
        assert ran.code == 2
        assert "both want standard input" in ran.err
    assert server.got("tasks/update") == []


@pytest.mark.parametrize(
    "given",
    [("action=keep",), ("--decline",), ("--responses", '{"approve": {"action": "cancel"}}')],
)
@pytest.mark.parametrize(
    "other", [("--answers", "-"), ("--decline-all",), ("--accept-defaults",), ("--root", ".")]
)
def test_beside_an_answer_others_answer_only_what_is_asked_while_waiting(
    on_server: Cli, server: Scripted, given: tuple[str, ...], other: tuple[str, ...]
) -> None:
    answered = asks(server, approve=question())
    assert on_server("call", "job", "month=x").code == 0
    ran = on_server("update", "1", *given, *other)
    assert ran.code == 2
    assert f"the answer is given already: {other[0]} is for what is asked later" in ran.err
    assert answered == {}
    assert on_server("update", "1", *given, *other, "--wait").code == 0
    assert answered[ID].keys() == {"approve"}
