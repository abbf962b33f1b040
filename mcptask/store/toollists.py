"""What a server's `tools/list` said, kept for as long as the server allows (A7.4). Never raises: a cache.

A server's list may differ from user to user, so unless it is public the key includes who asked: as a
hash, like everything in a file's name here.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mcptask.store import atomic, jsonfiles

# However long a server says that its list holds.
LONGEST = timedelta(hours=24)

# One list as written, in bytes, and how many lists.
LARGEST = 5 * 1024 * 1024
KEPT = 100


def cache_key(address: str, credential: str | None = None) -> str:
    """The key of an endpoint's list. `credential`: whatever tells users apart, where the list is not public.

    Both go into a hash and are stored nowhere.
    """
    return hashlib.sha256(json.dumps([address, credential]).encode()).hexdigest()[:40]


class ToolListCache:
    """`folder` is `paths.cache_folder`'s; without one nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = None if folder is None else folder / "tools"

    def load(self, key: str, now_wall: datetime) -> dict[str, Any] | None:
        """`{"tools": […], "ttlMs": …, "receivedAt": "…"}` while it is fresh, else None."""
        if self.folder is None:
            return None
        document = jsonfiles.read_object(jsonfiles.file_of(self.folder, key), LARGEST)
        return document if document is not None and _fresh(document, now_wall) else None

    def save(
        self, key: str, tools: Sequence[dict[str, Any]], ttl_ms: int | None, received_at: datetime
    ) -> None:
        """Keeps a list; one that may not be kept (no `ttl_ms`, or too large) removes the one before it."""
        if self.folder is None:
            return
        document = {"tools": tools, "ttlMs": ttl_ms, "receivedAt": received_at.isoformat()}
        if not _fresh(document, received_at):
            self.forget(key)
            return
        file = jsonfiles.file_of(self.folder, key)
        jsonfiles.keep(file, document, largest=LARGEST, kept=KEPT)

    def forget(self, key: str) -> None:
        if self.folder is not None:
            atomic.remove(jsonfiles.file_of(self.folder, key))


def _fresh(document: dict[str, Any], now: datetime) -> bool:
    """From its receipt on, for `ttlMs`. One from the future is none: the clock was set back since."""
    ttl_ms = document.get("ttlMs")
    if type(ttl_ms) is not int or ttl_ms <= 0 or not isinstance(document.get("tools"), list):
        return False
    try:
        age = now - datetime.fromisoformat(document["receivedAt"])
        return timedelta(0) <= age < min(timedelta(milliseconds=min(ttl_ms, 10**9)), LONGEST)
    except (KeyError, ValueError, TypeError):
        return False
