"""The demo's engine with a clock of the test's own and no thread: time passes when it is told to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcptask.demo.catalog import TOOLS
from mcptask.demo.engine import Cancel, build, handle
from mcptask.demo.jobs import Tools
from mcptask.demo.jsonrpc import META_CAPABILITIES, META_VERSION, TASKS, Json

TASKS_ONLY: Json = {"extensions": {TASKS: {}}}
EVERYTHING: Json = {"elicitation": {"form": {}}, **TASKS_ONLY}
NOTHING: Json = {}
BASE = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
}
BEGIN = 1_800_000_000.0


def meta(capabilities: Json = EVERYTHING, version: str = "2026-07-28") -> Json:
    return {META_VERSION: version, META_CAPABILITIES: capabilities}


def request(
    method: str, capabilities: Json = EVERYTHING, request_id: str | int = 1, **params: Any
) -> Json:
    params = {"_meta": meta(capabilities)} | params
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def headers_for(message: Json, **more: str) -> dict[str, str]:
    """What a request has to say in its headers; `more` of them, or others."""
    params = message["params"]
    name = params.get("name") or params.get("taskId")
    named = {"Mcp-Name": name} if name else {}
    return BASE | {"Mcp-Method": message["method"]} | named | more


class Clock:
    def __init__(self, seconds: float = BEGIN) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds


class Bench:
    """One server process, as it were. `sent` is all that it said, in order."""

    def __init__(
        self,
        path: Path | None = None,
        tools: Tools = TOOLS,
        clock: Clock | None = None,
        page_size: int = 50,
    ) -> None:
        self.clock = clock or Clock()
        self.engine = build(path, tools, self.clock, page_size)
        self.sent: list[Json] = []

    def say(self, message: object) -> Cancel | None:
        return handle(self.engine, message, self.sent.append)

    def ask(self, method: str, capabilities: Json = EVERYTHING, **params: Any) -> Json:
        """The whole response."""
        self.say(request(method, capabilities, **params))
        return self.sent.pop()

    def result(self, method: str, capabilities: Json = EVERYTHING, **params: Any) -> Json:
        response = self.ask(method, capabilities, **params)
        assert "result" in response, response
        found: Json = response["result"]
        return found

    def error(self, method: str, capabilities: Json = EVERYTHING, **params: Any) -> Json:
        response = self.ask(method, capabilities, **params)
        assert "error" in response, response
        found: Json = response["error"]
        return found

    def call(self, name: str, capabilities: Json = EVERYTHING, /, **arguments: Any) -> Json:
        return self.result("tools/call", capabilities, name=name, arguments=arguments)

    def start(self, name: str, /, **arguments: Any) -> str:
        created = self.call(name, **arguments)
        assert created["resultType"] == "task", created
        return str(created["taskId"])

    def get(self, task_id: str) -> Json:
        return self.result("tasks/get", taskId=task_id)

    def turn(self) -> float:
        return self.engine.scheduler.turn()

    def wait(self, seconds: float) -> None:
        """Lets time pass, in steps shorter than any of the scheduler's."""
        end = self.clock.seconds + seconds
        while self.clock.seconds < end:
            self.clock.seconds = min(end, self.clock.seconds + 0.05)
            self.turn()

    def close(self) -> None:
        """As after SIGKILL: nothing is released."""
        self.engine.store.close()


MakeBench = Callable[..., Bench]
