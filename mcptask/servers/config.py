"""Reads the config file into frozen values. Expands nothing, contacts nothing, writes nothing.

The file may name programs to run and where tokens go, so one that other users can change is
refused. No message repeats a value of the file: it may be a secret.
"""

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mcptask.errors import ConfigError
from mcptask.nearest import nearest
from mcptask.servers import bounds, durations, waits
from mcptask.servers.command_line import split
from mcptask.servers.expansion import is_variable_name
from mcptask.servers.waits import Waits
from mcptask.untrusted import objection

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

DEMO = "demo"
# A config of a thousand servers is far below this; /dev/zero is not.
LARGEST_FILE = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """One `[servers.NAME]`: either `url` or `command`. Values hold `${VAR}` still unexpanded.

    What may hold a secret stays out of the repr, and so out of tracebacks.
    """

    name: str
    url: str | None = field(default=None, repr=False)
    command: tuple[str, ...] = field(default=(), repr=False)
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    bearer_env: str | None = field(default=None, repr=False)
    ca_cert: str | None = None
    insecure: bool = False
    protocol: str | None = None
    max_message: int | None = None  # bytes
    max_tools: int | None = None
    waits: Waits = field(default_factory=Waits)


@dataclass(frozen=True, kw_only=True)
class Config:
    """The whole file. `path` is where it was looked for, None when nobody looked."""

    path: Path | None = None
    default: str | None = None
    servers: Mapping[str, ServerConfig] = field(default_factory=dict)
    store_results: bool = True

    def place(self, server: str, key: str) -> str:
        """How messages name a value: `servers.studio.url in /…/config.toml`."""
        return f"servers.{server}.{key} in {self.path}"


# The file as it may be written: what pydantic checks. Plain dataclasses, so that importing this
# module does not import it.
@dataclass
class _ServerTable:
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    url: str | None = None
    command: str | list[str] | None = None
    cwd: str | None = None
    env: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    bearer_env: str | None = None
    ca_cert: str | None = None
    insecure: Literal[True, False] = False  # `bool` would take "yes"
    protocol: str | None = None
    max_message: Any = None
    max_tools: Any = None
    timeout: Any = None  # these five: see `waits.seconds`
    connect_timeout: Any = None
    answer_timeout: Any = None
    probe_timeout: Any = None
    stop_timeout: Any = None


@dataclass
class _File:
    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012

    default: str | None = None
    store_results: Literal[True, False] = True  # `bool` would take "yes"
    servers: dict[str, _ServerTable] = field(default_factory=dict)


_EXPECTED = {
    "default": 'text: default = "NAME"',
    "store_results": "true or false",
    "servers": "tables: [servers.NAME]",
    "url": 'text: url = "https://…"',
    "command": 'a list of texts or one text: command = ["uvx", "studio-mcp"]',
    "cwd": "text",
    "env": 'a table of texts: env = { NAME = "value" }',
    "headers": 'a table of texts: headers = { Name = "value" }',
    "bearer_env": "text: the name of the variable that holds the token",
    "ca_cert": "text: the file with the certificates of the server's CA",
    "insecure": "true or false",
    "protocol": 'text: a revision of MCP, as protocol = "2026-07-28"',
}
_URL_ONLY = ("headers", "bearer_env", "ca_cert", "insecure")
_FILE_KEYS = tuple(_File.__dataclass_fields__)
_SERVER_KEYS = tuple(_ServerTable.__dataclass_fields__)


def read(path: Path | None, *, must_exist: bool = False) -> Config:
    """The config at `path`. A missing file is an empty config, unless it `must_exist` (`--config`).

    None (there is no place for one) is an empty config too. Raises ConfigError, with the file and
    the place in it, for everything that is wrong.
    """
    if path is None:
        return Config()
    text = _text(path, must_exist)
    if not text.strip():
        return Config(path=path)
    import tomllib

    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply") from None
    return _config(path, content) if content else Config(path=path)


def _text(path: Path, must_exist: bool) -> str:
    try:
        # Checked and read through one descriptor, so that the file checked is the file read.
        with open(path, "rb") as file:
            _refuse_what_others_can_write(path, os.fstat(file.fileno()))
            raw = file.read(LARGEST_FILE + 1)
        if len(raw) > LARGEST_FILE:
            raise ConfigError(f"{path} is larger than 1 MiB: not a config file")
        # TOML allows \r\n; tomllib leaves the translation of newlines to its caller.
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        if must_exist:
            raise ConfigError(f"there is no config file {path}") from None
        return ""
    except NotADirectoryError:
        raise ConfigError(f"{path}: a part of this path is no folder") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text") from None
    except ValueError as error:  # a NUL in the path
        raise ConfigError(f"cannot read {str(path)!r}: {error}") from None


def _refuse_what_others_can_write(path: Path, status: os.stat_result) -> None:
    """Pipes and /dev/null pass: they only get here when named by hand."""
    if stat.S_ISREG(status.st_mode):
        refusal = objection(Path(os.path.realpath(path)), status)
        if refusal is not None:
            raise ConfigError(refusal[0], hint=refusal[1])


