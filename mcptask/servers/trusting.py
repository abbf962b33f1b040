"""Who may vouch for a server: what the config says of it, and what `--ca-cert` and `--insecure` do."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from mcptask.errors import ConfigError, UsageError
from mcptask.protocol.transports.trust import Trust
from mcptask.servers.config import Config, ServerConfig
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.expansion import expand, home


class Chosen(Protocol):
    """What the options say."""

    @property
    def ca_cert(self) -> str | None: ...
    @property
    def insecure(self) -> bool: ...


def configured_trust(
    server: ServerConfig, url: str, config: Config, environ: Mapping[str, str]
) -> Trust:
    """A path is relative to the config's folder. ConfigError where there is no certificate to judge."""
    given = server.ca_cert is not None or server.insecure
    if given and not url.lower().startswith("https:"):
        key = "insecure" if server.insecure else "ca_cert"
        raise ConfigError(
            f"{config.place(server.name, key)}: means nothing here: the URL is not https://"
        )
    if server.ca_cert is None:
        return Trust(insecure=server.insecure)
    path = home(expand(server.ca_cert, environ, config.place(server.name, "ca_cert")), environ)
    base = config.path.parent.absolute() if config.path else ""
    return Trust(ca_cert=os.path.join(base, path))


def with_trust(endpoint: Endpoint, chosen: Chosen) -> Endpoint:
    """The options win over the config. UsageError where they mean nothing."""
    if chosen.ca_cert is not None and chosen.insecure:
        raise UsageError("--ca-cert and --insecure exclude each other")
    if chosen.ca_cert is None and not chosen.insecure:
        return endpoint
    if not endpoint.over_tls:
        option = "--insecure" if chosen.insecure else "--ca-cert"
        why = "is not https://" if endpoint.is_http else "runs over stdio"
        raise UsageError(
            f"{option} means nothing for {endpoint.name}: it {why}, so there is no certificate",
            hint=f"leave {option} out",
        )
    return replace(endpoint, trust=Trust(chosen.ca_cert, chosen.insecure))
