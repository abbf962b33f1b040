"""`update` and `cancel`: what reaches the server, and what is claimed of it."""

from pathlib import Path

import pytest

from mcptask.env import Clock
from tests.e2e.running import Cli, wait_until
from tests.e2e.scripted import Json, Scripted, asking, completed, error, http, now, question

TWO = {"approve": question(), "name": question("Who?", who={"type": "string"})}


@pytest.fixture
def asked(on_server: Cli, server: Scripted) -> Cli:
    """Task 1 asks one thing."""
    on_server("call", "job", "month=x")
    server.on("tasks/get", asking())
    return on_server


# ── update ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (["action=keep"], {"approve": {"action": "accept", "content": {"action": "keep"}}}),
        (
            ["--accept", "action=keep"],
            {"approve": {"action": "accept", "content": {"action": "keep"}}},
        ),
        (["--decline"], {"approve": {"action": "decline"}}),
        (["--cancel"], {"approve": {"action": "cancel"}}),
        (["--key", "approve", "--decline"], {"approve": {"action": "decline"}}),
        (["--responses", '{"approve":{"action":"decline"}}'], {"approve": {"action": "decline"}}),
        (["--responses", "@answers.json"], {"approve": {"action": "cancel"}}),
        (["--responses", "-"], {"approve": {"action": "cancel", "x": 1}}),
    ],
    ids=str,
)
def test_an_answer_is_sent_with_tasks_update_as_it_was_meant_a12_1(
    asked: Cli,
    server: Scripted,
    cwd: Path,
    words: list[str],
    sent: Json,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(cwd)
    (cwd / "answers.json").write_text('{"approve":{"action":"cancel"}}')
    ran = asked("update", "1", *words, stdin='{"approve":{"action":"cancel","x":1}}')
    assert (ran.code, ran.out) == (0, "")
    assert "has not applied it yet" in ran.err
    assert "mcptask watch 1" in ran.err
    (request,) = server.got("tasks/update")
    assert request.params["inputResponses"] == sent


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["action=burn"], "waitlist"),
        (["acton=keep"], "action"),
        (["--key", "aprove", "--decline"], "approve"),
        (["--decline", "action=keep"], "--decline"),
        (["--decline", "--cancel"], "exclude"),
        (["--responses", "{}"], "--responses"),
        (["--responses", "{nonsense"], "JSON"),
        (["--responses", '{"other":{}}'], "approve"),
    ],
    ids=str,
)
def test_an_answer_that_does_not_fit_is_refused_and_not_sent_a12_8(
    asked: Cli, server: Scripted, words: list[str], told: str
) -> None:
    ran = asked("update", "1", *words)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert server.got("tasks/update") == []


@pytest.mark.parametrize(
    "asks",
    [
        question(),
        question(note={"type": "string", "default": "x"}),
        {"method": "elicitation/create", "params": {"mode": "url", "url": "https://a.example/"}},
    ],
    ids=["required", "defaults", "url"],
)
def test_where_nobody_can_be_asked_saying_nothing_agrees_to_nothing_a12_11_a12_13(
    asked: Cli, server: Scripted, asks: Json
) -> None:
    server.on("tasks/get", asking(approve=asks))
    ran = asked("update", "1")
    assert ran.code == 3
    assert "nobody here answers" in ran.err
    assert "mcptask update 1" in ran.err
    body = asked("update", "1", "--json").document
    assert body["error"]["data"]["inputRequests"] == {"approve": asks}
    assert server.got("tasks/update") == []


def test_the_name_of_a_question_drives_no_terminal_s17(asked: Cli, server: Scripted) -> None:
    key = "k\x1b[31m\n\u202e"
    server.on("tasks/get", asking(**{key: question()}))
    for words in ([], ["--decline"]):
        err = asked("update", "1", *words).err
        assert "k\\x1b[31m" in err
        assert "\u202e" not in err


