"""The options that lead back to a server, for every command that is shown to people."""

from mcptask.commands._job import Job
from mcptask.render.answer_line import shell
from mcptask.servers.endpoint import Endpoint, not_stored


def where(job: Job, endpoint: Endpoint) -> str:
    """`-s https://… --bearer-env STUDIO_TOKEN`: what names this server on a command line, and the login as it
    was given there. No secret: the place of one is held by `…`, or by words.
    """
    return " ".join([_server(job, endpoint), *_login(job)])


def where_unless_stored(job: Job, endpoint: Endpoint, ref: int) -> str:
    """The same for a task that is not stored here (its number is 0); else the number says it all but for whom
    to trust, which nothing stores but the config.
    """
    return " ".join(_trust(job)) if ref else where(job, endpoint)


def _server(job: Job, endpoint: Endpoint) -> str:
    if endpoint.server is not None:
        return f"-s {shell(endpoint.server)}"
    if endpoint.is_http:
        given = {text.partition(":")[0].strip().lower() for text in job.options.header}
        of_the_url = {name.lower() for name in endpoint.headers} - given  # made of its user
        hidden = of_the_url or not_stored(endpoint) is not None
        return "with the same --server" if hidden else f"-s {shell(endpoint.address)}"
    hidden = not_stored(endpoint) is not None
    return "with the same --stdio" if hidden else f"--stdio {shell(endpoint.address)}"


def _login(job: Job) -> list[str]:
    variable = job.options.bearer_env
    return [
        *([f"--bearer-env {shell(variable)}"] if variable else []),
        *(["-H …"] if job.options.header else []),
        *_trust(job),
    ]


def _trust(job: Job) -> list[str]:
    file = job.options.ca_cert
    return [
        *([f"--ca-cert {shell(file)}"] if file else []),
        *(["--insecure"] if job.options.insecure else []),
    ]
