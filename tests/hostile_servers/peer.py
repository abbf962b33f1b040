"""A raw peer over HTTP that answers `server/discover` and then does its worst. A process of its own: what it
sends is made as it goes, and counts in nobody else's memory.

`peer.py KIND` prints its port. `answer` writes the body of the first request that is no discovery.
"""

import itertools
import json
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

M = 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\nconnection: close\r\n"
JSON, STREAM = b"application/json", b"text/event-stream"
COMPLETED = (
    b'{"jsonrpc":"2.0","id":%d,"result":{"taskId":"tsk_1","status":"completed","ttlMs":null,'
    b'"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z",'
    b'"result":{"content":[],"structuredContent":{"x":%s}}}}'
)
ASKING = (
    b'{"jsonrpc":"2.0","id":%d,"result":{"taskId":"tsk_1","status":"input_required","ttlMs":null,'
    b'"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z",'
    b'"inputRequests":{%s}}}'
)
QUESTION = (
    b'"%s":{"method":"elicitation/create","params":{"mode":"form","message":"%s",'
    b'"requestedSchema":{"type":"object","properties":{"a":{"type":"string"%s}}}}}'
)
WORKING = (
    b'{"jsonrpc":"2.0","id":%d,"result":{"taskId":"tsk_1","status":"working","ttlMs":%s,'
    b'"pollIntervalMs":%s,"statusMessage":"%s",'
    b'"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"}}'
)
Chunks = Iterator[bytes]


def filled(template: bytes, *parts: bytes) -> Callable[[int], Chunks]:
    """A whole answer with an id and these parts."""
    return lambda number: iter((HEAD % JSON + b"\r\n", template % (number, *parts)))


def endless(head: bytes, *pieces: bytes) -> Callable[[int], Chunks]:
    return lambda number: itertools.chain((head,), itertools.cycle(pieces))


def slowly(head: bytes, piece: bytes) -> Callable[[int], Chunks]:
    def chunks(number: int) -> Chunks:
        yield head
        while True:
            time.sleep(0.2)
            yield piece

    return chunks


def bomb(coding: bytes, layers: int = 1) -> Callable[[int], Chunks]:
    def chunks(number: int) -> Chunks:
        data = b"[" + b" " * (50 * M)
        for _ in range(layers):
            packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
            data = packer.compress(data) + packer.flush()
        yield HEAD % JSON + b"content-encoding: " + coding + b"\r\n\r\n"
        yield data

    return chunks


def pages(number: int, cursor: Callable[[int], object], tools: int = 1) -> Chunks:
    named = [{"name": f"t{number}-{n}", "inputSchema": {"type": "object"}} for n in range(tools)]
    result = {"resultType": "complete", "tools": named, "nextCursor": cursor(number)}
    yield HEAD % JSON + b"\r\n"
    yield json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()


NEWS = b'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}\n\n'
OTHERS = b'data: {"jsonrpc":"2.0","id":"other","result":{}}\n\n'
KINDS: dict[str, Callable[[int], Chunks]] = {
    "a body without end": endless(HEAD % JSON + b"\r\n", b" " * 65536),
    "a length that lies": endless(HEAD % JSON + b"content-length: 99999999999\r\n\r\n", b"[" * 999),
    "comments without end": endless(HEAD % STREAM + b"\r\n", b": ping\n" * 1000),
    "events of another type": endless(HEAD % STREAM + b"\r\n", b"event: ping\ndata: {}\n\n" * 500),
    "notifications without end": endless(HEAD % STREAM + b"\r\n", NEWS * 100),
    "answers to somebody else": endless(HEAD % STREAM + b"\r\n", OTHERS * 100),
    "an event of a gigabyte": endless(HEAD % STREAM + b"\r\ndata: ", b"x" * 65536),
    "a header without end": endless(b"HTTP/1.1 200 OK\r\nx-a: ", b"x" * 65536),
    "headers without end": endless(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n" * 1000),
    "a bomb of gzip": bomb(b"gzip"),
    "gzip in gzip": bomb(b"gzip, gzip", 2),
    "a coding unknown here": bomb(b"br"),
    "slow headers": slowly(b"HTTP/1.1 200 OK\r\nx-a: ", b"x"),
    "a slow body": slowly(HEAD % JSON + b"\r\n", b" "),
    "a slow stream": slowly(HEAD % STREAM + b"\r\n", b": ping\n"),
    "no answer": slowly(b"", b""),
    "nesting": filled(COMPLETED, b"[" * 100_000 + b"]" * 100_000),
    "millions of arrays": filled(COMPLETED, b"[" + b"[]," * (3 * M) + b"1]"),
    "millions of numbers": filled(COMPLETED, b"[" + b"1," * (4 * M) + b"1]"),
    "a few numbers too many": filled(COMPLETED, b"[" + b"1," * 300_000 + b"1]"),
    "millions of keys": filled(COMPLETED, b"{" + b'"":1,' * (2 * M - 200) + b'"":1}'),
    "as many keys as may be": filled(
        COMPLETED, b"{%s}" % b",".join(b'"%06x":"%06x"' % (n, n) for n in range(261_000))
    ),
    "as many objects as may be": filled(
        COMPLETED,
        b"[%s]" % b",".join(b'{"%05x":"\xf0\x9f\x98\x80%05x"}' % (n, n) for n in range(80_000)),
    ),
    "a number of a million digits": filled(COMPLETED, b"9" * 1_000_000),
    "a message of 9 MiB": filled(WORKING, b"null", b"50", b"wait " * (M * 9 // 5)),
    "absurd times": filled(WORKING, b"1" * 400, b"-1e308", b"x"),
    "a text of 10 MiB": filled(COMPLETED, b'"%s"' % (b"x" * (10 * M - 400))),
    "a hundred thousand questions": filled(
        ASKING, b",".join(QUESTION % (b"k%d" % n, b"?", b"") for n in range(100_000))
    ),
    "five hundred questions": filled(
        ASKING, b",".join(QUESTION % (b"k%d" % n, b"?", b"") for n in range(500))
    ),
    "a question of 5 MiB": filled(ASKING, QUESTION % (b"k", b"why " * (5 * M // 4), b"")),
    "a hundred thousand choices": filled(
        ASKING,
        QUESTION % (b"k", b"?", b',"enum":[%s]' % b",".join(b'"c%d"' % n for n in range(100_000))),
    ),
    "pages with one cursor": lambda number: pages(number, lambda n: "same"),
    "pages without end": lambda number: pages(number, str),
    "a million tools": lambda number: pages(number, str, 20_000),
}


def whole(result: object, number: int) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
    return HEAD % JSON + b"content-length: %d\r\n\r\n" % len(body) + body


DISCOVERED = {
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
}


def serve_one(connection: socket.socket, answer: Callable[[int], Chunks]) -> None:
    with connection:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        )
        while len(body) < length:
            body += connection.recv(65536)
        message = json.loads(body)
        if message["method"] == "server/discover":
            connection.sendall(whole(DISCOVERED, message["id"]))
            return
        for chunk in answer(message["id"]):
            connection.sendall(chunk)


def main(kind: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)

    def attempt(connection: socket.socket) -> None:
        with suppress(OSError):  # the client has seen enough
            serve_one(connection, KINDS[kind])

    while True:
        connection, _ = listener.accept()
        threading.Thread(target=attempt, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
