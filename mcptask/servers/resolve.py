"""Which server a command talks to: the order of precedence. Contacts nothing.

resolve             --server or --stdio › MCPTASK_SERVER › the config's default › its only server
endpoint_of_record  --server or --stdio › what the record of the task says
renewed             an endpoint with the credentials that the config has for it now
address_of_record   what may be shown of the server of a record, whatever has become of it
known               the rows of `mcptask servers`
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from mcptask.errors import McptaskError, UsageError
from mcptask.nearest import nearest
from mcptask.origin import Origin
from mcptask.protocol.transports.redact import shown_command
from mcptask.servers import command_line, web
from mcptask.servers.config import DEMO, Config, ServerConfig
from mcptask.servers.configured import DEMO_COMMAND, login, named
from mcptask.servers.credentials import (
    AUTHORIZATION,
    check_variable,
    parse_headers,
    without,
)
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.expansion import home, literal
from mcptask.servers.trusting import with_trust

VARIABLE = "MCPTASK_SERVER"
TRY_DEMO = "mcptask call reflow_month --wait -s demo"


@dataclass(frozen=True)
class Selection:
    """What the options of the group REACH say; `--header` is repeated."""

    server: str | None = None
    stdio: str | None = field(default=None, repr=False)
    headers: tuple[str, ...] = field(default=(), repr=False)
    bearer_env: str | None = field(default=None, repr=False)
    ca_cert: str | None = None  # absolute
    insecure: bool = False

    @property
    def explicit(self) -> bool:
        return self.server is not None or self.stdio is not None


@dataclass(frozen=True)
class Known:
    """A row of `mcptask servers`. `source` is the config file, or `built in`."""

    name: str
    address: str
    source: str
    default: bool


def resolve(
    selection: Selection, config: Config, environ: Mapping[str, str], *, cwd: str | None = None
) -> Endpoint:
    """The endpoint that the first matching rule gives, with the credentials of `selection` added.

    `cwd` is the folder to run (and record) a `--stdio` command in. Raises UsageError: both options,
    an unknown name, no server at all, a bad URL, header or command; ConfigError for the config's.
    """
    endpoint = _chosen(selection, config, environ, cwd)
    if not endpoint.is_http and (selection.headers or selection.bearer_env):
        raise UsageError(
            f"{endpoint.name} runs over stdio: --header and --bearer-env only go with a URL",
            hint="a program is given its secrets by the environment",
        )
    return with_trust(_with_credentials(endpoint, selection), selection)


def _chosen(
    selection: Selection, config: Config, environ: Mapping[str, str], cwd: str | None
) -> Endpoint:
    if selection.server is not None and selection.stdio is not None:
        raise UsageError("--server and --stdio exclude each other")
    if selection.stdio is not None:
        return _by_command(_words(selection.stdio), cwd, environ, "--stdio gives the command")
    if selection.server is not None:
        return _by_name_or_url(selection.server, config, environ, "--server")
    if environ.get(VARIABLE):
        return _by_name_or_url(environ[VARIABLE], config, environ, VARIABLE)
    if config.default is not None:
        source = f"{config.default} is the default in {config.path}"
        return named(config.default, config, environ, source)
    if len(config.servers) == 1:
        (name,) = config.servers
        return named(name, config, environ, f"{name} is the only server in {config.path}")
    configured = f"configured: {', '.join(config.servers)}" if config.servers else "none configured"
    raise UsageError(f"no server is named, and there is no default ({configured})", hint=TRY_DEMO)


def endpoint_of_record(
    origin: Origin, selection: Selection, config: Config, environ: Mapping[str, str]
) -> Endpoint:
    """The endpoint of a stored task, with the credentials of `selection` added.

    `--server` and `--stdio` override the record; MCPTASK_SERVER and the default do not. Raises as
    `resolve` does, and UsageError when the config no longer has the server that the record names.
    """
    if selection.explicit:
        return resolve(selection, config, environ, cwd=origin.cwd)
    endpoint = _recorded(origin, config, environ)
    if endpoint.is_http:
        endpoint = _with_credentials(endpoint, selection)
    return with_trust(endpoint, selection)


def renewed(
    endpoint: Endpoint, selection: Selection, config: Config, environ: Mapping[str, str]
) -> Endpoint:
    """`endpoint`, chosen with `selection` before, with the credentials that `config` has for it by now.

    The same where the config has no word on it: a URL given by hand, the server gone, or another URL in its
    place, which is another server. Raises ConfigError as `resolve` does.
    """
    name = endpoint.server
    if name is None or name not in config.servers:
        return endpoint
    now = named(name, config, environ, endpoint.source)
    if now.url != endpoint.url:
        return endpoint
    now = _with_credentials(now, selection)
    return replace(endpoint, headers=now.headers, bearer_env=now.bearer_env)


def address_of_record(origin: Origin, config: Config, environ: Mapping[str, str]) -> str | None:
    """The `address` of a stored task's endpoint; None where the config can no longer tell it."""
    try:
        return _recorded(origin, config, environ).address
    except McptaskError:
        return None


