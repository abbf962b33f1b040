"""The floor for a command that follows a task: httpx alone, no more than it takes.

usage: bare_watch.py URL TASK poll|push

`poll` asks as fast as the server allows; `push` opens one subscription. Either ends without tidying up,
which takes an interpreter with httpx in it longer than all the rest.
"""

import asyncio
import json
import os
import sys
from typing import Any

import httpx

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {
        "extensions": {"io.modelcontextprotocol/tasks": {}}
    },
}
Json = dict[str, Any]


def request(method: str, name: str = "", **params: Any) -> Json:
    """What httpx is to be told of a request."""
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
        **({"Mcp-Name": name} if name else {}),
    }
    body = {"jsonrpc": "2.0", "id": "1", "method": method, "params": {**params, "_meta": META}}
    return {"json": body, "headers": headers}


async def poll(client: httpx.AsyncClient, url: str, task_id: str) -> Json:
    while True:
        answer = await client.post(url, **request("tasks/get", task_id, taskId=task_id))
        task: Json = answer.raise_for_status().json()["result"]
        if task["status"] != "working":
            return task
        await asyncio.sleep(task["pollIntervalMs"] / 1000)


async def push(client: httpx.AsyncClient, url: str, task_id: str) -> Json:
    listen = request("subscriptions/listen", notifications={"taskIds": [task_id]})
    async with client.stream("POST", url, **listen, timeout=None) as answer:
        async for line in answer.aiter_lines():
            task: Json = json.loads(line[5:])["params"] if line.startswith("data:") else {}
            if task.get("status", "working") != "working":
                return task
    raise SystemExit("the stream ended before the task")


async def main(url: str, task_id: str, how: str) -> None:
    async with httpx.AsyncClient() as client:
        task = await (push if how == "push" else poll)(client, url, task_id)
        print(json.dumps(task), flush=True)
        os._exit(0)


asyncio.run(main(*sys.argv[1:]))
