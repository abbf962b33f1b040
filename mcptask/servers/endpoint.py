"""One server, ready to be contacted: what a transport needs, and what may be shown of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcptask.origin import Origin
from mcptask.protocol.transports.redact import shown_command
from mcptask.protocol.transports.trust import Trust
from mcptask.servers import web
from mcptask.servers.waits import Waits


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Either `url` (HTTP) or `command` (stdio). What may hold a secret stays out of the repr.

    `name` is for people: the config name, `demo`, a host[:port] or a program. `server` is the key
    that finds it again: a config name or `demo`; None for one given by hand. `env` comes on top of
    the inherited environment. `headers` still hold `${VAR}`: `credentials` expands them at each
    call. `protocol` is a revision to take for granted. `source` says in one sentence which rule chose it.
    """

    name: str
    source: str
    server: str | None = None
    url: str | None = field(default=None, repr=False)
    command: tuple[str, ...] = field(default=(), repr=False)
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    bearer_env: str | None = field(default=None, repr=False)
    protocol: str | None = None
    max_message: int | None = None  # bytes
    max_tools: int | None = None
    trust: Trust = field(default_factory=Trust)
    waits: Waits = field(default_factory=Waits)
    # Made from a record whose command had a secret: it can be shown, and not be run.
    lacks_secret: bool = False
    # The address as the config writes it, where that hides more than the real one would.
    written: str | tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def is_http(self) -> bool:
        return self.url is not None

    @property
    def over_tls(self) -> bool:
        return (self.url or "").lower().startswith("https:")

    @property
    def key(self) -> tuple[str | None, str | None, tuple[str, ...], str | None]:
        """What makes two endpoints one conversation. Never shown: it may hold secrets."""
        return (self.server, self.url, self.command, self.cwd)

    @property
    def address(self) -> str:
        """For display and records: no user-info, no query, nothing that came out of a `${VAR}`."""
        if self.url is not None:
            return web.shown(self.url, self.written if isinstance(self.written, str) else None)
        return shown_command(self.written if isinstance(self.written, tuple) else self.command)


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


def not_stored(endpoint: Endpoint) -> str | None:
    """A warning where `origin_of` leaves out what a later command needs, None where it is whole."""
    if endpoint.server is not None:
        return None
    if "?" in (endpoint.url or ""):
        return "the query of the URL is not stored: give -s URL again to come back"
    if origin_of(endpoint).lacks_secret:
        return f"a secret is not stored: give --stdio again to come back ({endpoint.address})"
    return None
