"""Questions before there is a task: Multi Round-Trip Requests on tools/call."""

from collections.abc import Iterator

import pytest

from mcptask.demo.calls import valid_responses
from mcptask.demo.jobs import Ask, Call, Done, Opening, Tool, form, table, text_result
from mcptask.demo.jsonrpc import Json
from mcptask.demo.request_state import STATE_TTL_S
from tests.demo.wire import NOTHING, TASKS_ONLY, Bench

FIRST: Json = {"first": form("First?", {"value": {"type": "string"}}, ["value"])}


def _two_rounds(call: Call) -> Opening:
    """Asks, then wants one more round with a state alone, then answers."""
    if call.state and "value" in call.state:
        return Done(text_result(f"{call.state['value']} {call.arguments['tail']}"))
    answer = valid_responses(call, FIRST).get("first")
    if answer is None or call.state is None:
        return Ask(FIRST, {"round": 1})
    return Ask({}, {"value": answer["content"]["value"]})


def _ask_for(method: str, **params: object) -> Tool:
    asked = {"it": {"method": method, "params": params}}
    return Tool(method, "", "", {"type": "object"}, open=lambda call: Ask(asked))


def _ask_what_it_can(call: Call) -> Opening:
    """A tool that makes do with what the client of this very request can be asked."""
    return Ask(FIRST if "elicitation" in call.capabilities else {}, {"round": 1})


TOOLS = table(
    Tool("careful", "", "", {"type": "object"}, open=_ask_what_it_can),
    Tool("rounds", "", "", {"type": "object"}, open=_two_rounds),
    _ask_for("elicitation/create", mode="form"),
    _ask_for("elicitation/create", mode="url")._replace(name="url"),
    _ask_for("sampling/createMessage"),
    _ask_for("roots/list"),
)
CALL: Json = {"name": "rounds", "arguments": {"tail": "there"}}
ANSWER: Json = {"first": {"action": "accept", "content": {"value": "hello"}}}


@pytest.fixture
def rounds() -> Iterator[Bench]:
    bench = Bench(tools=TOOLS)
    yield bench
    bench.close()


def test_every_kind_of_round_until_it_is_complete(rounds: Bench) -> None:
    first = rounds.result("tools/call", **CALL)
    assert first["resultType"] == "input_required"
    assert first["inputRequests"] == FIRST
    second = rounds.result(
        "tools/call", **CALL, inputResponses=ANSWER, requestState=first["requestState"]
    )
    assert second["resultType"] == "input_required"
    assert "inputRequests" not in second
    third = rounds.result("tools/call", **CALL, requestState=second["requestState"])
    assert third["resultType"] == "complete"
    assert third["content"][0]["text"] == "hello there"


@pytest.mark.parametrize("responses", [{}, {"other": 1}, {"first": {"action": "accept"}}])
def test_what_is_missing_is_asked_again(rounds: Bench, responses: Json) -> None:
    first = rounds.result("tools/call", **CALL)
    again = rounds.result(
        "tools/call", **CALL, inputResponses=responses, requestState=first["requestState"]
    )
    assert again["inputRequests"] == FIRST


@pytest.mark.parametrize("place", [0, 40, 70, -1])
def test_a_state_that_was_touched_is_refused(rounds: Bench, place: int) -> None:
    state = rounds.result("tools/call", **CALL)["requestState"]
    touched = list(state)
    touched[place] = "0" if touched[place] != "0" else "1"
    error = rounds.error("tools/call", **CALL, requestState="".join(touched))
    assert error["code"] == -32602


def test_a_state_does_not_work_for_another_call_nor_for_ever(rounds: Bench) -> None:
    state = rounds.result("tools/call", **CALL)["requestState"]
    other = CALL | {"arguments": {"tail": "elsewhere"}}
    assert "another call" in rounds.error("tools/call", **other, requestState=state)["message"]
    rounds.clock.seconds += STATE_TTL_S + 1
    assert "expired" in rounds.error("tools/call", **CALL, requestState=state)["message"]


@pytest.mark.parametrize(
    ("name", "capabilities", "required"),
    [
        ("elicitation/create", NOTHING, {"elicitation": {"form": {}}}),
        ("elicitation/create", {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ("url", {"elicitation": {}}, {"elicitation": {"url": {}}}),
        ("sampling/createMessage", TASKS_ONLY, {"sampling": {}}),
        ("roots/list", {"roots": 1}, {"roots": {}}),
    ],
)
def test_nobody_is_asked_what_they_did_not_declare(
    rounds: Bench, name: str, capabilities: Json, required: Json
) -> None:
    error = rounds.error("tools/call", capabilities, name=name)
    assert error["code"] == -32021
    assert error["data"] == {"requiredCapabilities": required}
    assert rounds.result("tools/call", required, name=name)["resultType"] == "input_required"


def test_a_tool_can_ask_only_what_the_request_declares(rounds: Bench) -> None:
    assert "inputRequests" not in rounds.result("tools/call", TASKS_ONLY, name="careful")
    assert rounds.result("tools/call", name="careful")["inputRequests"] == FIRST
