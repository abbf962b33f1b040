"""What a session would send, without sending it: the basis of `--dry-run`."""

import asyncio

import pytest

from mcptask.env import Clock
from mcptask.protocol.generations.v2026_07_28 import V20260728
from mcptask.protocol.session import Session
from mcptask.protocol.transports.memory import MemoryTransport
from mcptask.protocol.verdict import Spoken

OLDER = Spoken(version="2025-11-25", why="it answered initialize", older=True)
MODERN = Spoken(version="2026-07-28", why="it answered tools/list")


def session(transport, **options):
    return Session(transport, V20260728(), clock=Clock(), **options)


def previewed(**options):
    transport = MemoryTransport([])
    talk = session(transport, **options)
    found = talk.preview(talk.generation.get_task("t-1"), talk.generation.cancel_task("t-1"))
    assert transport.requests == []
    return [(entry["message"]["id"], entry["message"]["method"]) for entry in found]


def test_each_conversation_gives_its_first_request_with_an_id_of_its_own_a2_6():
    assert previewed() == [(1, "tasks/get"), (2, "tasks/cancel")]


@pytest.mark.parametrize("options", [{"greet": True}, {"memory": OLDER}])
def test_the_probe_is_there_where_it_goes_first_a1_2_a1_5(options):
    assert previewed(**options)[0] == (1, "server/discover")


@pytest.mark.parametrize("options", [{"greet": True, "forced": True}, {"memory": MODERN}])
def test_the_probe_is_not_there_where_it_is_not_sent_a1_5(options):
    assert previewed(**options)[0] == (1, "tasks/get")


def test_what_was_previewed_is_what_is_sent_next_a2_6():
    transport = MemoryTransport([{"result": {"resultType": "complete"}}])
    other = session(MemoryTransport([]))
    (told,) = other.preview(other.generation.cancel_task("t-1"))
    asyncio.run(session(transport).cancel("t-1"))
    assert told["message"] == transport.requests[0].message()
