"""From an endpoint to a session: the one place that picks a transport and a generation."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from mcptask.commands._job import Job
from mcptask.protocol.generations.v2026_07_28 import PROBE_WAIT, V20260728
from mcptask.protocol.session import Session
from mcptask.protocol.transports.base import Limits, Transport
from mcptask.render.report import ServerInfo
from mcptask.servers.resolve import Endpoint, credentials
from mcptask.store.records import Origin


@asynccontextmanager
async def connected(job: Job, endpoint: Endpoint, *, known: bool = False) -> AsyncIterator[Session]:
    """A session with the server, closed at the end. `known`: it spoke this revision before."""
    session = Session(
        _transport(job, endpoint),
        V20260728(probe_wait=endpoint.timeout or PROBE_WAIT),
        clock=job.env.clock,
        greet=not endpoint.is_http,
        known=known and endpoint.is_http,
    )
    try:
        yield session
    finally:
        await session.close()


def origin_of(endpoint: Endpoint) -> Origin:
    """What a record keeps of an endpoint: enough to find it again, and no secret."""
    if endpoint.server is not None:
        return Origin(server=endpoint.server)
    return Origin(
        url=endpoint.url,
        command=endpoint.command,
        cwd=endpoint.cwd,
        bearer_env=endpoint.bearer_env,
    )


def server_info(endpoint: Endpoint, version: str | None = None) -> ServerInfo:
    """What the document says of the server."""
    return ServerInfo(endpoint.server, endpoint.address, version, endpoint.name)


def _transport(job: Job, endpoint: Endpoint) -> Transport:
    limits = Limits()
    if endpoint.timeout is not None:
        limits = replace(limits, first_byte=endpoint.timeout)
    if endpoint.url is not None:
        from mcptask.protocol.transports.http import HttpTransport

        # Made anew for each request, so that a token that was renewed meanwhile is seen.
        return HttpTransport(
            endpoint.url,
            headers=lambda: credentials(endpoint, job.env.environ),
            limits=limits,
            remark=job.explain,
            clock=job.env.clock,
        )
    from mcptask.protocol.transports.stdio import StdioTransport

    return StdioTransport(
        endpoint.command,
        cwd=endpoint.cwd,
        env=endpoint.env,
        environ=job.env.environ,
        limits=limits,
        remark=job.explain,
        on_stderr=lambda line: job.explain(f"{endpoint.name}: {line}"),
    )
