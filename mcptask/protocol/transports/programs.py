"""Where the program is that a command names: on PATH, and never in the current folder unless that is named.

A shell takes an empty or relative entry of PATH for the current folder, and Windows looks there first
without being asked. Neither is done here: a folder that was only unpacked would choose what runs as
`npx`.
"""

import os
from collections.abc import Mapping

NOT_SEARCHED = "an empty or relative entry of PATH is not searched: give its full path"
# What Windows itself takes where PATHEXT is not set.
_EXTENSIONS = ".COM;.EXE;.BAT;.CMD"


def find(name: str, environ: Mapping[str, str], *, windows: bool = os.name == "nt") -> str | None:
    """The absolute path of the program; None where there is none that may be run. A name with a folder in
    it is that file, from the current folder on."""
    named = bool(os.path.dirname(name))
    return _first(name, [""] if named else _folders(environ, windows)[0], environ, windows)


def why_not_found(
    name: str, environ: Mapping[str, str], *, windows: bool = os.name == "nt"
) -> str | None:
    """A hint where a shell would have found it: by an entry of PATH that means the current folder."""
    there = not os.path.dirname(name) and _first(
        name, _folders(environ, windows)[1], environ, windows
    )
    return NOT_SEARCHED if there else None


def absolute_path(environ: Mapping[str, str], *, windows: bool = os.name == "nt") -> str:
    """PATH without what means the current folder, for a child whose searches are not the user's. Never
    empty: that would be the current folder as well."""
    return (";" if windows else ":").join(_folders(environ, windows)[0]) or os.defpath


def _folders(environ: Mapping[str, str], windows: bool) -> tuple[list[str], list[str]]:
    """The entries of PATH: the absolute ones, and the others."""
    path = environ.get("PATH", os.defpath)
    entries = path.split(";" if windows else ":") if path else []
    return (
        [entry for entry in entries if os.path.isabs(entry)],
        [entry for entry in entries if not os.path.isabs(entry)],
    )


def _first(name: str, folders: list[str], environ: Mapping[str, str], windows: bool) -> str | None:
    for folder in folders:
        for spelling in _spellings(name, environ, windows):
            path = os.path.join(folder, spelling)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return os.path.abspath(path)
    return None


def _spellings(name: str, environ: Mapping[str, str], windows: bool) -> list[str]:
    """`npx` is `npx.cmd` on Windows."""
    if not windows:
        return [name]
    endings = [each for each in environ.get("PATHEXT", _EXTENSIONS).split(";") if each]
    if name.lower().endswith(tuple(each.lower() for each in endings)):
        return [name]
    return [name + each for each in endings]
