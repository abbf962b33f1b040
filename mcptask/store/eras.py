"""What each server speaks and how that is known, from one command to the next (A1.5). Nothing here raises."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from mcptask.protocol.verdict import Spoken
from mcptask.store import jsonfiles

# An older server may be upgraded any day, and then wants to be used; a modern one does not go back.
LONGEST_OLDER = timedelta(days=1)
LONGEST_MODERN = timedelta(days=30)

# One server's file, in bytes as written, and how many servers.
LARGEST = 8 * 1024
KEPT = 500

_KINDS: Mapping[str, type] = {"version": str, "why": str, "older": bool, "silent": bool}


@dataclass(frozen=True, slots=True)
class Remembered:
    """`since`: when the server last gave reason to know it."""

    spoken: Spoken
    since: datetime


class EraCache:
    """`folder` is `paths.cache_folder`'s; without one nothing is kept.

    A place is whatever tells servers apart. It may hold secrets: it goes into a hash and is stored nowhere.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = None if folder is None else folder / "eras"

    def load(self, place: str, now: datetime) -> Remembered | None:
        found = jsonfiles.read_checked(self.folder, place, now, largest=LARGEST)
        if found is None:
            return None
        document, since, age = found
        fields: dict[str, Any] = {name: document.get(name) for name in _KINDS}
        if not all(isinstance(fields[name], kind) for name, kind in _KINDS.items()):
            return None
        spoken = Spoken(**fields)
        longest = LONGEST_OLDER if spoken.older else LONGEST_MODERN
        return Remembered(spoken, since) if age < longest else None

    def save(self, place: str, spoken: Spoken, now: datetime) -> None:
        """Keeps it as of now. Where it cannot be kept, what was kept before goes."""
        jsonfiles.keep_checked(self.folder, place, asdict(spoken), now, largest=LARGEST, kept=KEPT)
