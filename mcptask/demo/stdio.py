"""The stdio front: one JSON object a line, in and out (Transports, "stdio").

Reads on the main thread; one thread of its own writes, so that a client that reads slowly never
holds up the scheduler. Says nothing on stderr.
"""

import os
import select
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from typing import BinaryIO

from mcptask.demo.engine import Cancel, Engine, handle
from mcptask.demo.jsonrpc import Json, RpcError, decode, encode, error_response

# The longest line that is read whole; a longer one comes in pieces, and none of them is JSON.
MAX_LINE = 16 * 1024 * 1024
CHUNK = 64 * 1024
# How long answers may take to drain when the input has ended.
DRAIN_S = 1.0

Outgoing = SimpleQueue[bytes | None]


def _write_all(outgoing: Outgoing, stdout: BinaryIO) -> None:
    """Until None. A client that is gone is not an error: the end of stdin follows."""
    try:
        while (line := outgoing.get()) is not None:
            stdout.write(line)
            if outgoing.empty():
                stdout.flush()
        stdout.flush()
    except OSError:
        _forget(stdout)
        while outgoing.get() is not None:
            pass


def _forget(stdout: BinaryIO) -> None:
    """What is left in the buffer has no reader, and must not be a complaint at exit."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stdout.fileno())
        os.close(nowhere)


class _Connection:
    """The open requests of the one client, by id, so that it can cancel them."""

    def __init__(self, engine: Engine, outgoing: Outgoing) -> None:
        self._engine, self._outgoing = engine, outgoing
        self._open: dict[tuple[type, object], Cancel] = {}

    def send(self, message: Json) -> None:
        if "method" not in message:
            self._open.pop(_key(message.get("id")), None)
        self._outgoing.put(encode(message) + b"\n")

    def receive(self, line: bytes) -> None:
        if not line.strip():
            return None
        try:
            message = decode(line)
        except RpcError as error:
            return self.send(error_response(None, error))
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            return self._cancel(message)
        cancel = handle(self._engine, message, self.send)
        if cancel is not None:
            self._open[_key(message["id"])] = cancel
        return None

    def _cancel(self, message: Json) -> None:
        """Cancels a request that is still open: a listen, or a call that waits. Any other id is
        an answer that crossed the notification."""
        params = message.get("params")
        request_id = params.get("requestId") if isinstance(params, dict) else None
        cancel = self._open.pop(_key(request_id), None)
        if cancel is not None:
            cancel()


def _key(request_id: object) -> tuple[type, object]:
    """7 and "7" are two ids, and neither is True."""
    return type(request_id), request_id if isinstance(request_id, str | int) else None


def _ignore(_signal: int, _frame: object) -> None:
    """The wake-up is what counts: see `_chunks`."""


def _wake_up_end() -> int:
    """The end to read of a pipe that SIGTERM and SIGINT write to.

    A handler that raises would do for a process that computes; one that is about to block in a
    read may get its signal just before, and then sleeps on until the next line.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, _ignore)
    return reader


def _chunks(stdin: int) -> Iterator[bytes]:
    """What comes in, until the end of the input or a signal."""
    if os.name == "nt":  # where select knows sockets only
        yield from iter(lambda: os.read(stdin, CHUNK), b"")
        return
    wake_up = _wake_up_end()
    while True:
        ready, _, _ = select.select([stdin, wake_up], [], [])
        chunk = b"" if wake_up in ready else os.read(stdin, CHUNK)
        if not chunk:
            return
        yield chunk


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, and at the end what is left without a newline."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
        if len(rest) > MAX_LINE:
            yield rest
            rest = b""
    yield rest


def serve(engine: Engine) -> None:
    """Serves until stdin ends, SIGTERM or SIGINT. The caller closes the engine."""
    outgoing = Outgoing()
    writer = threading.Thread(target=_write_all, args=(outgoing, sys.stdout.buffer), daemon=True)
    writer.start()
    connection = _Connection(engine, outgoing)
    engine.scheduler.start()
    try:
        for line in _lines(_chunks(sys.stdin.fileno())):
            connection.receive(line)
    finally:
        engine.watchers.close()
        outgoing.put(None)
        writer.join(DRAIN_S)
