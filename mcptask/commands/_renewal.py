"""The credentials of one server in one run, and where newer ones come from (A16.1)."""

from collections.abc import Mapping

from mcptask.commands._job import Job
from mcptask.errors import UsageError
from mcptask.protocol.transports.secrets import Secrets, together
from mcptask.servers import config
from mcptask.servers.credentials import credentials
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.resolve import renewed
from mcptask.servers.secrets import secrets_of
from mcptask.store import paths, statefile


class Credentials:
    """Made for one endpoint. Its own token may be another by now, and so it is never used without this."""

    def __init__(self, job: Job, endpoint: Endpoint) -> None:
        self._job = job
        self._endpoint = endpoint
        self._earlier = Secrets()  # of what was refused: a server may still repeat it
        self._config_read: object = None  # which state of the file

    def headers(self) -> dict[str, str]:
        """What goes out with a request. Raises as `servers.credentials` does."""
        return credentials(self._endpoint, self._job.env.environ)

    def secrets(self) -> Secrets:
        return together(self._earlier, secrets_of(self._endpoint, self._job.env.environ))

    def renew(self, refused: Mapping[str, str]) -> bool:
        """Are there others by now than those that were `refused`? The refusal of another request may have
        brought them; else the config is read for them."""
        try:
            self._read_anew()
        except UsageError as error:
            self._job.explain(f"{self._endpoint.name}: no credentials anew: {error.message}")
        return self.headers() != refused

    def _read_anew(self) -> None:
        job = self._job
        path = paths.config_file(job.env, job.options.config)
        mark = statefile.mark(path) if path else None
        if mark is None or mark == self._config_read:  # a thousand tasks may be turned away at once
            return
        self._config_read = mark
        endpoint = renewed(self._endpoint, job.selection, config.read(path), job.env.environ)
        credentials(endpoint, job.env.environ)  # a config that is half written replaces nothing
        job.explain(f"{endpoint.name} refused the credentials: they were read anew")
        self._earlier, self._endpoint = self.secrets(), endpoint
