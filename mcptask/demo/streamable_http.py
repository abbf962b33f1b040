# ruff: noqa: TID253  (this module is imported for --http alone, never on the way to stdio)
"""The HTTP front: one endpoint that takes POST (Transports, "Streamable HTTP").

Answers with one JSON object, or with an SSE stream where the first thing to say is a notification.
Needs Starlette and uvicorn; nothing else of the demo does.
"""

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPMethod
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from mcptask.demo.engine import Cancel, Engine, handle
from mcptask.demo.headers import check_headers
from mcptask.demo.jsonrpc import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    Json,
    RpcError,
    check_shape,
    decode,
    encode,
    error_response,
    readable_id,
)

ENDPOINT = "/mcp"
# Every so many seconds of silence a comment tells proxies and clients that the stream lives.
KEEP_ALIVE_S = 15.0
MAX_BODY = 16 * 1024 * 1024
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
JSON_TYPE, SSE_TYPE = "application/json", "text/event-stream"

STATUS = {
    METHOD_NOT_FOUND: 404,
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}
# Any other error is what a tool ended with: an answer, to a request that was in order.
OTHER_ERROR_STATUS = 200


@dataclass(frozen=True)
class Refusal(Exception):
    """Refused before there is a message to answer: a status and a line of text."""

    status: int
    text: str


def _essence(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def _check_origin(request: Request) -> None:
    """Against DNS rebinding: a page of another site must not reach a server on this machine."""
    for origin in request.headers.getlist("origin"):
        try:
            host = urlsplit(origin).hostname
        except ValueError:
            host = None
        if host not in LOOPBACK:
            raise Refusal(403, "Origin not allowed")


def _check_media_types(request: Request) -> None:
    if _essence(request.headers.get("content-type", "")) != JSON_TYPE:
        raise Refusal(415, f"Content-Type must be {JSON_TYPE}")
    accepted = {
        _essence(part)
        for value in request.headers.getlist("accept")
        for part in value.split(",")
        if not part.replace(" ", "").lower().endswith(";q=0")
    }
    for wanted in (JSON_TYPE, SSE_TYPE):
        if not accepted & {wanted, "*/*", wanted.partition("/")[0] + "/*"}:
            raise Refusal(406, f"Accept must list {JSON_TYPE} and {SSE_TYPE}")


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refusal(413, f"The body is longer than {MAX_BODY} bytes")
    return bytes(body)


def _headers(request: Request) -> dict[str, str]:
    """A header that is sent twice is one list, and so equal to nothing in the body."""
    return {
        name: ", ".join(request.headers.getlist(name)) for name in map(str.lower, request.headers)
    }


def _answer(message: Json) -> Response:
    error = message.get("error")
    status = STATUS.get(error["code"], OTHER_ERROR_STATUS) if error else 200
    return Response(encode(message), status, media_type=JSON_TYPE)


async def _gone(request: Request) -> None:
    """Returns when the client closes the connection."""
    while not await request.is_disconnected():
        await asyncio.sleep(0.1)


async def _events(
    messages: "asyncio.Queue[Json]", first: Json, cancel: Cancel
) -> AsyncGenerator[bytes, None]:
    """The stream: until the response itself goes out, or the client closes it."""
    message: Json | None = first
    try:
        while True:
            yield b"data: " + encode(message) + b"\n\n" if message else b": still here\n\n"
            if message and "method" not in message:
                return
            try:
                message = await asyncio.wait_for(messages.get(), KEEP_ALIVE_S)
            except TimeoutError:
                message = None
    finally:
        cancel()


async def _respond(engine: Engine, request: Request, body: Json) -> Response:
    loop = asyncio.get_running_loop()
    messages: asyncio.Queue[Json] = asyncio.Queue()

    def send(message: Json) -> None:
        with suppress(RuntimeError):  # the loop has ended: nobody is left to tell
            loop.call_soon_threadsafe(messages.put_nowait, message)

    cancel = await run_in_threadpool(handle, engine, body, send)
    message = await _first(messages, request)
    if message is None:
        if cancel:
            cancel()
        raise ClientDisconnect
    if "method" not in message:
        return _answer(message)
    events = _events(messages, message, cancel or (lambda: None))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type=SSE_TYPE, headers=headers)


async def _first(messages: "asyncio.Queue[Json]", request: Request) -> Json | None:
    """The first message to send, or None where the client went away before there was one."""
    if not messages.empty():  # nearly always: only a call that is waited for comes later
        return messages.get_nowait()
    first, gone = asyncio.ensure_future(messages.get()), asyncio.ensure_future(_gone(request))
    await asyncio.wait({first, gone}, return_when=asyncio.FIRST_COMPLETED)
    for waiting in (first, gone):
        waiting.cancel()
    return first.result() if first.done() and not first.cancelled() else None


async def _post(engine: Engine, request: Request) -> Response:
    _check_origin(request)
    if request.method != "POST":
        raise Refusal(405, "Only POST")
    _check_media_types(request)
    message: object = None
    try:
        message = decode(await _body(request))
        body = check_shape(message)
        if "id" not in body:
            return Response(status_code=202)
        check_headers(_headers(request), body, engine.tools)
    except RpcError as error:
        return _answer(error_response(readable_id(message), error))
    return await _respond(engine, request, body)


def app(engine: Engine) -> Starlette:
    """The ASGI application. The caller starts the scheduler and closes the engine."""

    async def endpoint(request: Request) -> Response:
        try:
            return await _post(engine, request)
        except Refusal as refusal:
            allow = {"Allow": "POST"} if refusal.status == 405 else None
            return Response(refusal.text + "\n", refusal.status, allow, "text/plain")
        except ClientDisconnect:
            return Response(status_code=499)

    # All of them are refused here, so that the Origin is looked at first and Allow tells the truth.
    methods = [method.value for method in HTTPMethod]
    return Starlette(routes=[Route(ENDPOINT, endpoint, methods=methods)])


class _Server(uvicorn.Server):
    """Says when it listens, and ends the open streams before it waits for them."""

    def __init__(self, config: uvicorn.Config, url: str, ending: Callable[[], None]) -> None:
        super().__init__(config)
        self._url, self._ending = url, ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stderr.write(f"mcptask demo: {self._url}\n")
        sys.stderr.flush()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._ending()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
    except OSError as error:
        sock.close()
        raise OSError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return sock


def serve(engine: Engine, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT. Raises OSError where the address cannot be had."""
    sock = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{sock.getsockname()[1]}{ENDPOINT}"
    config = uvicorn.Config(
        app(engine),
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=2,
    )
    # uvicorn raises the signal again when it is through: the end was asked for, not a failure.
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: None)
    engine.scheduler.start()
    _Server(config, url, engine.watchers.close).run(sockets=[sock])