def _recorded(origin: Origin, config: Config, environ: Mapping[str, str]) -> Endpoint:
    server = origin.server
    if server is not None:
        if server != DEMO and server not in config.servers:
            raise UsageError(
                f"the task was started on {server!r}, which is no longer in {config.path}",
                hint=f"give it as --server URL, or put [servers.{server}] back",
            )
        return named(server, config, environ, f"the record of the task names {server}")
    if origin.url is not None:
        where, source = "the URL in the record of the task", "the record of the task has the URL"
        return replace(_by_url(origin.url, where, source), bearer_env=origin.bearer_env)
    if origin.command:
        source = "the record of the task has the command"
        endpoint = _by_command(origin.command, origin.cwd, environ, source)
        return replace(endpoint, lacks_secret=origin.lacks_secret)
    raise UsageError("the record of the task names no server", hint="give it as --server NAME")


def known(config: Config) -> list[Known]:
    """What can be named with `--server`: the config's own, then the demo. Expands nothing."""
    only = next(iter(config.servers)) if len(config.servers) == 1 else None
    default = config.default or only
    rows = [
        Known(name, _written_address(server), str(config.path), name == default)
        for name, server in config.servers.items()
    ]
    demo = Known(DEMO, shown_command(DEMO_COMMAND), "built in", default == DEMO)
    return [*rows, demo]


def _written_address(server: ServerConfig) -> str:
    return shown_command(server.command) if server.url is None else web.shown(server.url)


def _by_name_or_url(text: str, config: Config, environ: Mapping[str, str], option: str) -> Endpoint:
    if web.is_url(text):
        return _by_url(text, option, f"{option} gives the URL")
    if text == DEMO or text in config.servers:
        return named(text, config, environ, f"{option} names {text}")
    names = (*config.servers, DEMO)
    hint = nearest(text, names)
    if hint is None and any(mark in text for mark in ".:/"):
        hint = "a URL starts with http:// or https://; a command goes with --stdio"
    # A token pasted in the wrong place, or a password before an `@`, must not come back on the screen.
    shown = f"…@{text.rpartition('@')[2]}" if "@" in text else text
    raise UsageError(
        f"{option}: no server {shown[:60]!r} is configured; known: {', '.join(names)}", hint=hint
    )


def _by_url(text: str, where: str, source: str) -> Endpoint:
    address = web.address(text, where)
    return Endpoint(name=address.host, url=address.url, headers=login(address), source=source)


def _by_command(
    words: tuple[str, ...], cwd: str | None, environ: Mapping[str, str], source: str
) -> Endpoint:
    command = (home(words[0], environ), *words[1:])
    name = os.path.basename(command[0]) or command[0]
    return Endpoint(name=name, command=command, cwd=cwd, source=source)


def _words(text: str) -> tuple[str, ...]:
    try:
        words = command_line.split(text)
    except ValueError as error:
        raise UsageError(f"--stdio cannot be split into words: {error}") from None
    if not words or not words[0] or "\0" in text:
        raise UsageError("--stdio names no program", hint='--stdio "COMMAND ARGS"')
    return words


def _with_credentials(endpoint: Endpoint, selection: Selection) -> Endpoint:
    """The selection's own come last and win; two for the same header are refused."""
    given = parse_headers(selection.headers)
    bearer_env = endpoint.bearer_env
    if selection.bearer_env is not None:
        bearer_env = check_variable(selection.bearer_env)
    if AUTHORIZATION.lower() in (name.lower() for name in given):
        if selection.bearer_env is not None:
            raise UsageError("--header Authorization and --bearer-env exclude each other")
        bearer_env = None
    headers = {
        **without(endpoint.headers, given),
        **{name: literal(value) for name, value in given.items()},
    }
    return replace(endpoint, headers=headers, bearer_env=bearer_env)
