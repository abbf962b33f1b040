"""A FastMCP server with background tasks: the judge that we did not write.

Run by the Python of its own virtual environment (`scripts/interop`), never by ours:

    PYTHON fastmcp_server.py --stdio
    PYTHON fastmcp_server.py --http PORT       # endpoint /mcp

Tasks live in this process's memory and die with it, unless FASTMCP_DOCKET_URL names a Redis.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import uuid
from datetime import timedelta
from typing import Any

# Two servers under one docket name share a queue, and the wrong one "completes" the tasks, empty.
# Read when fastmcp_tasks is imported, so it must be set before. Nodes of one cluster are given theirs.
os.environ.setdefault("FASTMCP_DOCKET_NAME", f"mcptask-{uuid.uuid4().hex}")
os.environ.setdefault("FASTMCP_CHECK_FOR_UPDATES", "off")

from fastmcp import Context, FastMCP
from fastmcp.dependencies import Progress
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_questions import add_tools_that_ask
from fastmcp_tasks import TasksExtension
from mcp.shared.exceptions import MCPError
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

BOOKINGS = 142
TASK = TaskConfig(mode="optional", poll_interval=timedelta(seconds=1))

mcp = FastMCP("Studio")
mcp.add_extension(TasksExtension())
add_tools_that_ask(mcp, TASK)

# Progress() as a default is FastMCP's way to inject it. Never give a task tool a mutable default
# (`= []`): the worker dies without a word and every later task stays `working`.


@mcp.tool(task=TASK)
async def reflow_month(month: str, seconds: float = 3, progress: Any = Progress()) -> dict:  # noqa: B008
    """Moves a month of bookings, and says how far it is."""
    steps = 6
    for step in range(1, steps + 1):
        await progress.set_message(f"Reflowing {BOOKINGS * step // steps} of {BOOKINGS} bookings")
        await asyncio.sleep(seconds / steps)
    return {"month": month, "moved": 138, "unresolved": 4}


@mcp.tool(task=TASK)
async def failing() -> str:
    """Completes with isError: a tool that raises."""
    raise ValueError("the ledger is closed")


@mcp.tool(task=TASK)
async def broken() -> str:
    """Ends `failed`: a JSON-RPC error inside the task."""
    raise MCPError(code=-32050, message="quota exceeded", data={"limit": 3})


@mcp.tool(task=TASK)
async def ask(ctx: Context) -> Any:
    """Asks one question, then completes with the answer in its text."""
    if not ctx.input_responses:
        question = ElicitRequestFormParams(
            message="4 bookings fit nowhere. What should happen to them?",
            requested_schema={
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["waitlist", "refund", "keep"]},
                    "limit": {"type": "integer", "minimum": 0},
                },
                "required": ["action"],
            },
        )
        return InputRequiredResult(input_requests={"action": ElicitRequest(params=question)})
    (answer,) = ctx.input_responses.values()
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return "left as it is"
    return f"bookings: {answer.content}"


@mcp.tool(task=TASK)
async def slow(seconds: float = 60) -> str:
    """Takes its time: for cancelling, and for coming back later."""
    await asyncio.sleep(seconds)
    return f"slept {seconds:g}"


@mcp.tool(task=TASK)
async def run_until(path: str, progress: Any = Progress()) -> int:  # noqa: B008
    """Says which process runs it, until a file is there: for nodes that die under their jobs."""
    await progress.set_message(f"on {os.getpid()}")
    while not os.path.exists(path):
        await asyncio.sleep(0.05)
    return os.getpid()


@mcp.tool
async def hold(path: str) -> None:
    """Notes which process holds the call, and never answers."""
    with open(path, "a") as held:
        held.write(f"{os.getpid()}\n")
    await asyncio.sleep(3600)


@mcp.tool
async def ask_first(room: str, ctx: Context) -> Any:
    """Asks twice before it answers, with no task: multi round-trip requests."""
    asked = ctx.request_state or "who"
    if not ctx.input_responses:
        return _one_question("who", "Who asks?", "who")
    (answer,) = ctx.input_responses.values()
    if not isinstance(answer, ElicitResult) or answer.action != "accept":
        return f"{room} stays as it is"
    if asked == "who":
        return _one_question("why", "And why?", f"why {answer.content['text']}")
    return f"{room}: {asked.removeprefix('why ')} because {answer.content['text']}"


def _one_question(key: str, message: str, state: str) -> InputRequiredResult:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    question = ElicitRequestFormParams(message=message, requested_schema=schema)
    return InputRequiredResult(
        input_requests={key: ElicitRequest(params=question)}, request_state=state
    )


@mcp.tool
async def quick(name: str) -> str:
    """Answers at once; never a task."""
    return f"Hello, {name}!"


def main() -> None:
    parser = argparse.ArgumentParser()
    front = parser.add_mutually_exclusive_group(required=True)
    front.add_argument("--stdio", action="store_true")
    front.add_argument("--http", type=int, metavar="PORT")
    options = parser.parse_args()
    if options.stdio:
        mcp.run(show_banner=False)
    else:
        mcp.run(transport="http", host="127.0.0.1", port=options.http, show_banner=False)


if __name__ == "__main__":
    main()
