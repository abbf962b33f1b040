"""Small JSON files that may be lost: that costs a request. Nothing here raises."""

import hashlib
import json
import os
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mcptask.store import atomic
from mcptask.untrusted import objection

_SUFFIX = ".json"
_NAME = re.compile(r"[0-9a-f]{40}\.json")  # as `file_of` makes them
_CHECKED = "checkedAt"


def file_of(folder: Path, name: str) -> Path:
    """A hash: names hold anything, secrets too, and a folder listing should not tell them."""
    return folder / (hashlib.sha256(name.encode(errors="replace")).hexdigest()[:40] + _SUFFIX)


def keep(file: Path, document: dict[str, Any], *, largest: int, kept: int) -> bool:
    """Is it kept now, in at most `largest` bytes, beside the newest of its folder: `kept` files in all?"""
    written = write(file, document, largest=largest)
    if written:
        keep_newest(file.parent, kept)
    return written


def keep_checked(
    folder: Path | None,
    name: str,
    document: dict[str, Any],
    now: datetime,
    *,
    largest: int,
    kept: int,
) -> None:
    """The same for what was found out now, and holds for a while. Without a folder nothing is kept."""
    if folder is not None:
        dated = document | {_CHECKED: now.isoformat()}
        keep(file_of(folder, name), dated, largest=largest, kept=kept)


def read_checked(
    folder: Path | None, name: str, now: datetime, *, largest: int
) -> tuple[dict[str, Any], datetime, timedelta] | None:
    """What `keep_checked` kept, when that was, and how old it is; None for everything else, and for what
    comes from the future: the clock was set back since.
    """
    document = None if folder is None else read_object(file_of(folder, name), largest)
    try:
        since = datetime.fromisoformat((document or {})[_CHECKED])
        age = now - since
    except (KeyError, ValueError, TypeError):
        return None
    return None if document is None or age < timedelta(0) else (document, since, age)


def keep_newest(folder: Path, kept: int) -> None:
    atomic.keep_newest(folder, _NAME, kept)
    atomic.sweep(folder, _NAME)


def write(file: Path, document: dict[str, Any], *, largest: int) -> bool:
    """Is it written now, in at most `largest` bytes?

    Where it cannot be, what was there before goes: better none than one that is out of date.
    """
    try:
        data = json.dumps(document, separators=(",", ":")).encode()
        if len(data) > largest:
            raise ValueError
        atomic.write(file, data, durable=False)
    except (OSError, ValueError, TypeError, RecursionError):
        atomic.remove(file)
        return False
    return True


def read_object(file: Path, largest: int) -> dict[str, Any] | None:
    """The JSON object in a file of at most `largest` bytes; None for everything else, and for what somebody
    else may have written.
    """
    try:
        with atomic.opened(file) as stream:
            if objection(file, os.fstat(stream.fileno())) is not None:
                return None
            data = stream.read(largest + 1)
        document = json.loads(data) if len(data) <= largest else None
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
