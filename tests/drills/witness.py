"""An MCP server that bears witness: what it received and gave is in its log, on the disk, before it goes on.

No code of mcptask's. The log is its memory too: one that was killed goes on with what it says.

    {"saw": "call",    "call": 3, "tool": "asks", "who": "…"}     a tools/call came in
    {"saw": "created", "call": 3, "task": "tsk_…", "asks": true}  its task exists; nobody was told yet
    {"saw": "gave",    "call": 3, "what": "task|result|questions"}  its whole answer was handed over
    {"saw": "update",  "n": 5, "task": "tsk_…", "key": "k", "body": {…}, "who": "…"}
    {"saw": "acked",   "n": 5}                                    the whole acknowledgement was handed over
    {"saw": "get", "task": "tsk_…", "who": "…"}, {"saw": "ended", "task": "tsk_…"}
"""

import argparse
import json
import os
import resource
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Json = dict[str, Any]
VERSION, TASKS = "2026-07-28", "io.modelcontextprotocol/tasks"
LATENCY = 0.08  # s before each answer to a call or an update: a window for the killer
WORK = 0.4  # s that a task works
LAG = 1  # times that a question is listed again after its answer was acknowledged (A12.4)
TOOLS = ("works", "asks", "asks_first", "at_once")
KEYS = ("one", "two")


class Log:
    """Append-only, each line on the disk before `note` returns."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self.lines: list[Json] = read_log(path)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, saw: str, **fields: Any) -> int:
        """Returns the line's number."""
        with self._lock:
            entry = {"saw": saw, "at": time.time(), **fields}
            # A line that a killed one left unfinished must not swallow this one.
            os.write(self._file, b"\n" + json.dumps(entry).encode() + b"\n")
            os.fsync(self._file)
            self.lines.append(entry)
            return len(self.lines)


def read_log(path: Path) -> list[Json]:
    """All whole lines. One that was cut off by a kill was followed by no act."""
    lines = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        try:
            lines.append(json.loads(line))
        except ValueError:
            continue
    return [line for line in lines if isinstance(line, dict)]