def test_of_several_questions_one_must_be_named(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", asking(**TWO))
    ran = on_server("update", "1", "action=keep")
    assert ran.code == 2
    assert "--key approve" in ran.err
    ran = on_server("update", "1", "--key", "name", "who=Ada")
    assert ran.code == 0
    assert "Still open: approve" in ran.err
    assert on_server("list", "--json").listed["tasks"][0]["answered"] == ["name"]
    assert on_server("update", "1", "action=keep").code == 0, "only one is left"


def test_the_same_answer_is_never_sent_twice_s6(asked: Cli, server: Scripted) -> None:
    """A12.2: the server may list the question for a while."""
    asked("update", "1", "action=keep")
    ran = asked("update", "1", "action=refund")
    assert ran.code == 2
    assert "has its answers already" in ran.err
    assert len(server.got("tasks/update")) == 1


def test_update_wait_follows_to_the_end(asked: Cli, server: Scripted) -> None:
    server.on("tasks/get", asking(), asking(), now("working"), completed())
    ran = asked("update", "1", "action=keep", "--wait")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")


def test_a_task_that_asks_nothing_cannot_be_answered(asked: Cli, server: Scripted) -> None:
    server.on("tasks/get", now("working"))
    ran = asked("update", "1", "action=keep")
    assert ran.code == 2
    assert "asks nothing: it is working" in ran.err


@pytest.mark.parametrize(("reply", "code"), [(error(-32602, "gone"), 6), (http(401), 8)])
def test_an_update_that_fails_is_not_remembered_as_an_answer_a12_8(
    asked: Cli, server: Scripted, reply: object, code: int
) -> None:
    if code == 6:
        server.on("tasks/get", asking(), reply)  # type: ignore[arg-type]
    server.on("tasks/update", reply)  # type: ignore[arg-type]
    assert asked("update", "1", "action=keep", "--json").document["exitCode"] == code
    assert asked("list", "--json").listed["tasks"][0]["answered"] == []


def test_the_demo_takes_an_answer(cli: Cli, demo: str) -> None:
    words = ["month=2026-09", "seconds=0.2", "ask=true", "-s", demo]
    ran = cli("call", "reflow_month", *words, "--wait", clock=Clock())
    assert ran.code == 3
    ran = cli("update", "1", "action=waitlist", "note=call them", "--wait", "--json", clock=Clock())
    final = ran.document["result"]["structuredContent"]
    assert (final["action"], final["note"]) == ("waitlist", "call them")


# ── cancel ───────────────────────────────────────────────────────────────────────────────────────


def test_cancel_says_that_it_is_a_request_a13_3(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("working"))
    ran = on_server("cancel", "1")
    assert (ran.code, ran.out) == (0, "")
    assert "It is a request: the task is working" in ran.err
    assert "mcptask watch 1" in ran.err
    assert on_server("cancel", "1", "--json").document["outcome"] == "working"


def test_cancelling_what_is_over_says_so_and_is_no_failure_each_time_a13_2(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("cancelled"))
    for _ in range(2):
        ran = on_server("cancel", "1")
        assert (ran.code, "Task 1 is over: cancelled" in ran.err) == (0, True)
    assert len(server.got("tasks/cancel")) == 1
    assert on_server("cancel", "1", "--wait").code == 5


@pytest.mark.parametrize(("end", "code"), [(now("cancelled"), 5), (completed(), 0)])
def test_cancel_wait_reports_the_state_that_really_came(
    on_server: Cli, server: Scripted, end: object, code: int
) -> None:
    """A13.2: an acknowledged cancellation may end otherwise."""
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("working"), now("working"), end)  # type: ignore[arg-type]
    assert on_server("cancel", "1", "--wait").code == code


def test_cancelling_what_is_over_tells_what_came_of_it(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x", "--wait")
    ran = on_server("cancel", "1")
    assert ran.code == 0
    assert "Task 1 is over: completed" in ran.err
    assert server.got("tasks/cancel") == []


def test_cancel_without_waiting_exits_with_0_and_the_state_that_came(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("cancelled"))
    body = on_server("cancel", "1", "--json").document
    assert (body["exitCode"], body["outcome"]) == (0, "cancelled")


@pytest.mark.parametrize("how", [(), ("--on-interrupt", "cancel")])
def test_cancel_of_an_unknown_task_is_lost(
    on_server: Cli, server: Scripted, how: tuple[str, ...]
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/cancel", error(-32602, "unknown"))
    server.on("tasks/get", error(-32602, "unknown"))
    assert on_server("cancel", "1", "--json", *how).document["outcome"] == "lost"


def test_the_demo_cancels_a_reflow_and_stubborn_goes_on(cli: Cli, demo: str) -> None:
    cli("call", "reflow_month", "month=2026-09", "seconds=60", "-s", demo, clock=Clock())
    cli("call", "stubborn", "seconds=4", "-s", demo, clock=Clock())
    assert cli("cancel", "1", "--wait", clock=Clock()).code == 5
    ran = cli("cancel", "2", "--wait", "--json", clock=Clock())
    assert ran.document["result"]["structuredContent"] == {"cancelAsked": True}
    wait_until(lambda: cli("get", "1", "--exit-status", clock=Clock()).code == 5, "it is stored")


def test_a_status_that_nobody_knows_drives_no_terminal_s17(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("wei\x1b[31mrd\u202e"))
    ran = on_server("cancel", "1")
    assert ran.code == 0
    assert "the task is wei\\x1b[31mrd" in ran.err
    assert "\u202e" not in ran.err
