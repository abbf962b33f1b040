"""The floor for a command that asks a server: one tools/call with httpx.AsyncClient, no more.

usage: bare_post.py URL
"""

import asyncio
import sys

import httpx

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {
        "extensions": {"io.modelcontextprotocol/tasks": {}}
    },
}
REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "quick", "arguments": {"name": "Ada"}, "_meta": META},
}
HEADERS = {
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": VERSION,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "quick",
}


async def main(url: str) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.post(url, json=REQUEST, headers=HEADERS)
        print(answer.raise_for_status().json()["result"]["content"][0]["text"])


asyncio.run(main(sys.argv[1]))
