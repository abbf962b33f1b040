"""A server's tools, from the cache while the server's `ttlMs` lasts, else from the server."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from mcptask.commands._job import Job
from mcptask.errors import UsageError
from mcptask.nearest import nearest
from mcptask.protocol.session import Session
from mcptask.protocol.transports.headers import header_problem
from mcptask.servers.credentials import credentials
from mcptask.servers.endpoint import Endpoint
from mcptask.store.paths import cache_folder
from mcptask.store.toollists import ToolListCache, cache_key

Tool = Mapping[str, Any]


def cached_tools(job: Job, endpoint: Endpoint) -> list[Tool] | None:
    """The tools as last listed, if that list is still fresh (A7.4)."""
    cache = ToolListCache(cache_folder(job.env))
    now = job.env.clock.wall()
    for key in _keys(job, endpoint):
        if (kept := cache.load(key, now)) is not None:
            return list(kept["tools"])
    return None


async def listed_tools(job: Job, endpoint: Endpoint, session: Session) -> list[Tool]:
    """The tools as the server lists them now; kept for the next command as long as it allows."""
    listed = await session.list_tools()
    usable, faults = _sound(listed.tools) if endpoint.is_http else (list(listed.tools), [])
    for warning in (*listed.warnings, *faults):
        job.warn(f"{endpoint.name}: {warning}")
    for_all, for_us = _keys(job, endpoint)
    ToolListCache(cache_folder(job.env)).save(
        for_all if listed.public else for_us,
        [dict(tool) for tool in usable],
        listed.ttl_ms,
        job.env.clock.wall(),
    )
    return usable


def _sound(tools: Sequence[Tool]) -> tuple[list[Tool], list[str]]:
    """The tools that can be called over HTTP, and why others cannot: broken header annotations (A7.2)."""
    faults = {
        tool["name"]: fault
        for tool in tools
        if isinstance(tool.get("inputSchema"), dict)
        and (fault := header_problem(tool["inputSchema"])) is not None
    }
    usable = [tool for tool in tools if tool["name"] not in faults]
    return usable, [f"the tool {name} is left out: {fault}" for name, fault in faults.items()]


async def the_tool(job: Job, endpoint: Endpoint, session: Session, name: str) -> Tool:
    """One tool by name; a cached list that lacks it is asked for anew. UsageError: no such tool."""
    for tool in cached_tools(job, endpoint) or ():
        if tool["name"] == name:
            return tool
    return the_one(endpoint, await listed_tools(job, endpoint, session), name)


def the_one(endpoint: Endpoint, tools: Sequence[Tool], name: str) -> Tool:
    """The tool with this name. UsageError, with the nearest one, where there is none."""
    for tool in tools:
        if tool["name"] == name:
            return tool
    near = nearest(name, [tool["name"] for tool in tools])
    suggestion = f"{near}  " if near else ""
    where = shlex.quote(endpoint.server or endpoint.address)
    raise UsageError(
        f'{endpoint.name} has no tool "{name}"',
        hint=f"{suggestion}mcptask tools -s {where}  lists all {len(tools)}",
    )


def _keys(job: Job, endpoint: Endpoint) -> tuple[str, str]:
    """The keys under which a list may be kept: for everyone, and for these credentials only."""
    place = "\0".join((endpoint.url or "", *endpoint.command, endpoint.cwd or ""))
    login = repr(sorted(credentials(endpoint, job.env.environ).items()))
    return cache_key(place), cache_key(place, login)
