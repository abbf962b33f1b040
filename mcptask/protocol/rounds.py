"""`tools/call` with questions before there is a task: multi round-trip requests (A8.4).

Each round is a whole call of its own: the same arguments, the answers of this round only, and the server's
`requestState` byte for byte. Nothing lives at the server between two rounds, so leaving costs nothing.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from mcptask.env import Clock
from mcptask.errors import EndlessRounds
from mcptask.protocol.generations.base import CallAnswer, Immediate, InputNeeded, Reply
from mcptask.protocol.task import Task

MAX_ROUNDS = 10  # that are answered: a server must not ask for ever
FIRST_PAUSE = 0.05  # s before a round without a question; doubled from each to the next …
LONGEST_PAUSE = 0.25  # … up to this

Responses = Mapping[str, Mapping[str, Any]]


async def call_in_rounds(
    send: Callable[[Reply | None], Awaitable[CallAnswer]],
    answer: Callable[[InputNeeded], Awaitable[Responses]],
    clock: Clock,
    *,
    most: int = MAX_ROUNDS,
) -> Task | Immediate:
    """Send, answer, send again, until there is a result or a task.

    `send` makes one `tools/call`; `answer` gives a response to every question, or raises. Raises
    `EndlessRounds` where the server wants another round after `most` of them.
    """
    reply: Reply | None = None
    pause = FIRST_PAUSE
    for _ in range(most + 1):
        got = await send(reply)
        if not isinstance(got, InputNeeded):
            return got
        if got.requests:
            responses, pause = await answer(got), FIRST_PAUSE
        else:
            responses = {}
            await clock.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        reply = Reply(responses=responses, request_state=got.request_state)
    raise EndlessRounds(f"the tool asked {most} times before it started, and asks again")
