"""The tools of the FastMCP server that ask. Each answers with what it was told: key → response.

FastMCP enters a tool anew with the answers of the last round. The keys on the wire are its own, new for each
round; those below only come back to the tool.
"""

from __future__ import annotations

from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

TEXT = {"type": "string"}
# One field of each kind that a form may have.
EVERY_KIND = {
    "name": {"type": "string", "minLength": 2, "maxLength": 10, "title": "Name"},
    "mail": {"type": "string", "format": "email"},
    "page": {"type": "string", "format": "uri"},
    "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "seats": {"type": "integer", "minimum": 1, "maximum": 12, "default": 4},
    "price": {"type": "number", "minimum": 0},
    "quiet": {"type": "boolean", "default": False},
    "size": {"type": "string", "enum": ["small", "large"]},
    "floor": {"oneOf": [{"const": "g", "title": "Ground"}, {"const": "1", "title": "First"}]},
    "light": {"type": "string", "enum": ["n", "s"], "enumNames": ["North", "South"]},
    "days": {"type": "array", "items": {"enum": ["mon", "tue", "wed"]}, "minItems": 1},
    "extras": {
        "type": "array",
        "items": {"anyOf": [{"const": "tea", "title": "Tea"}, {"const": "cake", "title": "Cake"}]},
        "maxItems": 1,
    },
}


def form(message: str, properties: dict[str, Any], required: list[str]) -> ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": required}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


ADDRESS = ElicitRequestURLParams(
    message="Sign in to the ledger", url="https://ledger.example/sign?in=1"
)
PROMPT = SamplingMessage(role="user", content=TextContent(type="text", text="Name the studio."))

ROUNDS = {
    "ask_twice": [
        {"who": form("Who asks?", {"who": TEXT}, ["who"])},
        {"why": form("And why?", {"why": TEXT}, ["why"])},
    ],
    "ask_several": [
        {
            "room": form("Which room?", {"room": {"enum": ["a", "b"]}}, ["room"]),
            "note": form("What should the note say?", {"note": TEXT}, ["note"]),
            "count": form("How many?", {"count": {"type": "integer", "default": 3}}, []),
        }
    ],
    "ask_everything": [{"all": form("Everything, please.", EVERY_KIND, ["name", "days"])}],
    "ask_url": [{"sign": ElicitRequest(params=ADDRESS)}],
    "ask_model": [
        {
            "draft": CreateMessageRequest(
                params=CreateMessageRequestParams(messages=[PROMPT], max_tokens=50)
            )
        }
    ],
    "ask_roots": [{"where": ListRootsRequest()}],
}


def add_tools_that_ask(mcp: FastMCP, task: TaskConfig) -> None:
    for name, rounds in ROUNDS.items():
        mcp.tool(_asks(rounds), name=name, task=task)


def _asks(rounds: list[dict[str, Any]]) -> Any:
    async def ask(ctx: Context) -> Any:
        """Asks, and answers with what it was told in the last round."""
        told = ctx.input_responses or {}
        done = int(ctx.request_state or 0) + bool(told)
        if done < len(rounds):
            return InputRequiredResult(input_requests=rounds[done], request_state=str(done))
        return {
            key: response.model_dump(by_alias=True, mode="json", exclude_none=True)
            for key, response in told.items()
        }

    return ask
