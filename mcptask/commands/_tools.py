"""A server's tools, from the cache while the server's `ttlMs` lasts, else from the server."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mcptask.commands._job import Job
from mcptask.commands._where import where
from mcptask.errors import UsageError
from mcptask.nearest import nearest
from mcptask.protocol.session import Session
from mcptask.protocol.transports.headers import ANNOTATION, header_problem
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


class Listed(NamedTuple):
    """A server's tools: those that can be called, and why others may not be, by name (A7.2)."""

    usable: list[Tool]
    left_out: Mapping[str, str]


async def listed_tools(job: Job, endpoint: Endpoint, session: Session) -> Listed:
    """The tools as the server lists them now; kept for the next command as long as it allows."""
    listed = await session.list_tools()
    # Only over HTTP do arguments go into headers (A7.3).
    left_out = _unsound(listed.tools) if endpoint.is_http else {}
    usable = [tool for tool in listed.tools if tool["name"] not in left_out]
    for warning in listed.warnings:
        job.warn(f"{endpoint.name}: {warning}")
    for_all, for_us = _keys(job, endpoint)
    ToolListCache(cache_folder(job.env)).save(
        for_all if listed.public else for_us,
        [dict(tool) for tool in usable],
        listed.ttl_ms,
        job.env.clock.wall(),
    )
    return Listed(usable, left_out)


def _unsound(tools: Sequence[Tool]) -> dict[str, str]:
    """The tools whose header annotations are broken, and how (A7.2)."""
    return {
        tool["name"]: fault
        for tool in tools
        if (fault := header_problem(input_schema(tool))) is not None
    }


def input_schema(tool: Tool) -> Mapping[str, Any]:
    """What the tool takes; {} where it does not say, or not in an object."""
    schema = tool.get("inputSchema")
    return schema if isinstance(schema, dict) else {}


def named(tools: Sequence[Tool], name: str) -> Tool | None:
    return next((tool for tool in tools if tool["name"] == name), None)


async def the_tool(job: Job, endpoint: Endpoint, session: Session, name: str) -> Tool:
    """One tool by name; a cached list that lacks it is asked for anew. UsageError: no such tool."""
    if (kept := named(cached_tools(job, endpoint) or (), name)) is not None:
        return kept
    listed = await listed_tools(job, endpoint, session)
    tool = the_one(job, endpoint, listed, name)
    if listed.left_out:
        count = "one tool is" if len(listed.left_out) == 1 else f"{len(listed.left_out)} tools are"
        job.warn(
            f"{endpoint.name}: {count} left out for broken {ANNOTATION} annotations; "
            f"mcptask tools {where(job, endpoint)}  says which"
        )
    return tool


def the_one(job: Job, endpoint: Endpoint, listed: Listed, name: str) -> Tool:
    """The tool with this name. UsageError, with the nearest one, where there is none to be called."""
    if (tool := named(listed.usable, name)) is not None:
        return tool
    if name in listed.left_out:
        raise UsageError(
            f'the tool "{name}" of {endpoint.name} is broken and must not be called: '
            f"{listed.left_out[name]}",
            hint="whoever runs the server can mend its inputSchema",
        )
    near = nearest(name, [tool["name"] for tool in listed.usable])
    suggestion = f"{near}  " if near else ""
    raise UsageError(
        f'{endpoint.name} has no tool "{name}"',
        hint=f"{suggestion}mcptask tools {where(job, endpoint)}  lists all {len(listed.usable)}",
    )


def _keys(job: Job, endpoint: Endpoint) -> tuple[str, str]:
    """The keys under which a list may be kept: for everyone, and for these credentials only."""
    place = "\0".join((endpoint.url or "", *endpoint.command, endpoint.cwd or ""))
    login = repr(sorted(credentials(endpoint, job.env.environ).items()))
    return cache_key(place), cache_key(place, login)
