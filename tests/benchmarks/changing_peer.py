"""A server whose tasks change by a plan: protocol 2026-07-28 over HTTP, from the standard library alone.

usage: changing_peer.py PLAN      PLAN is the JSON of a `Plan`

Run as a process; prints its port, serves until it is killed. GET /log is all that it said and heard,
and GET /end/ID ends a task and answers with the moment. All moments are `time.time()`, which every
process of this machine shares.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
SERVER_INFO = {"io.modelcontextprotocol/serverInfo": {"name": "changing", "version": "1"}}
TASKS = {"io.modelcontextprotocol/tasks": {}}
CACHED = {"ttlMs": 3_600_000, "cacheScope": "public"}
TOOL = {"name": "job", "description": "A task.", "inputSchema": {"type": "object"}}
RESULT = {"content": [{"type": "text", "text": "moved 138, unresolved 4"}], "isError": False}
KEEP_ALIVE = 15.0  # s between two comments on a stream
NO_SUCH_METHOD, NO_SUCH_TASK = -32601, -32602
NOTHING_BEFORE = 2.0  # s from the first contact on: whoever watches is to find all tasks first


@dataclass
class Plan:
    """What happens. Seconds count from the first contact; 0 is never."""

    tasks: int = 1  # how many there are from the start: tsk_1, tsk_2, …
    poll_ms: int = 500
    push: bool = True
    change_s: float = 0.0  # the mean time from one status message of a task to the next
    end_s: float = 0.0  # each task ends at a random moment in the second half of this
    answer_s: float = 0.0  # how long each answer takes
    seed: int = 1


@dataclass
class Stream:
    """One subscription: where to write, and of which tasks."""

    writer: asyncio.StreamWriter
    request_id: Any
    task_ids: frozenset[str]

    def send(self, message: Json) -> None:
        self.write(b"data: " + json.dumps(message).encode() + b"\n\n")

    def write(self, event: bytes) -> None:
        self.writer.write(b"%x\r\n%b\r\n" % (len(event), event))

    def notify(self, method: str, params: Json) -> None:
        tagged = {**params, "_meta": {SUBSCRIPTION: self.request_id}}
        self.send({"jsonrpc": "2.0", "method": method, "params": tagged})


@dataclass
class Peer:
    plan: Plan
    tasks: dict[str, Json] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)  # those that a call has made
    streams: list[Stream] = field(default_factory=list)
    changes: list[tuple[float, str, str, str]] = field(default_factory=list)
    gets: dict[str, list[float]] = field(default_factory=dict)
    pushed: dict[str, float] = field(default_factory=dict)  # since when
    heard: Counter[str] = field(default_factory=Counter)  # requests by method
    said: Counter[str] = field(default_factory=Counter)  # what went out unasked
    busiest: int = 0  # requests under way at one time
    under_way: int = 0
    met: bool = False

    def __post_init__(self) -> None:
        self.chance = random.Random(self.plan.seed)
        for number in range(1, self.plan.tasks + 1):
            self.make(f"tsk_{number}")

    # ── the tasks ────────────────────────────────────────────────────────────────────────────────

    def make(self, task_id: str) -> Json:
        task: Json = {
            "taskId": task_id,
            "status": "working",
            "statusMessage": "step 0",
            "createdAt": stamp(),
            "lastUpdatedAt": stamp(),
            "ttlMs": None,
            "pollIntervalMs": self.plan.poll_ms,
        }
        self.tasks[task_id] = task
        self.gets[task_id] = []
        self.changes.append((time.time(), task_id, "working", "step 0"))
        return task

    def meet(self) -> None:
        """The first contact: from here on things happen by the plan."""
        if self.met:
            return
        self.met = True
        loop = asyncio.get_running_loop()
        for task_id in self.tasks:
            if self.plan.end_s:
                at = self.plan.end_s * self.chance.uniform(0.5, 1.0)
                loop.call_later(NOTHING_BEFORE + at, self.end, task_id)
            if self.plan.change_s:
                self.change_later(task_id, NOTHING_BEFORE)

    def change_later(self, task_id: str, beyond: float = 0.0) -> None:
        wait = beyond + self.chance.expovariate(1 / self.plan.change_s)
        asyncio.get_running_loop().call_later(wait, self.step, task_id)

    def step(self, task_id: str) -> None:
        task = self.tasks[task_id]
        if task["status"] == "working":
            count = int(task["statusMessage"].split()[1])
            self.change(task_id, statusMessage=f"step {count + 1}")
            self.change_later(task_id)

    def end(self, task_id: str) -> float:
        return self.change(task_id, status="completed", statusMessage="done", result=RESULT)

    def change(self, task_id: str, **news: Any) -> float:
        """Stamped before anyone hears of it: what follows counts as delay, ours included."""
        now = time.time()
        task = self.tasks[task_id]
        task.update(news, lastUpdatedAt=stamp())
        self.changes.append((now, task_id, task["status"], task["statusMessage"]))
        for stream in self.streams:
            if task_id in stream.task_ids:
                self.said["pushes"] += 1
                stream.notify("notifications/tasks", task)
        return now

    # ── the requests ─────────────────────────────────────────────────────────────────────────────

    def answer(self, method: str, params: Json) -> Json | int:
        """A result, or the code of an error."""
        match method:
            case "server/discover":
                capabilities = {"tools": {}, "extensions": TASKS}
                return {**CACHED, "supportedVersions": ["2026-07-28"], "capabilities": capabilities}
            case "tools/list":
                return {**CACHED, "tools": [TOOL]}
            case "tools/call":
                self.made.append(f"tsk_{len(self.tasks) + 1}")
                return {**self.make(self.made[-1]), "resultType": "task"}
            case "tasks/get":
                task_id = params["taskId"]
                if task_id not in self.tasks:
                    return NO_SUCH_TASK
                self.gets[task_id].append(time.time())
                self.meet()
                return self.tasks[task_id]
        return NO_SUCH_METHOD

    async def listen(self, writer: asyncio.StreamWriter, request: Json) -> None:
        """The acknowledgement, then what changes, until the client hangs up."""
        wanted = request["params"]["notifications"].get("taskIds", [])
        known = [task_id for task_id in wanted if task_id in self.tasks]
        stream = Stream(writer, request["id"], frozenset(known))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Cache-Control: no-store\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        acknowledged = "notifications/subscriptions/acknowledged"
        stream.notify(acknowledged, {"notifications": {"taskIds": known}})
        self.streams.append(stream)
        self.pushed = {**dict.fromkeys(known, time.time()), **self.pushed}
        self.meet()
        try:
            while not writer.is_closing():
                await asyncio.sleep(KEEP_ALIVE)
                self.said["keep-alives"] += 1
                stream.write(b": still here\n\n")
                await writer.drain()
        finally:
            self.streams.remove(stream)

    def log(self) -> Json:
        return {
            "changes": self.changes,
            "made": self.made,
            "gets": self.gets,
            "pushed": self.pushed,
            "heard": self.heard,
            "said": self.said,
            "busiest": self.busiest,
            "pushedTo": sorted({task_id for each in self.streams for task_id in each.task_ids}),
        }


def stamp() -> str:
    now = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03}Z"


# ── HTTP ─────────────────────────────────────────────────────────────────────────────────────────


async def serve(peer: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One connection, request by request."""
    listening: asyncio.Task[None] | None = None
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            method, path, _ = head.decode().split(" ", 2)
            if method == "GET":
                reply(writer, 200, ask(peer, path))
                continue
            request = json.loads(await reader.readexactly(length_of(head)))
            peer.heard[request["method"]] += 1
            if request["method"] == "subscriptions/listen" and peer.plan.push:
                listening = asyncio.create_task(peer.listen(writer, request))
                continue
            peer.under_way += 1
            peer.busiest = max(peer.busiest, peer.under_way)
            await asyncio.sleep(peer.plan.answer_s)
            peer.under_way -= 1
            answer(peer, writer, request)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass  # the client hung up
    finally:
        if listening:
            listening.cancel()
        writer.close()


def ask(peer: Peer, path: str) -> Any:
    return peer.end(path.removeprefix("/end/")) if path.startswith("/end/") else peer.log()


def answer(peer: Peer, writer: asyncio.StreamWriter, request: Json) -> None:
    answered = peer.answer(request["method"], request.get("params", {}))
    body: Json = {"jsonrpc": "2.0", "id": request.get("id")}
    if isinstance(answered, int):
        body["error"] = {"code": answered, "message": "there is no such thing here"}
    else:
        body["result"] = {"resultType": "complete", **answered, "_meta": SERVER_INFO}
    reply(writer, 404 if answered == NO_SUCH_METHOD else 200, body)


def reply(writer: asyncio.StreamWriter, status: int, body: Any) -> None:
    data = json.dumps(body).encode()
    writer.write(
        f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(data)}\r\n\r\n".encode()
        + data
    )


def length_of(head: bytes) -> int:
    lines = head.decode("latin-1").lower().split("\r\n")
    return next(int(line[15:]) for line in lines if line.startswith("content-length:"))


async def main(plan: Plan) -> None:
    peer = Peer(plan)
    server = await asyncio.start_server(lambda r, w: serve(peer, r, w), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Plan(**json.loads(sys.argv[1]))))
