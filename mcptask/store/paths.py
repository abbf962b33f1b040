"""Where our files lie: the XDG folders, or what the user named. Only names paths, touches no file."""

import os
import sys
from pathlib import Path

from mcptask.env import Env
from mcptask.errors import StateError

# Systems with folders of their own for this.
NOT_XDG = frozenset({"darwin", "win32"})


def state_file(env: Env, override: str | Path | None = None) -> Path:
    """`override` (from --state), else MCPTASK_STATE, else `tasks.toml` in the user's state folder.

    StateError when nothing says where the home folder is.
    """
    named = _named(env, override, "MCPTASK_STATE")
    if named is not None:
        return named
    folder = _folder(env, "XDG_STATE_HOME", ".local/state", "state")
    if folder is None:
        raise StateError(
            "there is no place for the state file: HOME is not set, or is no absolute path",
            hint="give --state FILE, or set MCPTASK_STATE",
        )
    return folder / "tasks.toml"


def config_file(env: Env, override: str | Path | None = None) -> Path | None:
    """`override` (from --config), else MCPTASK_CONFIG, else `config.toml` in the user's config folder.

    None without a home folder: then there is simply no config.
    """
    named = _named(env, override, "MCPTASK_CONFIG")
    if named is not None:
        return named
    folder = _folder(env, "XDG_CONFIG_HOME", ".config", "config")
    return None if folder is None else folder / "config.toml"


def cache_folder(env: Env) -> Path | None:
    """The user's cache folder for mcptask. None without a home folder: then nothing is cached."""
    return _folder(env, "XDG_CACHE_HOME", ".cache", "cache")


def results_folder(state_path: Path) -> Path:
    """Where the outcomes of the tasks in this state file lie: beside the real file, not beside a link."""
    return resolved(state_path).parent / "results"


def resolved(path: Path) -> Path:
    """The path behind symbolic links, so that replacing the file does not replace a link to it.

    StateError for what can be no path.
    `os.path.realpath` and not `Path.resolve`: this one raises on a link that points at itself.
    """
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a null character in the name
        raise StateError(f"{path} cannot be the name of a file: {error}") from error


def _named(env: Env, override: str | Path | None, variable: str) -> Path | None:
    """A relative path counts from the current folder. An empty one counts as not given."""
    text = str(override or "") or env.environ.get(variable, "")
    return env.cwd / text if text else None


def _folder(env: Env, variable: str, below_home: str, kind: str) -> Path | None:
    """mcptask's folder of one kind. A relative XDG value is invalid and ignored, as XDG demands."""
    value = env.environ.get(variable, "")
    if value and Path(value).is_absolute():
        return Path(value) / "mcptask"
    if sys.platform in NOT_XDG:
        return _platform_folder(kind)
    # What platformdirs would say here, without the 30 ms of importing it.
    return None if env.home is None else env.home / below_home / "mcptask"


def _platform_folder(kind: str) -> Path | None:
    import platformdirs

    folders = {
        "state": platformdirs.user_state_path,
        "config": platformdirs.user_config_path,
        "cache": platformdirs.user_cache_path,
    }
    try:
        folder = folders[kind]("mcptask", appauthor=False)
    except (RuntimeError, OSError):  # no home folder that it could find
        return None
    return (
        folder if folder.is_absolute() else None
    )  # newer ones heed XDG everywhere, relative or not
