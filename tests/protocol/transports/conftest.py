"""Peers for the transports: a raw HTTP server in the test's own loop, and a child that follows a script.

Fixtures hand out classes and functions, because test modules cannot import each other here.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from types import SimpleNamespace

import pytest

from mcptask.protocol.transports.base import Request
from mcptask.protocol.transports.http import HttpTransport

NOW = datetime(2026, 9, 1, 12, 0, 0, tzinfo=UTC)  # the wall clock of `ask`


@dataclass
class Seen:
    """A request as the HTTP peer read it; header names are lower case."""

    verb: str
    path: str
    headers: dict[str, str]
    message: dict
    connection: int


@dataclass
class HttpPeer:
    """Answers each request with the next answer, the last one again and again.

    An answer is bytes, sent as they are, or an async callable (seen, reader, writer) that returns True
    to keep the connection.
    """

    answers: list
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0
    gone: int = 0  # connections that the client left
    url: str = ""

    async def serve(self, reader, writer):
        self.connections += 1
        number = self.connections
        try:
            while await self._one(reader, writer, number):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            self.gone += 1
        finally:
            writer.close()

    async def _one(self, reader, writer, number):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        verb, path, _ = first.split(" ")
        seen = Seen(verb, path, headers, json.loads(body or b"null"), number)
        self.seen.append(seen)
        answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
        if callable(answer):
            keep = await answer(seen, reader, writer)
        else:
            writer.write(answer)
            keep = True
        await writer.drain()
        return keep


@asynccontextmanager
async def http_peer(*answers):
    peer = HttpPeer(list(answers))
    tasks = set()

    def accept(reader, writer):
        task = asyncio.ensure_future(peer.serve(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    peer.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    try:
        yield peer
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def response(status=200, body=b"", kind="application/json", **headers):
    """A whole HTTP response; a dict or list becomes JSON, `retry_after` the header `retry-after`."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    reason = HTTPStatus(status).phrase if status in list(HTTPStatus) else "Odd"
    lines = [f"HTTP/1.1 {status} {reason}"]
    if kind is not None:
        lines.append(f"content-type: {kind}")
    if status != 204:
        lines.append(f"content-length: {len(body)}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def result(id=1, **values):
    return {"jsonrpc": "2.0", "id": id, "result": values}


def stream(*parts, then="close"):
    """An answer in server-sent events, one write a part; `then` "close" the connection or "hang"."""

    async def answer(seen, reader, writer):
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        writer.write(head)
        for part in parts:
            writer.write(part)
            await writer.drain()
        if then == "hang":
            await reader.readexactly(1)  # ends with IncompleteReadError when the client leaves
        return False

    return answer


def event(message):
    return f"data: {json.dumps(message)}\n\n".encode()


async def collect(transport, request):
    return [message async for message in transport.exchange(request)]


@pytest.fixture
def http():
    return SimpleNamespace(
        peer=http_peer, response=response, stream=stream, event=event, result=result
    )


@pytest.fixture
def request_():
    """A JSON-RPC request: `request_("tools/call", id=3, wait=1.0)`."""

    def make(method="tools/list", *, id=1, params=None, **options):
        return Request(id, method, params or {}, **options)

    return make


@pytest.fixture
def all_of():
    return collect


@pytest.fixture
def ask(request_):
    """Ask an HTTP peer with these answers once: the messages, and what the peer saw."""

    def run(*answers, request=None, **options):
        async def main():
            options.setdefault("clock", SimpleNamespace(wall=lambda: NOW))
            async with http_peer(*answers) as peer:
                transport = HttpTransport(peer.url, **options)
                try:
                    return await collect(transport, request or request_()), peer
                finally:
                    await transport.close()

        return asyncio.run(main())

    return run


@pytest.fixture
def failure(ask):
    """What such a question raises, which must be exactly of this kind."""

    def run(kind, *answers, **options):
        with pytest.raises(kind) as caught:
            ask(*answers, **options)
        assert type(caught.value) is kind
        return caught.value

    return run


# A child that answers its n-th request with the n-th list of steps, and the last list from then on.
SCRIPTED_CHILD = r"""
import json, os, sys
script, log = json.loads(sys.argv[1]), open(sys.argv[2], "a")
count = 0
for line in sys.stdin:
    log.write(line); log.flush()
    request = json.loads(line)
    if "id" not in request:
        continue
    steps = script[min(count, len(script) - 1)]
    count += 1
    for step in steps:
        if step == "die":
            sys.stderr.write("dying\n"); sys.stderr.flush()
            os._exit(3)
        if isinstance(step, dict) and step.get("id") == "$id":
            step = {**step, "id": request["id"]}
        text = step if isinstance(step, str) else json.dumps(step)
        sys.stdout.write(text + "\n"); sys.stdout.flush()
"""


@pytest.fixture
def scripted_child(tmp_path):
    """The command of such a child, and the file in which it keeps what it was sent."""

    def make(*script):
        log = tmp_path / "log"
        command = [sys.executable, "-I", "-S", "-c", SCRIPTED_CHILD, json.dumps(script), str(log)]
        return command, lambda: [json.loads(line) for line in log.read_text().splitlines()]

    return make
