"""When a call and its task are noted, and what of a task goes back to the server."""

import json
from collections.abc import Callable

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    Got,
    Reply,
    Scripted,
    completed,
    created,
    dies,
    error,
    now,
    question,
    result,
)


@pytest.fixture
def seen(on_server: Cli, server: Scripted) -> Callable[[str, Reply], list[str]]:
    """What the state file held each time that a request of this method came in."""

    def watch(method: str, reply: Reply) -> list[str]:
        found: list[str] = []

        def look(handler: object, got: Got) -> None:
            found.append(on_server.state.read_text() if on_server.state.exists() else "")
            reply(handler, got)  # type: ignore[arg-type]

        server.on(method, look)
        return found

    return watch


def test_a_call_is_noted_before_it_is_sent_a8_7(
    on_server: Cli, seen: Callable[[str, Reply], list[str]]
) -> None:
    at_the_call = seen("tools/call", created())
    on_server("call", "job", "month=x")
    (held,) = at_the_call
    assert "[[calls]]" in held
    assert 'tool = "job"' in held


def test_a_task_is_stored_before_anything_is_done_with_it_a8_7(
    on_server: Cli, seen: Callable[[str, Reply], list[str]]
) -> None:
    at_the_first_poll = seen("tasks/get", completed())
    assert on_server("call", "job", "month=x", "--wait").code == 0
    (held,) = at_the_first_poll
    assert ID in held


def test_a_request_state_of_a_task_goes_back_nowhere_a9_10_s5(
    on_server: Cli, server: Scripted
) -> None:
    state = {"requestState": "s3cret"}
    server.on("tools/call", created(**state))
    asked = {"inputRequests": {"approve": question()}}
    server.on("tasks/get", now("working", **state), now("input_required", **asked, **state))
    assert on_server("call", "job", "month=x", "--wait").code == 3
    assert on_server("update", "1", "action=keep").code == 0
    assert on_server("cancel", "1").code == 0
    sent = {got.method for got in server.requests}
    assert {"tasks/get", "tasks/update", "tasks/cancel"} <= sent
    everything = json.dumps([got.params for got in server.requests])
    assert "s3cret" not in everything
    assert "requestState" not in everything


def test_a_second_round_and_a_call_made_anew_are_noted_before_they_are_sent_too_a8_4_a4_3(
    on_server: Cli, server: Scripted, seen: Callable[[str, Reply], list[str]]
) -> None:
    asks = result(
        resultType="input_required",
        inputRequests={"approve": question()},
        requestState="s",
    )
    replies = iter([asks, error(-32020, "header", 400), created()])

    def in_turn(handler: object, got: Got) -> None:
        next(replies)(handler, got)  # type: ignore[arg-type]

    at_each = seen("tools/call", in_turn)
    (on_server.cwd / "answers.toml").write_text('approve = { action = "keep" }\n')
    assert on_server("call", "job", "month=x", "--answers", "answers.toml").code == 0
    assert [held.count("[[calls]]") for held in at_each] == [1, 1, 1]
    listed = on_server("list", "--json").listed
    assert ([task["taskId"] for task in listed["tasks"]], listed["calls"]) == ([ID], [])


@pytest.mark.parametrize("format", ["--jsonl", "--json", "--quiet", "--verbose"])
def test_the_handle_is_on_the_disk_before_a_word_of_the_task_is_told_a8_7(
    on_server: Cli, server: Scripted, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    from tests.e2e import running

    early: list[str] = []

    class Watched(running._Stream):
        def write(self, text: str) -> int:
            if ID in text and ID not in on_server.state.read_text():
                early.append(text)
            return super().write(text)

    monkeypatch.setattr(running, "_Stream", Watched)
    assert on_server("call", "job", "month=x", "--wait", format).code == 0
    assert ID in on_server("call", "job", "month=x", format).out
    assert early == []


def test_the_list_tells_of_a_call_without_an_answer_what_to_check_and_what_drops_it_a4_5(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/call", dies)
    on_server("call", "job", "month=x")
    ran = on_server("list")
    row = ran.out.splitlines()[1]
    assert [word for word in ("1", "job", server.name, "no answer") if word not in row] == []
    assert ran.err.startswith(
        "Call 1: sent, and no answer came; the work may have been done or not."
    )
    assert "See on the server before calling again.  mcptask forget 1 drops the note." in ran.err
    (call,) = on_server("list", "--json").listed["calls"]
    assert call["tool"] == "job"
    assert call["server"]["endpoint"] == server.url
    assert call["sentAt"].endswith("Z")
    assert call["hint"] == ran.err.strip()
    on_server("call", "job", "month=x")
    assert "Calls 2, 1: " in (err := on_server("list").err)
    assert "mcptask forget 2 1 drops the notes." in err
    on_server("forget", "2", "1")
    assert on_server("list", "--json").listed["calls"] == []
