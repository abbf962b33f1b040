"""A whole session, from the probe on, with a server that may answer anything to anything."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcptask.errors import (
    Garbled,
    HttpRefused,
    ProtocolError,
    RpcError,
    TaskLost,
    Unauthorized,
    Unreachable,
    WireError,
)
from mcptask.protocol.generations.base import Discovered, Immediate, InputNeeded, ToolList
from mcptask.protocol.generations.tool_pages import MAX_TOOLS, pages_of
from mcptask.protocol.session import Session
from mcptask.protocol.task import Task
from tests.fuzz.hostile import OBJECTS, PLAUSIBLE, SCHEMA, TEXTS, VALUES, outcome, spoiled, tries
from tests.fuzz.test_messages import MESSAGES
from tests.protocol.fakes import ID, Peer, Whole, refused, run, session_with

Ask = Callable[[Session], Coroutine[Any, Any, Any]]

RESPONSES = {"room": {"action": "decline"}}

# What is asked, the kinds of value that may come, and the most requests that it may take: three for each
# page of a list that is begun anew once, and whatever it takes to find out who is there.
PROBES = 20
OPERATIONS: dict[str, tuple[Ask, tuple[type, ...], int]] = {
    "discover": (lambda s: s.discover(), (Discovered,), PROBES),
    "list_tools": (lambda s: s.list_tools(), (ToolList,), PROBES + 6 * pages_of(MAX_TOOLS)),
    "call": (lambda s: s.call("t", {"month": "9"}, SCHEMA), (Task, Immediate, InputNeeded), PROBES),
    "get": (lambda s: s.get(ID), (Task,), PROBES),
    "update": (lambda s: s.update(ID, RESPONSES), (type(None),), PROBES),
    "cancel": (lambda s: s.cancel(ID), (type(None),), PROBES),
}
ERRORS = (RpcError, TaskLost, Unreachable, Unauthorized, ProtocolError)

CODES = st.sampled_from([-32601, -32602, -32603, -32020, -32021, -32022, -32000, 0, 10**400])
LISTS = st.lists(st.sampled_from(["2026-07-28", "2025-11-25", "x"]) | VALUES, max_size=3)
DATA = st.fixed_dictionaries({"supported": LISTS | VALUES}) | VALUES
FAULTS: st.SearchStrategy[WireError] = (
    st.sampled_from([400, 404, 405, 410]).map(lambda status: HttpRefused("no", status=status))
    | st.builds(Unreachable, st.just("gone"), sent=st.booleans(), retry_after=st.floats(0, 1e6))
    | st.sampled_from([Garbled("<html>"), Unauthorized("who?"), ProtocolError("odd")])
)
ANSWERS = st.one_of(
    spoiled(PLAUSIBLE),
    OBJECTS,
    st.builds(refused, CODES | st.integers(), TEXTS, DATA),
    spoiled(MESSAGES).map(Whole),
    FAULTS,
)


@pytest.mark.parametrize("name", OPERATIONS)
@tries(40)
@given(st.lists(ANSWERS, min_size=1, max_size=5), st.booleans(), st.booleans())
def test_any_answers_end_in_a_value_or_a_wire_error_after_few_requests_s8_s9(
    name: str, answers: list[Any], greet: bool, forced: bool
) -> None:
    ask, kinds, most = OPERATIONS[name]
    peer = Peer(answers)
    session = session_with(peer, greet=greet, forced=forced)
    found = outcome(WireError, lambda: run(ask(session)))
    assert isinstance(found, (*kinds, *ERRORS))
    assert len(peer.methods) <= most
    assert peer.methods.count("tools/call") <= 2, (
        "once, and again only where its version was refused"
    )
    assert not {"tools/call", "tasks/get", "tasks/update", "tasks/cancel"} & set(
        peer.methods
    ) or name not in ("discover", "list_tools")
