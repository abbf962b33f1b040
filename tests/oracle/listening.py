"""Where the messages are caught: at the one place where a session sends, and in the trace of each process."""

import json
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from mcptask.protocol.exchange import Caller
from mcptask.protocol.transports.base import Message, Request
from tests.oracle import headers, messages, trace

# Where the trace of this test goes, for whoever starts a process in it.
_TRACED = "TRACE_OF_THIS_TEST"


@dataclass
class Heard:
    """What a test made mcptask send: how much, and what is wrong with it."""

    traced: Path  # what processes sent is in there, and judged at the end
    sent: int = 0  # in this process
    faults: list[str] = field(default_factory=list)


@contextmanager
def listening(traced: Path, patch: pytest.MonkeyPatch) -> Iterator[Heard]:
    """Judges all that is sent meanwhile, in this process (whatever the transport) and in the processes that
    are given `traced_environment`. Here nothing is traced: most users run it so."""
    everything = Heard(traced)
    used: WeakKeyDictionary[Caller, set[int | str]] = WeakKeyDictionary()
    exchange = Caller.exchange

    def heard(caller: Caller, request: Request) -> AsyncGenerator[Message, None]:
        ids = used.setdefault(caller, set())
        everything.sent += 1
        everything.faults.extend(_faults(request, ids))
        ids.add(request.id)
        return exchange(caller, request)

    patch.setattr(Caller, "exchange", heard)
    patch.setenv(_TRACED, str(traced))
    yield everything
    everything.faults.extend(trace.violations(trace.entries(traced)))


def traced_environment() -> dict[str, str]:
    """What a process of mcptask needs in its environment to be heard."""
    return {"MCPTASK_TRACE": os.environ[_TRACED]}


def _faults(request: Request, ids: set[int | str]) -> Iterator[str]:
    message = request.message()
    told = f"\n  in {json.dumps(message, default=repr)}"
    if request.id in ids:
        yield f"the id {request.id!r} is used again (A2.6){told}"
    if fault := messages.violation(message):
        yield fault + told
    elif message["method"] != "initialize":
        yield from (each + told for each in headers.wire_violations(request.headers, message))
    elif request.headers:
        yield f"the headers {sorted(request.headers)} are not for the older wire (A3.8){told}"
