"""What a run lays open on its way to a server, said before anything is sent."""

from urllib.parse import parse_qsl, urlsplit

from mcptask.commands._job import Job
from mcptask.protocol.transports.proxies import is_loopback
from mcptask.protocol.transports.redact import is_secret_name
from mcptask.servers.endpoint import Endpoint


def warn_of_exposure(job: Job, endpoint: Endpoint) -> None:
    """One line for each way in which others may read or change what is said to this server over HTTP."""
    if endpoint.trust.insecure:
        job.warn(
            f"{endpoint.name}: its certificate is not checked (insecure): whoever is on the way can read "
            "and change all that is sent, credentials as well"
        )
    if endpoint.over_tls or is_loopback(urlsplit(endpoint.url or "").hostname or ""):
        return
    if endpoint.bearer_env or any(map(is_secret_name, (*endpoint.headers, *_query(endpoint)))):
        job.warn(
            f"{endpoint.name}: credentials go over http:// in the clear: whoever is on the way can read them"
        )


def _query(endpoint: Endpoint) -> list[str]:
    query = urlsplit(endpoint.url or "").query
    return [name for name, _ in parse_qsl(query, keep_blank_values=True)]
