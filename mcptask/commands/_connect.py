"""From an endpoint to a session: the one place that picks a transport and a generation."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mcptask.commands._eras import recall
from mcptask.commands._exposure import warn_of_exposure
from mcptask.commands._flood import bounded
from mcptask.commands._job import Job
from mcptask.commands._renewal import Credentials
from mcptask.commands._tracing import TraceFile
from mcptask.errors import UsageError
from mcptask.protocol.exchange import ANSWER_LIMIT
from mcptask.protocol.generations.revisions import NEWEST, REVISIONS
from mcptask.protocol.generations.tool_pages import MAX_TOOLS
from mcptask.protocol.generations.v2026_07_28 import CALL_WAIT, CAPABILITIES, GET_WAIT
from mcptask.protocol.negotiation import PROBE_WAIT, unremembered
from mcptask.protocol.session import Session
from mcptask.protocol.transports.base import Limits, Transport
from mcptask.protocol.transports.discreet import Discreet
from mcptask.servers.endpoint import Endpoint

if TYPE_CHECKING:
    from mcptask.protocol.transports.trace import Trace

# What a server may want of a client, and the option that would serve it.
OFFERS = {"sampling": "--answer-with COMMAND", "roots": "--root PATH"}


def open_session(
    job: Job, endpoint: Endpoint, *, known: bool = False, trace: TraceFile | None = None
) -> Session:
    """A session with the server, for `Sessions` to close. `known`: it spoke this revision before.

    UsageError where the record of a task is all that is known of its server, and not enough; and for a
    revision that mcptask does not speak.
    """
    if endpoint.lacks_secret:
        raise UsageError(
            f"the command of the task's server had a secret, which is not stored: {endpoint.address}",
            hint='give the whole command again: --stdio "COMMAND"',
        )
    version, forced = _revision(job, endpoint)
    memory, learned = (
        (None, unremembered) if forced else recall(job, endpoint, version, stored=known)
    )
    waits = endpoint.waits
    limit = waits.answer_timeout
    return Session(
        _transport(job, endpoint, trace),
        REVISIONS[version](
            _capabilities(job),
            offers=OFFERS,
            call_wait=min(waits.timeout or CALL_WAIT, limit or CALL_WAIT),
            get_wait=min(waits.timeout or GET_WAIT, limit or GET_WAIT),
            max_tools=job.options.max_tools or endpoint.max_tools or MAX_TOOLS,
        ),
        clock=job.env.clock,
        greet=not endpoint.is_http,
        memory=memory,
        forced=forced,
        learned=learned,
        probe_wait=waits.probe_timeout or PROBE_WAIT,
        answer_limit=limit or max(ANSWER_LIMIT, waits.timeout or 0.0),
    )


def _capabilities(job: Job) -> Mapping[str, Any]:
    """What this run can really serve (A2.3): beside the questions, what the user supplies for it."""
    supplied = {"sampling": job.options.answer_with, "roots": job.options.root}
    return {**CAPABILITIES, **{name: {} for name, given in supplied.items() if given}}


def _revision(job: Job, endpoint: Endpoint) -> tuple[str, bool]:
    """The revision to speak, and whether somebody has said so: then the server is not asked."""
    version = job.options.protocol or endpoint.protocol
    if version is None:
        return NEWEST, False
    where = "--protocol" if job.options.protocol else f"the config of {endpoint.name}"
    if version not in REVISIONS:
        raise UsageError(
            f"{where}: mcptask does not speak MCP {version}",
            hint=f"it speaks {', '.join(REVISIONS)}",
        )
    job.explain(f"{endpoint.name} is taken to speak MCP {version}: {where} says so")
    return version, True


def _transport(job: Job, endpoint: Endpoint, trace: TraceFile | None) -> Transport:
    credentials = Credentials(job, endpoint)
    secrets = credentials.secrets

    def explain(text: str) -> None:
        if job.options.verbose:  # a child may write much that nobody reads
            job.explain(secrets().hide(text))

    waits, usual = endpoint.waits, Limits()
    limits = Limits(
        connect=waits.connect_timeout or usual.connect,
        first_byte=waits.timeout or usual.first_byte,
        message_bytes=job.options.max_message or endpoint.max_message or usual.message_bytes,
    )
    told = trace.of(endpoint.name, secrets) if trace else None
    if endpoint.is_http:
        over_http = _over_http(job, endpoint, credentials, limits, explain, told)
        return Discreet(over_http, secrets)
    return Discreet(_over_stdio(job, endpoint, limits, explain, told), secrets)


def _over_http(
    job: Job,
    endpoint: Endpoint,
    credentials: Credentials,
    limits: Limits,
    explain: Callable[[str], None],
    trace: "Trace | None",
) -> Transport:
    from mcptask.protocol.transports.http import HttpTransport
    from mcptask.protocol.transports.renewing import Renewing

    assert endpoint.url is not None
    warn_of_exposure(job, endpoint)
    transport = HttpTransport(
        endpoint.url,
        headers=credentials.headers,
        limits=limits,
        remark=explain,
        clock=job.env.clock,
        trace=trace,
        environ=job.env.environ,
        trust=endpoint.trust,
    )
    return Renewing(transport, credentials.headers, credentials.renew)


def _over_stdio(
    job: Job,
    endpoint: Endpoint,
    limits: Limits,
    explain: Callable[[str], None],
    trace: "Trace | None",
) -> Transport:
    from mcptask.protocol.transports.stdio import GRACE, StdioTransport

    return StdioTransport(
        endpoint.command,
        cwd=endpoint.cwd,
        env=endpoint.env,
        environ=job.env.environ,
        limits=limits,
        remark=explain,
        on_stderr=bounded(lambda line: explain(f"{endpoint.name}: {line}"), job.env.clock),
        clock=job.env.clock,
        trace=trace,
        grace=endpoint.waits.stop_timeout or GRACE,
    )
