"""A small disk, and how to fill it."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TMPFS_KIB = 64


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A small disk at this folder. OSError where none can be had."""
    folder.mkdir()
    options = f"size={TMPFS_KIB}k,mode=700"
    made = ["mount", "-t", "tmpfs", "-o", options, "drill", str(folder)]
    if subprocess.run(made, capture_output=True).returncode != 0:
        raise OSError("no tmpfs can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True)


def fill(filler: Path, left_kib: int) -> None:
    """Leaves this much room on the disk that `filler` is on; room comes back with its removal."""
    with suppress(OSError), open(filler, "wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))
    with open(filler, "r+b") as stream:
        stream.truncate(max(filler.stat().st_size - left_kib * 1024, 0))
