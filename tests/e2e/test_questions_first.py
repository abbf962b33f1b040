"""A tool that asks before it starts: multi round-trip requests on `tools/call`, as a user meets them."""

import inspect
import json
import threading
from pathlib import Path

import pytest

from mcptask.commands.call import call
from mcptask.protocol.rounds import MAX_ROUNDS
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    Json,
    Reply,
    Scripted,
    created,
    error,
    held,
    question,
    result,
    tool_result,
)

CALL = ("call", "job", "month=2026-09")
YES = {"action": "accept", "content": {"action": "keep"}}
# Everything that a careless client would change: outer space, an escape, other scripts, JSON in JSON.
STATE = ' {"a":"\\u00e9"} é \U0001f3bb\u2028\t=?base64?QQ==?= '


def asks(state: str | None = None, **questions: Json) -> Reply:
    fields: Json = {"inputRequests": questions} if questions else {}
    fields |= {} if state is None else {"requestState": state}
    return result(resultType="input_required", **fields)


def done(text: str = "done") -> Reply:
    return result(**tool_result(text))


@pytest.fixture
def answers(cwd: Path) -> str:
    (cwd / "answers.toml").write_text('approve = { action = "keep" }\n')
    return str(cwd / "answers.toml")


def test_the_answers_and_the_state_go_back_with_the_same_call_under_a_new_id_a8_4(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    server.on("tools/call", asks(STATE, approve=question()), done())
    ran = on_server(*CALL, "--answers", answers)
    assert (ran.code, ran.out) == (0, "done\n")
    assert f"mcptask: approve of job: answered from {answers}\n" in ran.err
    first, second = server.got("tools/call")
    assert second.id != first.id
    assert second.params.pop("inputResponses") == {"approve": YES}
    assert second.params.pop("requestState") == STATE
    assert second.params == first.params
    names = ("mcp-name", "mcp-method", "mcp-protocol-version")
    assert [second.headers[n] for n in names] == [first.headers[n] for n in names]


def test_a_state_that_the_server_dropped_is_not_sent_again_a8_4_s5(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    server.on(
        "tools/call", asks("one", approve=question()), asks(approve=question()), asks("x"), done()
    )
    assert on_server(*CALL, "--answers", answers).code == 0
    _, second, third, fourth = (got.params for got in server.got("tools/call"))
    assert second["requestState"] == "one"
    assert "requestState" not in third
    assert third["inputResponses"] == {"approve": YES}
    assert fourth["requestState"] == "x"
    assert "inputResponses" not in fourth


def test_rounds_may_end_in_a_task_which_is_stored_and_followed_a8_4(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    server.on("tools/call", asks("s", approve=question()), created())
    ran = on_server(*CALL, "--answers", answers, "--wait")
    assert (ran.code, ran.out) == (0, "moved 138, unresolved 4\n")
    listed = on_server("list", "--json").listed
    assert [record["taskId"] for record in listed["tasks"]] == [ID]
    assert listed["calls"] == []


def test_without_an_answer_the_call_stops_with_3_the_questions_and_the_way_to_answer_a12_11(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/call", asks("s", approve=question(), where=question("Where to?")))
    ran = on_server(*CALL)
    assert (ran.code, ran.out) == (3, "")
    assert "asks (approve): 4 bookings fit nowhere. What now?" in ran.err
    assert 'approve = { action = "waitlist|refund|keep" }' in ran.err
    assert "asks (where): Where to?" in ran.err
    assert "nothing was started" in ran.err
    assert "--answers" in ran.err
    body = on_server(*CALL, "--json").document
    assert body["error"]["kind"] == "input"
    assert set(body["error"]["data"]["inputRequests"]) == {"approve", "where"}
    assert body["task"] is None
    assert on_server("list", "--json").listed["calls"] == []


def test_all_questions_need_an_answer_before_any_is_sent_a8_4(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    both = {"approve": question(), "where": question("Where to?")}
    server.on("tools/call", asks("s", **both))
    ran = on_server(*CALL, "--answers", answers, "--json")
    assert ran.code == 3
    assert set(ran.document["error"]["data"]["inputRequests"]) == {"where"}
    assert len(server.got("tools/call")) == 1


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_refusal_is_an_answer_like_any_other_a8_5(
    on_server: Cli, server: Scripted, action: str
) -> None:
    server.on("tools/call", asks("s", approve=question()), done("stays open"))
    ran = on_server(*CALL, "--answers", "-", stdin=f'approve = "{action}"\n')
    assert (ran.code, ran.out) == (0, "stays open\n")
    assert server.got("tools/call")[1].params["inputResponses"] == {"approve": {"action": action}}


def test_an_answer_that_does_not_fit_is_refused_before_it_is_sent(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/call", asks("s", approve=question()))
    ran = on_server(*CALL, "--answers", "-", stdin='approve = { action = "burn" }\n')
    assert ran.code == 2
    assert "approve: action: expected one of waitlist, refund, keep" in ran.err
    assert len(server.got("tools/call")) == 1
    assert on_server("list", "--json").listed["calls"] == []


def test_an_answer_that_nothing_asked_for_is_told_at_the_end(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    server.on("tools/call", done())
    ran = on_server(*CALL, "--answers", answers)
    assert (ran.code, ran.out) == (0, "done\n")
    assert "nothing asked for approve" in ran.err


def test_a_server_that_never_stops_asking_is_left_after_the_cap_a8_4(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    server.on("tools/call", asks("s", approve=question()))
    ran = on_server(*CALL, "--answers", answers, "--max-rounds", "3")
    assert ran.code == 9
    assert "asked 3 times" in ran.err
    assert "--max-rounds 6" in ran.err
    assert len(server.got("tools/call")) == 4
    assert on_server("list", "--json").listed["calls"] == []


@pytest.mark.parametrize(
    ("reply", "code", "kept"),
    [
        (error(-32603, "no"), 4, 0),
        (result(resultType="input_required"), 9, 0),
        (result(resultType="input_required", inputRequests={}), 9, 0),
        (result(resultType="input_required", inputRequests=[question()]), 9, 0),
        (result(resultType="input_required", inputRequests={"a": question(), "b": 5}), 9, 0),
        (asks(5, approve=question()), 9, 0),  # type: ignore[arg-type]
        (result(resultType="banana"), 9, 1),
    ],
    ids=["error", "neither", "no question", "a list", "half readable", "odd state", "unknown kind"],
)
def test_what_a_later_round_comes_to_is_judged_like_the_first_a8_2_a8_4(
    on_server: Cli, server: Scripted, answers: str, reply: Reply, code: int, kept: int
) -> None:
    server.on("tools/call", asks("s", approve=question()), reply)
    ran = on_server(*CALL, "--answers", answers)
    assert ran.code == code
    assert "--max-rounds" not in ran.err  # more rounds would not help
    assert len(on_server("list", "--json").listed["calls"]) == kept


def test_the_events_tell_the_question_and_the_answer_before_there_is_a_task(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    server.on("tools/call", asks("s", approve=question()), created())
    events = on_server(*CALL, "--answers", answers, "--jsonl").events
    assert [(e["event"], e["taskId"]) for e in events[:2]] == [
        ("input_required", None),
        ("answered", None),
    ]
    assert events[0]["inputRequests"] == {"approve": question()}
    assert events[1]["keys"] == ["approve"]
    assert events[-1]["taskId"] == ID


def test_a_timeout_while_a_round_is_unanswered_leaves_the_note_of_it_a4_5(
    on_server: Cli, server: Scripted, answers: str
) -> None:
    gate = threading.Event()
    server.on("tools/call", asks("s", approve=question()), held(gate, done()))
    try:
        ran = on_server(*CALL, "--answers", answers, "--timeout", "1s")
    finally:
        gate.set()
    assert ran.code == 124
    assert "not known" in ran.err
    assert [call["tool"] for call in on_server("list", "--json").listed["calls"]] == ["job"]


def test_the_state_is_shown_nowhere(on_server: Cli, server: Scripted, answers: str) -> None:
    server.on(
        "tools/call", asks("seekrit-state", approve=question()), asks("seekrit", a=question())
    )
    for form in ((), ("--json",), ("--jsonl",), ("-v",)):
        ran = on_server(*CALL, "--answers", answers, *form)
        assert ran.code == 3
        assert "seekrit" not in ran.out + ran.err
    assert "seekrit" not in json.dumps(on_server("list", "--json").listed)


def test_the_help_names_the_cap_that_the_protocol_has_a8_4() -> None:
    assert inspect.signature(call).parameters["max_rounds"].default == MAX_ROUNDS


@pytest.mark.parametrize("mode", ["hologram", ["url"], 5])
def test_an_elicitation_of_an_unknown_mode_is_not_taken_for_a_form_a12_14(
    on_server: Cli, server: Scripted, mode: object
) -> None:
    odd = question()
    odd["params"]["mode"] = mode
    server.on("tools/call", asks("s", approve=odd), done())
    everything = 'action = "keep"\n[[match]]\nmessage = "."\nanswer = { action = "keep" }\n'
    assert on_server(*CALL, "--answers", "-", stdin=everything).code == 3
    assert len(server.got("tools/call")) == 1


def test_an_entry_that_is_no_answer_is_told_as_one_and_not_as_unasked(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tools/call", asks("s", approve=question()))
    ran = on_server(*CALL, "--answers", "-", stdin='approve = "acept"\n')
    assert ran.code == 2
    assert "approve is asked, and this is no answer to it" in ran.err
    assert "nothing asked for" not in ran.err


def test_standard_input_is_read_for_one_thing(on_server: Cli, server: Scripted) -> None:
    ran = on_server("call", "job", "--args", "-", "--answers", "-", stdin="{}")
    assert ran.code == 2
    assert "both want standard input" in ran.err
    assert server.requests == []


def test_a_file_without_an_end_is_not_read_to_the_end(on_server: Cli) -> None:
    ran = on_server(*CALL, "--answers", "/dev/zero")
    assert ran.code == 2
    assert "over 10 MiB" in ran.err
