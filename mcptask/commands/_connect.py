"""From an endpoint to a session: the one place that picks a transport and a generation."""

from dataclasses import replace

from mcptask.commands._job import Job
from mcptask.errors import UsageError
from mcptask.protocol.exchange import ANSWER_LIMIT
from mcptask.protocol.generations.v2026_07_28 import CALL_WAIT, PROBE_WAIT, V20260728
from mcptask.protocol.session import Session
from mcptask.protocol.transports.base import Limits, Transport
from mcptask.servers.credentials import credentials
from mcptask.servers.endpoint import Endpoint


def open_session(job: Job, endpoint: Endpoint, *, known: bool = False) -> Session:
    """A session with the server, for `Sessions` to close. `known`: it spoke this revision before.

    UsageError where the record of a task is all that is known of its server, and not enough.
    """
    if endpoint.lacks_secret:
        raise UsageError(
            f"the command of the task's server had a secret, which is not stored: {endpoint.address}",
            hint='give the whole command again: --stdio "COMMAND"',
        )
    timeout = endpoint.timeout
    return Session(
        _transport(job, endpoint),
        V20260728(probe_wait=timeout or PROBE_WAIT, call_wait=timeout or CALL_WAIT),
        clock=job.env.clock,
        greet=not endpoint.is_http,
        known=known and endpoint.is_http,
        answer_limit=max(ANSWER_LIMIT, timeout or 0.0),
    )


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
