"""`${VAR}` and `~` in values of the config file: replaced when a server is used, not when read.

A message here names variables and places, never a value.
"""

import os
import re
from collections.abc import Mapping

from mcptask.errors import ConfigError

# Only `${` is special; `$${` writes a literal `${`. Any other `$`, in a password say, is itself.
_SPECIAL = re.compile(r"\$\$\{|\$\{([^}]*)\}|\$\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_variable_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def expand(text: str, environ: Mapping[str, str], where: str) -> str:
    """`text` with every `${VAR}` replaced, once: what a variable holds is not expanded again.

    Raises ConfigError when a variable is not set, or when `${…}` holds no plain name; `where` is
    the place to name (`servers.studio.url in FILE`). A variable set to nothing gives nothing.
    """

    def value(match: re.Match[str]) -> str:
        if match[0] == "$${":
            return "${"
        name = match[1]
        if name is None or not is_variable_name(name):
            raise ConfigError(
                f"{where}: a ${{…}} does not hold the name of a variable",
                hint="write ${NAME}, or $${ for a literal ${",
            )
        if name not in environ:
            raise ConfigError(
                f"{where}: the variable {name} is not set", hint=f"export {name}=… and try again"
            )
        return environ[name]

    return _SPECIAL.sub(value, text)


def variables(text: str) -> tuple[str, ...]:
    """The names of the variables that `expand` would replace in `text`."""
    return tuple(name for name in _SPECIAL.findall(text) if is_variable_name(name))


def literal(text: str) -> str:
    """`text` written so that `expand` gives it back unchanged."""
    return text.replace("${", "$${")


def home(path: str, environ: Mapping[str, str]) -> str:
    """`~` and `~/…` by the environment's HOME (USERPROFILE on Windows); anything else as it is, and all of it
    where that is no absolute path: it would mean something else in every folder."""
    folder = environ.get("HOME") or environ.get("USERPROFILE") or ""
    if os.path.isabs(folder) and (path == "~" or path.startswith(("~/", "~\\"))):
        return folder + path[1:]
    return path
