"""Who else could have written a file that decides what we do: its owner, its mode, and the folder it lies in.

The config file and the state file both name programs to run, so one that others can change is refused. Reads
no file; nothing on Windows, where access lists say what modes say here.
"""

import os
import shlex
import stat
from contextlib import suppress
from pathlib import Path

ROOT = 0  # could change any file anyway

OTHERS = stat.S_IWOTH
GROUP = stat.S_IWGRP


def objection(path: Path, status: os.stat_result | None) -> tuple[str, str] | None:
    """Why the file at `path`, no symbolic link, is not to be used, and the line that ends it; None for a file
    that is only ours. `status` is the file's, None where there is none: then only its folder counts.
    """
    if os.name == "nt":
        return None
    danger = "could make mcptask run any program"
    if status is not None and status.st_uid not in (os.geteuid(), ROOT):
        return (
            f"{path} is not used: it belongs to another user (uid {status.st_uid}), who {danger}",
            f"make a copy of your own, or: chown {os.geteuid()} {shlex.quote(str(path))}",
        )
    if status is not None and _others_write(status):
        return (
            f"{path} is not used: other users can write it ({_mode(status)}) and {danger}",
            f"chmod go-w {shlex.quote(str(path))}",
        )
    folder = _status(path.parent)
    if folder is not None and not folder.st_mode & stat.S_ISVTX and _others_write(folder):
        return (
            f"{path} is not used: other users can write to its folder ({_mode(folder)}), put another file "
            f"in its place and {danger}",
            f"chmod go-w {shlex.quote(str(path.parent))}",
        )
    return None


def _others_write(status: os.stat_result) -> bool:
    if status.st_mode & OTHERS:
        return True
    return bool(status.st_mode & GROUP) and not _is_private(status.st_gid)


def _is_private(gid: int) -> bool:
    """Is this the group that a user has alone, as Debian's, with its umask of 002?

    One that everybody is in from the start (`users` on some systems) lists no member: it has another name.
    """
    import grp
    import pwd

    with suppress(KeyError, OSError):  # a user or a group without a name
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
        alone = set(group.gr_mem) <= {user.pw_name}
        return user.pw_gid == gid and group.gr_name == user.pw_name and alone
    return False


def _status(folder: Path) -> os.stat_result | None:
    try:
        return os.stat(folder)
    except OSError:
        return None


def _mode(status: os.stat_result) -> str:
    return f"mode {stat.S_IMODE(status.st_mode):04o}"
