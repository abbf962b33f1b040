"""An answer that went out several times: the last attempt is not the whole story (A12.8)."""

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import Reply, Scripted, asking, dies, error, http, result

# What the attempts after one that broke off come to, none of which says that the first one was not taken.
LATER: dict[str, Reply] = {
    "turned away": http(429),
    "a login that is over": http(401),
    "refused": error(-32602, "no such question"),
}


@pytest.fixture
def asked(on_server: Cli, server: Scripted) -> Cli:
    """Task 1 asks one thing, and goes on asking it."""
    on_server("call", "job", "month=x")
    server.on("tasks/get", asking())
    return on_server


@pytest.mark.parametrize("name", LATER)
def test_an_answer_whose_first_sending_broke_off_is_changed_no_more_whatever_the_later_ones_came_to_a12_8(
    asked: Cli, server: Scripted, name: str
) -> None:
    server.on("tasks/update", dies, LATER[name])
    ran = asked("update", "1", "action=keep")
    assert ran.code != 0
    assert "whether it took the answer is not known" in ran.err or "401" in ran.err
    server.on("tasks/update", result())
    other = asked("update", "1", "action=refund")
    assert other.code == 2
    assert "no question is answered twice" in other.err
    assert asked("update", "1", "action=keep").code == 0
    sent = [got.params["inputResponses"]["approve"] for got in server.got("tasks/update")]
    assert {each["content"]["action"] for each in sent} == {"keep"}


def test_an_answer_that_was_surely_never_taken_can_be_another_one_a12_8(
    asked: Cli, server: Scripted
) -> None:
    server.on("tasks/update", http(429))
    assert asked("update", "1", "action=keep").code == 7
    server.on("tasks/update", result())
    assert asked("update", "1", "action=refund").code == 0
