"""Multi round-trip requests (A8.4): the loop, with a peer that is a list of answers."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import AnswerNeeded, EndlessRounds, RpcError
from mcptask.protocol.generations.base import CallAnswer, Immediate, InputNeeded, Reply
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.rounds import MAX_ROUNDS, call_in_rounds
from mcptask.protocol.task import Task
from tests.protocol.fakes import QUESTION, FakeClock, run

YES = {"action": "accept", "content": {"room": "a"}}
RESULT = Immediate(result={"content": []})
TASK = Task(task_id="tsk_8f21", status="working", raw={})


def asks(*keys: str, state: str | None = None) -> InputNeeded:
    return InputNeeded(requests=dict.fromkeys(keys, QUESTION), request_state=state)


class Peer:
    """Answers the rounds in turn; `replies` are what each round carried, `asked` what a person saw."""

    def __init__(self, answers: Iterable[CallAnswer | Exception]) -> None:
        self.answers = iter(answers)
        self.replies: list[Reply | None] = []
        self.asked: list[tuple[str, ...]] = []
        self.clock = FakeClock()

    async def send(self, reply: Reply | None) -> CallAnswer:
        self.replies.append(reply)
        got = next(self.answers)
        if isinstance(got, Exception):
            raise got
        return got

    async def answer(self, asked: InputNeeded) -> Mapping[str, Mapping[str, Any]]:
        self.asked.append(tuple(asked.requests))
        return dict.fromkeys(asked.requests, YES)

    def call(self, most: int = MAX_ROUNDS) -> Task | Immediate:
        return run(call_in_rounds(self.send, self.answer, self.clock.clock, most=most))


def test_a_call_that_asks_nothing_is_one_round() -> None:
    peer = Peer([RESULT])
    assert peer.call() is RESULT
    assert peer.replies == [None]
    assert peer.asked == []


@pytest.mark.parametrize("end", [RESULT, TASK], ids=["complete", "task"])
def test_each_round_carries_its_own_answers_and_state_and_no_others_a8_4(
    end: Task | Immediate,
) -> None:
    peer = Peer([asks("who", state="one"), asks("where"), asks(state=" zwei\n"), asks("why"), end])
    assert peer.call() is end
    assert peer.asked == [("who",), ("where",), ("why",)]
    assert peer.replies == [
        None,
        Reply(responses={"who": YES}, request_state="one"),
        Reply(responses={"where": YES}, request_state=None),
        Reply(responses={}, request_state=" zwei\n"),
        Reply(responses={"why": YES}, request_state=None),
    ]


def test_rounds_with_a_state_alone_are_paced_and_a_question_starts_the_pace_anew_a8_4() -> None:
    bare = [asks(state=str(n)) for n in range(4)]
    peer = Peer([*bare, asks("who"), asks(state="x"), RESULT])
    peer.call()
    assert peer.clock.slept == [0.05, 0.1, 0.2, 0.25, 0.05]


def test_a_server_that_asks_for_ever_is_left_after_the_cap_a8_4() -> None:
    peer = Peer(asks("who", state=str(n)) for n in range(100))
    with pytest.raises(EndlessRounds, match="10 times"):
        peer.call()
    assert len(peer.replies) == MAX_ROUNDS + 1 == 11


def test_the_cap_counts_answers_so_the_last_allowed_one_may_still_succeed_a8_4() -> None:
    assert Peer([asks("a"), asks("b"), RESULT]).call(most=2) is RESULT
    with pytest.raises(EndlessRounds):
        Peer([asks("a"), asks("b"), asks("c"), RESULT]).call(most=2)


@pytest.mark.parametrize("error", [RpcError(-32603, "no"), AnswerNeeded("nobody")], ids=str)
def test_an_error_in_any_round_ends_it(error: Exception) -> None:
    peer = Peer([asks("who"), error])
    with pytest.raises(type(error)):
        peer.call()
    assert len(peer.replies) == 2


ROUNDS = st.lists(
    st.tuples(
        st.sets(st.sampled_from(["a", "b", "c"])),
        st.none() | st.text(),
    ).filter(lambda one: one[0] or one[1] is not None),
    max_size=MAX_ROUNDS,
)


@given(rounds=ROUNDS, end=st.sampled_from([RESULT, TASK]))
def test_whatever_the_mix_the_state_goes_back_as_it_came_a8_4_s5(
    rounds: list[tuple[set[str], str | None]], end: Task | Immediate
) -> None:
    peer = Peer([*(asks(*sorted(keys), state=state) for keys, state in rounds), end])
    assert peer.call() is end
    sent = [(set(reply.responses), reply.request_state) for reply in peer.replies if reply]
    assert sent == rounds
    generation = V20260728()
    for reply in peer.replies:
        params = next(generation.call_tool("book", {"n": 1}, None, reply)).params
        assert params["name"] == "book"
        assert params["arguments"] == {"n": 1}
        assert ("requestState" in params) == (reply is not None and reply.request_state is not None)
        assert ("inputResponses" in params) == (reply is not None and bool(reply.responses))