class Witness:
    def __init__(self, log: Log, lag: int = LAG) -> None:
        self._log = log
        self._lag = lag
        self._listed: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()

    def answer(self, message: Json, who: str) -> tuple[Json, list[tuple[str, Json]]]:
        """The response, and what to note once all of it was handed over."""
        method, params = message["method"], message.get("params", {})
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        handler = getattr(self, "on_" + method.replace("/", "_"), None)
        if handler is None:
            return {**reply, "error": {"code": -32601, "message": "no such method"}}, []
        result, notes = handler(params, who)
        if result is None:
            return {**reply, "error": {"code": -32602, "message": "unknown task"}}, notes
        return {**reply, "result": {"resultType": "complete", **result}}, notes

    def on_server_discover(self, params: Json, who: str) -> Any:
        return {
            "supportedVersions": [VERSION],
            "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
            "serverInfo": {"name": "witness", "version": "1"},
        }, []

    def on_tools_list(self, params: Json, who: str) -> Any:
        schema = {"type": "object", "properties": {}}
        tools = [{"name": name, "inputSchema": schema} for name in TOOLS]
        return {"tools": tools, "ttlMs": 0, "cacheScope": "private"}, []

    def on_tools_call(self, params: Json, who: str) -> Any:
        tool = params["name"]
        call = self._log.note("call", tool=tool, who=who, call=f"{time.time_ns()}-{os.getpid()}")
        name = self._log.lines[call - 1]["call"]
        time.sleep(LATENCY)
        if tool == "at_once":
            return {"content": []}, [("gave", {"call": name, "what": "result"})]
        if tool == "asks_first" and "inputResponses" not in params:
            asked = {"resultType": "input_required", "inputRequests": {"one": question("one")}}
            return asked, [("gave", {"call": name, "what": "questions"})]
        task = f"tsk_{name.replace('-', '_')}"
        self._log.note("created", call=name, task=task, asks=tool == "asks")
        notes = [("gave", {"call": name, "what": "task", "task": task})]
        return {**self._seen(task), "resultType": "task"}, notes

    def on_tasks_get(self, params: Json, who: str) -> Any:
        task = params["taskId"]
        self._log.note("get", task=task, who=who)
        if self._created(task) is None:
            return None, []
        now = self._seen(task)
        if now["status"] == "completed":
            return now, [("ended", {"task": task})]
        return now, []

    def on_tasks_update(self, params: Json, who: str) -> Any:
        task = params["taskId"]
        notes = []
        for key, body in params["inputResponses"].items():
            n = f"{time.time_ns()}-{os.getpid()}"
            self._log.note("update", n=n, task=task, key=key, body=body, who=who)
            notes.append(("acked", {"n": n}))
        time.sleep(LATENCY)
        return {}, notes

    def on_tasks_cancel(self, params: Json, who: str) -> Any:
        return {}, []

    def _created(self, task: str) -> Json | None:
        found = (line for line in list(self._log.lines) if line.get("task") == task)
        return next((line for line in found if line["saw"] == "created"), None)

    def _seen(self, task: str) -> Json:
        """The task as it stands."""
        created = self._created(task)
        assert created is not None
        common = {"taskId": task, "ttlMs": None, "pollIntervalMs": 100, "createdAt": stamp(created)}
        updates = [e for e in list(self._log.lines) if e["saw"] == "update" and e["task"] == task]
        if created["asks"]:
            still_open = {key: question(key) for key in KEYS if self._lists(task, key, updates)}
            if still_open:
                return {**common, "status": "input_required", "inputRequests": still_open}
        since = max([created["at"], *(each["at"] for each in updates)])
        if time.time() - since < WORK:
            return {**common, "status": "working"}
        return {**common, "status": "completed", "result": {"content": [], "isError": False}}

    def _lists(self, task: str, key: str, updates: list[Json]) -> bool:
        """Is this question listed? For a while also one that was answered (A12.4)."""
        if not any(each["key"] == key for each in updates):
            return True
        with self._lock:
            shown = self._listed.get((task, key), 0)
            self._listed[task, key] = shown + 1
        return shown < self._lag


def question(key: str) -> Json:
    schema = {"type": "object", "properties": {"say": {"type": "string"}}, "required": ["say"]}
    params = {"mode": "form", "message": f"What of {key}?", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def stamp(created: Json) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(created["at"]))


def serve_http(witness: Witness, log: Log, port: int) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            who = self.headers.get("X-Drill", "?")
            message = json.loads(body)
            reply, notes = witness.answer(message, who)
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            try:
                self.wfile.write(data)
                self.wfile.flush()
            except OSError:
                self.close_connection = True
                return
            for saw, fields in notes:
                log.note(saw, **fields)

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the client was killed
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

    server = Server(("127.0.0.1", port), Handler)
    log.note("ready", pid=os.getpid(), port=server.server_address[1])
    server.serve_forever()


def serve_stdio(witness: Witness, log: Log) -> None:
    who = f"of {os.getppid()}"  # whoever started us
    log.note("ready", pid=os.getpid(), port=0)
    try:
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if "id" in message and "method" in message:
                reply, notes = witness.answer(message, who)
                sys.stdout.buffer.write(json.dumps(reply).encode() + b"\n")
                sys.stdout.buffer.flush()
                for saw, fields in notes:
                    log.note(saw, **fields)
    except (OSError, ValueError):
        os._exit(1)  # the client was killed, in the middle of a line perhaps


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--http", type=int)
    parser.add_argument("--lag", type=int, default=LAG)
    wanted = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))  # a full disk is the client's, not ours
    kept = Log(wanted.log)
    told = Witness(kept, wanted.lag)
    if wanted.http is None:
        serve_stdio(told, kept)
    else:
        serve_http(told, kept, wanted.http)
