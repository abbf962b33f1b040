"""A server of the config, or the demo, as an endpoint. Contacts nothing."""

import sys
from collections.abc import Mapping

from mcptask.errors import ConfigError
from mcptask.servers import web
from mcptask.servers.config import DEMO, Config, ServerConfig
from mcptask.servers.credentials import AUTHORIZATION, check_config_headers, without
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.expansion import expand, home, literal
from mcptask.servers.trusting import configured_trust

# -P: without it, `-m` would first look into the current folder, and run a `mcptask` found there.
DEMO_COMMAND = (sys.executable, "-P", "-m", "mcptask.demo")
# Where this Python has its modules from, `mcptask` perhaps: the demo runs on the same.
_OF_PYTHON = ("PYTHONHOME", "PYTHONPATH", "PYTHONUSERBASE")


def named(name: str, config: Config, environ: Mapping[str, str], source: str) -> Endpoint:
    """The demo or a server of the config, its `${VAR}`s replaced (headers: at each call)."""
    if name == DEMO:
        env = _python_variables(environ)
        return Endpoint(name=DEMO, server=DEMO, command=DEMO_COMMAND, env=env, source=source)
    server = config.servers[name]
    if server.url is not None:
        return _configured_url(server, server.url, config, environ, source)
    return _configured_command(server, config, environ, source)


def _python_variables(environ: Mapping[str, str]) -> dict[str, str]:
    heeded = () if sys.flags.ignore_environment else _OF_PYTHON  # `python -E` and -I heed none
    return {name: environ[name] for name in heeded if environ.get(name)}


def _configured_url(
    server: ServerConfig, written: str, config: Config, environ: Mapping[str, str], source: str
) -> Endpoint:
    where = config.place(server.name, "url")
    address = web.address(expand(written, environ, where), where, ConfigError)
    check_config_headers(server.headers, config.place(server.name, "headers"))
    return Endpoint(
        name=server.name,
        server=server.name,
        url=address.url,
        headers={**without(login(address), server.headers), **server.headers},
        bearer_env=server.bearer_env,
        trust=configured_trust(server, address.url, config, environ),
        protocol=server.protocol,
        max_message=server.max_message,
        max_tools=server.max_tools,
        waits=server.waits,
        source=source,
        written=written,
    )


def _configured_command(
    server: ServerConfig, config: Config, environ: Mapping[str, str], source: str
) -> Endpoint:
    def value(text: str, key: str) -> str:
        return expand(text, environ, config.place(server.name, key))

    command = tuple(value(word, "command") for word in server.command)
    if not command[0]:
        raise ConfigError(f"{config.place(server.name, 'command')}: names no program")
    program = home(command[0], environ)
    cwd = home(value(server.cwd, "cwd"), environ) if server.cwd is not None else None
    # In the folder of the config file, if it says no other: the same from everywhere, and nothing of the
    # current folder runs. `npx NAME` there would be node_modules/.bin/NAME of whatever was checked out.
    if config.path is not None:
        cwd = str(config.path.parent.absolute() / (cwd or ""))
    return Endpoint(
        name=server.name,
        server=server.name,
        command=(program, *command[1:]),
        cwd=cwd,
        env={key: value(text, f"env.{key}") for key, text in server.env.items()},
        protocol=server.protocol,
        max_message=server.max_message,
        max_tools=server.max_tools,
        waits=server.waits,
        source=source,
        written=server.command,
    )


def login(address: web.Address) -> dict[str, str]:
    return {AUTHORIZATION: literal(address.authorization)} if address.authorization else {}