def _config(path: Path, content: dict[str, Any]) -> Config:
    from pydantic import TypeAdapter, ValidationError

    try:
        file = TypeAdapter(_File).validate_python(content)
    except ValidationError as error:
        raise _refusal(path, error.errors(include_url=False, include_context=False)) from None
    servers = {name: _server(path, name, table) for name, table in file.servers.items()}
    if file.default is not None and file.default not in (*servers, DEMO):
        raise ConfigError(
            f"{path}: default names {file.default!r}, which is not configured",
            hint=nearest(file.default, (*servers, DEMO)),
        )
    return Config(
        path=path, default=file.default, servers=servers, store_results=file.store_results
    )


def _refusal(path: Path, problems: "Sequence[ErrorDetails]") -> ConfigError:
    """The first problem in our words. Pydantic's would repeat the value, and name its own types."""
    where, kind = problems[0]["loc"], problems[0]["type"]
    in_server = len(where) > 2 and where[0] == "servers"
    place = f"[servers.{where[1]}] in {path}" if in_server else str(path)
    key = str(where[2] if in_server else where[0])
    if kind == "unexpected_keyword_argument":
        keys = _SERVER_KEYS if in_server else _FILE_KEYS
        return ConfigError(
            f"{place}: unknown key {key!r}",
            hint=nearest(key, keys) or f"the keys here are {', '.join(keys)}",
        )
    return ConfigError(f"{place}: {key!r} must be {_EXPECTED[key]}")


def _server(path: Path, name: str, table: _ServerTable) -> ServerConfig:
    place = f"[servers.{name}] in {path}"
    for wrong, reason in _objections(name, table):
        if wrong:
            raise ConfigError(f"{place}: {reason}")
    if isinstance(table.command, str):
        try:
            command = split(table.command)
        except ValueError as error:
            raise ConfigError(f"{place}: 'command' cannot be split: {error}") from None
    else:
        command = tuple(table.command or ())
    if table.url is None and not (command and command[0]):
        raise ConfigError(f"{place}: 'command' names no program")
    return ServerConfig(
        name=name,
        url=table.url,
        command=command,
        cwd=table.cwd,
        env=table.env,
        headers=table.headers,
        bearer_env=table.bearer_env,
        ca_cert=table.ca_cert,
        insecure=table.insecure,
        protocol=table.protocol,
        max_message=bounds.size(table.max_message),
        max_tools=bounds.count(table.max_tools),
        waits=Waits(**{key: waits.seconds(getattr(table, key)) for key in waits.KEYS}),
    )


def _objections(name: str, table: _ServerTable) -> list[tuple[bool, str]]:
    http_only = [k for k in (*_URL_ONLY, *waits.URL_ONLY) if getattr(table, k)]
    program_only = [k for k in ("env", "cwd", *waits.COMMAND_ONLY) if getattr(table, k)]
    given = {k: value for k in waits.KEYS if (value := getattr(table, k)) is not None}
    endless = [key for key, value in given.items() if waits.seconds(value) is None]
    texts = [*table.env, *table.env.values(), *(table.command or ()), table.cwd or ""]
    return [
        (name == DEMO, "the name 'demo' is reserved for the built-in demo server"),
        (not _is_server_name(name), "a name has no spaces around it, no '://' and no '-' in front"),
        (table.url is None and table.command is None, "'url' or 'command' is missing"),
        (table.url is not None and table.command is not None, "has both 'url' and 'command'"),
        (table.url is None and bool(http_only), f"{_quoted(http_only)}: only with 'url'"),
        (
            table.url is not None and bool(program_only),
            f"{_quoted(program_only)}: only with 'command'",
        ),
        (
            table.bearer_env is not None and not is_variable_name(table.bearer_env),
            f"'bearer_env' must be {_EXPECTED['bearer_env']}",
        ),
        (
            table.bearer_env is not None and "authorization" in map(str.lower, table.headers),
            "has both 'bearer_env' and 'headers' with Authorization: keep the one that is meant",
        ),
        (_unusable(table.max_message, bounds.size), f"'max_message' must be {bounds.SIZES}"),
        (_unusable(table.max_tools, bounds.count), f"'max_tools' must be {bounds.COUNTS}"),
        (
            table.ca_cert is not None and table.insecure,
            "has both 'ca_cert' and 'insecure': keep the one that is meant",
        ),
        (table.ca_cert == "", f"'ca_cert' must be {_EXPECTED['ca_cert']}"),
        (bool(endless), f"{_quoted(endless)} must be a duration: {durations.FORMS}"),
        (any("\0" in text for text in texts), "a NUL character cannot be given to a program"),
        (any(not key or "=" in key for key in table.env), "'env' has a name that cannot be one"),
    ]


def _unusable(value: Any, read: Callable[[object], int | None]) -> bool:
    return value is not None and read(value) is None


def _is_server_name(name: str) -> bool:
    return (
        bool(name)
        and name == name.strip()
        and name.isprintable()
        and "://" not in name
        and not name.startswith("-")
    )


def _quoted(keys: list[str]) -> str:
    return " and ".join(repr(key) for key in keys)
