"""Files that are there whole or not at all, private to the user. Raises OSError: callers map it.

Nothing here knows what it writes.
"""

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

FILE_MODE = 0o600
FOLDER_MODE = 0o700

# Windows refuses to replace a file that a reader has open: how often we try, and seconds between.
SHARING_TRIES, SHARING_PAUSE = 20, 0.05

# What `write` calls a file until it is whole, and after how many seconds nobody can still be writing it: a
# process that was killed has left it. A write takes milliseconds; a stopped process gets the time it needs.
_TEMPORARY = re.compile(r"\.(.+)\.[a-z0-9_]{8}\.tmp")
LEFT_AFTER = 3600.0


def write(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replaces the file at `path`, mode 0600, its folder made where it is missing.

    `durable`: on the disk before this returns, the folder's entry too. After an error the old file is
    untouched and no temporary file is left.
    """
    import tempfile

    make_folder(path.parent, durable=durable)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            temporary.chmod(FILE_MODE)  # mkstemp leaves the owner's bits to the umask
            if durable:
                os.fsync(stream.fileno())
        replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise
    if durable:
        sync_folder(path.parent)


def make_folder(folder: Path, *, durable: bool = False) -> None:
    """The folder, and those above it that are missing, each 0700 whatever the umask says."""
    if folder.is_dir() or folder == folder.parent:
        return
    make_folder(folder.parent, durable=durable)
    try:
        folder.mkdir(FOLDER_MODE)
    except FileExistsError:
        if not folder.is_dir():
            raise
    else:
        folder.chmod(FOLDER_MODE)  # mkdir leaves the owner's bits to the umask
        if durable:  # no file is on the disk before its folders are
            sync_folder(folder.parent)


def replace(source: Path, target: Path) -> None:
    """`os.replace`, tried again while Windows says that somebody has the target open."""
    for _ in range(SHARING_TRIES - 1):
        try:
            return os.replace(source, target)
        except PermissionError as error:
            if not hasattr(error, "winerror"):
                raise
            time.sleep(SHARING_PAUSE)
    return os.replace(source, target)


def remove(path: Path) -> None:
    """Gone, or as gone as it can be: for cleaning up, where a second error would hide the first."""
    with suppress(OSError):
        os.unlink(path)


def opened(path: Path) -> BinaryIO:
    """The file, to be read. A pipe that somebody has put there does not hold us up: it reads as empty."""
    at_once = getattr(os, "O_NONBLOCK", 0)
    return open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once))


def append_to(path: Path, flags: int = 0) -> int:
    """A descriptor that only appends. A file that this makes is 0600, whatever the umask says."""
    flags |= os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        number = os.open(path, flags | os.O_EXCL, FILE_MODE)
    except FileExistsError:  # or a link to one that is yet to be made
        return os.open(path, flags, FILE_MODE)
    path.chmod(FILE_MODE)
    return number


def keep_newest(folder: Path, ours: re.Pattern[str], count: int) -> None:
    """Removes the files with names of ours that are older than the newest `count`: people keep things
    where they like.
    """
    with suppress(OSError):  # another process may be at it too
        files = [file for file in folder.iterdir() if ours.fullmatch(file.name)]
        files.sort(key=lambda file: file.stat().st_mtime_ns, reverse=True)
        for file in files[count:]:
            file.unlink()


def sweep(folder: Path, of: re.Pattern[str]) -> None:
    """Removes what processes that were killed while they wrote left of files whose names match `of`.

    Only what `write` makes, and nothing younger than LEFT_AFTER: it may be being written.
    """
    with suppress(OSError):
        with os.scandir(folder) as entries:
            ours = [each for each in entries if _is_temporary(each.name, of)]
        for each in ours:
            if time.time() - each.stat(follow_symlinks=False).st_mtime > LEFT_AFTER:
                os.unlink(each)


def _is_temporary(name: str, of: re.Pattern[str]) -> bool:
    found = _TEMPORARY.fullmatch(name)
    return found is not None and of.fullmatch(found[1]) is not None


def sync_folder(folder: Path) -> None:
    """Puts a rename on the disk. Some systems cannot open or sync a folder: the rename is done anyway."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
