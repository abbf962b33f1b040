"""One server, ready to be contacted: what a transport needs, and what may be shown of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcptask.servers import command_line, web


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Either `url` (HTTP) or `command` (stdio). What may hold a secret stays out of the repr.

    `name` is for people: the config name, `demo`, a host[:port] or a program. `server` is the key
    that finds it again: a config name or `demo`; None for one given by hand. `env` comes on top of
    the inherited environment. `headers` still hold `${VAR}`: `credentials` expands them at each
    call. `timeout` is in seconds. `source` says in one sentence which rule chose it.
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
    timeout: float | None = None
    # The address as the config writes it, where that hides more than the real one would.
    written: str | tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def is_http(self) -> bool:
        return self.url is not None

    @property
    def address(self) -> str:
        """For display and records: no user-info, no query, nothing that came out of a `${VAR}`."""
        if self.url is not None:
            return web.shown(self.url, self.written if isinstance(self.written, str) else None)
        return command_line.shown(self.written if isinstance(self.written, tuple) else self.command)
