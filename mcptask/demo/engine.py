"""The server without a transport: one message in, answers out through a `send` function.

A front reads messages, hands each to `handle`, writes what `send` is given, and cancels what
`handle` returns when its client goes away. The engine is generic over a table of tools.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mcptask import __version__
from mcptask.demo.envelope import Request, open_envelope
from mcptask.demo.jobs import Tools
from mcptask.demo.jsonrpc import (
    INTERNAL_ERROR,
    META_SERVER,
    METHOD_NOT_FOUND,
    VERSIONS,
    Json,
    RpcError,
    check_shape,
    error_response,
    is_response,
    readable_id,
    result_response,
)
from mcptask.demo.scheduler import Scheduler
from mcptask.demo.store import Store
from mcptask.demo.watchers import Watchers

Send = Callable[[Json], None]
Cancel = Callable[[], None]

SERVER_INFO = {"name": "mcptask-demo", "title": "mcptask demo", "version": __version__}
PAGE_SIZE = 50


class Engine(NamedTuple):
    store: Store
    tools: Tools
    watchers: Watchers
    scheduler: Scheduler
    page_size: int = PAGE_SIZE


class Pending(NamedTuple):
    """The response comes later, or never: `cancel` ends the work on it and silences it."""

    cancel: Cancel


Method = Callable[[Engine, Request, Send], Json | Pending]


def build(
    path: Path | None,
    tools: Tools,
    now: Callable[[], float] = time.time,
    page_size: int = PAGE_SIZE,
) -> Engine:
    """An engine whose scheduler does not run yet: `engine.scheduler.start()`, or `turn()` it.
    Raises OSError or sqlite3.Error where the store cannot be opened."""
    store = Store(path, now)
    watchers = Watchers(store)
    return Engine(store, tools, watchers, Scheduler(store, tools, watchers), page_size)


def close(engine: Engine) -> None:
    """Ends the subscriptions gracefully, leaves the jobs to other processes, closes the store."""
    engine.watchers.close()
    engine.scheduler.stop()
    engine.store.close()


def complete(result: Json) -> Json:
    """A result as it goes out: tagged, and with the server's name (Basic, "_meta")."""
    meta = {META_SERVER: SERVER_INFO} | result.get("_meta", {})
    return {"resultType": "complete"} | result | {"_meta": meta}


def handle(engine: Engine, message: object, send: Send) -> Cancel | None:
    """Answers one message. Returns how to cancel the request if it is still open.

    `send` may be called from any thread, also after this returned, and must not block.
    """
    if is_response(message):  # a client has nothing to respond to: no answer, no harm
        return None
    try:
        checked = check_shape(message)
        if "id" not in checked:
            return None
        result = _dispatch(engine, checked, send)
    except RpcError as error:
        send(error_response(readable_id(message), error))
        return None
    except Exception as error:  # noqa: BLE001  (a bug of ours ends one request)
        wrong = RpcError(INTERNAL_ERROR, f"Internal error: {type(error).__name__}")
        send(error_response(readable_id(message), wrong))
        return None
    if isinstance(result, Pending):
        return result.cancel
    send(result_response(checked["id"], complete(result)))
    return None


def _dispatch(engine: Engine, message: Json, send: Send) -> Json | Pending:
    from mcptask.demo.methods import METHODS

    name = message["method"]
    if name not in METHODS:
        # The versions are for `initialize`: a legacy client can learn only from this error what
        # it has met (Versioning, "Backward Compatibility").
        spoken = ", ".join(VERSIONS)
        text = f"Method not found: {name} (this server speaks {spoken} only)"
        raise RpcError(METHOD_NOT_FOUND, text, {"supported": list(VERSIONS)})
    return METHODS[name](engine, open_envelope(message), send)
