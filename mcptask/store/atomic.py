"""Files that are there whole or not at all, private to the user. Raises OSError: callers map it.

Nothing here knows what it writes.
"""

import os
import re
import time
from contextlib import suppress
from pathlib import Path

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
    """The folder, and those above it that are missing, each 0700: `mkdir -p` would use the umask above."""
    if folder.is_dir() or folder == folder.parent:
        return
    make_folder(folder.parent, durable=durable)
    folder.mkdir(FOLDER_MODE, exist_ok=True)
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


def keep_newest(folder: Path, suffix: str, count: int) -> None:
    """Removes the files with this suffix that are older than the newest `count`."""
    with suppress(OSError):  # another process may be at it too
        files = [file for file in folder.iterdir() if file.suffix == suffix]
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
