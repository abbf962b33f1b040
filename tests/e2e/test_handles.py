"""When a call and its task are noted, and what of a task goes back to the server."""

import json
from collections.abc import Callable

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import ID, Got, Reply, Scripted, completed, created, now, question


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
