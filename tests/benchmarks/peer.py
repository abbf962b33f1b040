"""The smallest honest peer: protocol 2026-07-28 over HTTP, from the standard library alone.

Run as a process; prints its port, serves until it is killed. It answers at once, so that what the
benchmark sees is the client.
"""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SERVER_INFO = {"io.modelcontextprotocol/serverInfo": {"name": "peer", "version": "1"}}
TASKS = {"io.modelcontextprotocol/tasks": {}}
FRESH_MS = 3_600_000
TOOLS = [
    {
        "name": "quick",
        "description": "Answers at once.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    },
    {
        "name": "job",
        "description": "A task that has ended by the first time one asks.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]
RESULT = {"content": [{"type": "text", "text": "moved 138, unresolved 4"}], "isError": False}


def task(task_id: str, status: str, **more: Any) -> dict[str, Any]:
    return {
        "taskId": task_id,
        "status": status,
        "createdAt": "2026-09-12T09:00:00Z",
        "lastUpdatedAt": "2026-09-12T09:00:05Z",
        "ttlMs": None,
        "pollIntervalMs": 100,
        **more,
    }


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that this peer does not have."""
    match method:
        case "server/discover":
            return {
                "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}, "extensions": TASKS},
                "ttlMs": FRESH_MS,
                "cacheScope": "public",
            }
        case "tools/list":
            return {"tools": TOOLS, "ttlMs": FRESH_MS, "cacheScope": "public"}
        case "tools/call" if params["name"] == "job":
            return {**task("tsk_job_ended", "working"), "resultType": "task"}
        case "tools/call":
            return RESULT
        case "tasks/get" if params["taskId"] == "tsk_job_ended":
            return task(params["taskId"], "completed", result=RESULT)
        case "tasks/get":
            return task(params["taskId"], "working", statusMessage="Reflowing 96 of 142 bookings")
    return None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: apart, the second waits 40 ms for an ACK

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = answer(request["method"], request.get("params", {}))
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request.get("id")}
        if result is None:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        else:
            reply["result"] = {"resultType": "complete", **result, "_meta": SERVER_INFO}
        body = json.dumps(reply).encode()
        self.send_response(404 if result is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
