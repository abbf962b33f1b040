"""An MCP server over HTTP that says what a test wants, request by request: broken, hostile, old or slow."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]
VERSION = "2026-07-28"
TASKS = "io.modelcontextprotocol/tasks"
ID = "tsk_8f21c0ffee"
# No gate of a test stays shut longer: a test that failed must not hang.
LONGEST_HOLD = 30.0


@dataclass(frozen=True)
class Got:
    """One request as it came in; `body` is its bytes."""

    method: str
    params: Json
    id: Any
    headers: Mapping[str, str]
    body: bytes = b""


Reply = Callable[["_Handler", Got], None]


# ── what to answer ───────────────────────────────────────────────────────────────────────────────


def http(status: int, body: str | bytes = b"", kind: str = "text/html", **headers: str) -> Reply:
    data = body.encode() if isinstance(body, str) else body

    def reply(handler: "_Handler", got: Got) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return reply


def result(**fields: Any) -> Reply:
    def reply(handler: "_Handler", got: Got) -> None:
        body = {"jsonrpc": "2.0", "id": got.id, "result": {"resultType": "complete"} | fields}
        http(200, json.dumps(body), "application/json")(handler, got)

    return reply


def error(code: int, message: str = "no", status: int = 200, **more: Any) -> Reply:
    """`more`: data, or another id."""

    def reply(handler: "_Handler", got: Got) -> None:
        told = {"code": code, "message": message}
        told |= {"data": more["data"]} if "data" in more else {}
        body = {"jsonrpc": "2.0", "id": more.get("id", got.id), "error": told}
        http(status, json.dumps(body), "application/json")(handler, got)

    return reply


def dies(handler: "_Handler", got: Got) -> None:
    """Half an answer, then the end of the connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "5000")
    handler.end_headers()
    handler.wfile.write(b'{"jsonrpc": "2.0", "id": 1, "resu')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def held(gate: threading.Event, reply: Reply) -> Reply:
    """The reply once the gate opens, whether anyone is still there to read it or not."""

    def wait(handler: "_Handler", got: Got) -> None:
        gate.wait(LONGEST_HOLD)
        try:
            reply(handler, got)
        except OSError:
            handler.close_connection = True

    return wait


def subscribed(*steps: Json | threading.Event) -> Reply:
    """A stream of events that stays open: messages, and gates to wait at between them."""

    def reply(handler: "_Handler", got: Got) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.close_connection = True
        ids = {"taskIds": got.params["notifications"]["taskIds"]}
        for step in (
            told("subscriptions/acknowledged", notifications=ids),
            *steps,
            threading.Event(),
        ):
            if isinstance(step, threading.Event):
                handler.wfile.flush()
                step.wait(LONGEST_HOLD)
            else:
                handler.wfile.write(f"data: {json.dumps(step)}\n\n".encode())

    return reply


def told(name: str, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "method": f"notifications/{name}", "params": params}


# ── tasks as a server writes them ────────────────────────────────────────────────────────────────


def task(status: str = "working", task_id: str = ID, **fields: Any) -> Json:
    return {
        "taskId": task_id,
        "status": status,
        "createdAt": datetime.now(UTC).isoformat(),
        "ttlMs": 2**50,
        "pollIntervalMs": 500,
        **fields,
    }


def created(task_id: str = ID, **fields: Any) -> Reply:
    return result(**({"resultType": "task"} | task(task_id=task_id, **fields)))


def now(status: str, task_id: str = ID, **fields: Any) -> Reply:
    return result(**task(status, task_id, **fields))


def tool_result(text: str = "moved 138, unresolved 4", *, failed: bool = False) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def completed(task_id: str = ID, text: str = "moved 138, unresolved 4") -> Reply:
    return now("completed", task_id, result=tool_result(text))


def question(message: str = "4 bookings fit nowhere. What now?", **properties: Any) -> Json:
    fields = properties or {"action": {"type": "string", "enum": ["waitlist", "refund", "keep"]}}
    schema = {"type": "object", "properties": fields, "required": list(fields)[:1]}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def asking(task_id: str = ID, **questions: Json) -> Reply:
    return now("input_required", task_id, inputRequests=questions or {"approve": question()})


TOOL: Json = {
    "name": "job",
    "description": "A job.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "month": {"type": "string"},
            "count": {"type": "integer"},
            "deep": {"type": "boolean"},
            "rooms": {"type": "array", "items": {"type": "string"}},
            "options": {"type": "object"},
        },
        "required": ["month"],
        "additionalProperties": False,
    },
}
WELL_BEHAVED: dict[str, Reply] = {
    "server/discover": result(
        supportedVersions=[VERSION],
        capabilities={"tools": {}, "extensions": {TASKS: {}}},
        serverInfo={"name": "scripted", "version": "1"},
    ),
    "tools/list": result(tools=[TOOL], ttlMs=0, cacheScope="private"),
    "tools/call": created(),
    "tasks/get": completed(),
    "tasks/update": result(),
    "tasks/cancel": result(),
}


# ── the server ───────────────────────────────────────────────────────────────────────────────────


@dataclass
class Scripted:
    """`on(method, first, second, …)`: the answers in turn; the last one is given ever after."""

    url: str = ""
    name: str = ""
    requests: list[Got] = field(default_factory=list)
    _plan: dict[str, list[Reply]] = field(
        default_factory=lambda: {method: [reply] for method, reply in WELL_BEHAVED.items()}
    )

    def on(self, method: str, *replies: Reply) -> None:
        self._plan[method] = list(replies)

    def always(self, reply: Reply) -> None:
        """To whatever comes."""
        self._plan = {"*": [reply]}

    def got(self, method: str) -> list[Got]:
        return [request for request in self.requests if request.method == method]

    def answer(self, handler: "_Handler", got: Got) -> None:
        self.requests.append(got)
        plan = self._plan.get(got.method) or self._plan.get("*")
        if plan is None:
            reply = error(-32601, "Method not found", status=404)
        else:
            reply = plan.pop(0) if len(plan) > 1 else plan[0]
        reply(handler, got)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Scripted

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(data)
        got = Got(body["method"], body.get("params", {}), body.get("id"), dict(self.headers), data)
        self.script.answer(self, got)

    def do_GET(self) -> None:
        """Planned as the method `GET`: what a server of 2024-11-05 begins with."""
        self.script.answer(self, Got("GET", {}, None, dict(self.headers)))

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: what matters is in `requests`."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is what some tests are about."""


@contextmanager
def scripted(port: int = 0, certificate: Path | None = None) -> Iterator[Scripted]:
    """`certificate`: a PEM file with a key; then it speaks TLS, and is called `localhost`."""
    script = Scripted()
    handler = type("Handler", (_Handler,), {"script": script})
    server = _Server(("127.0.0.1", port), handler)
    script.name = f"127.0.0.1:{server.server_port}"
    script.url = f"http://{script.name}/mcp"
    if certificate is not None:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
        # The handshake waits for the thread of the connection: no client holds up another.
        server.socket = tls.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        script.url = f"https://localhost:{server.server_port}/mcp"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
