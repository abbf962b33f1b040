"""What each server speaks and how that is known, from one command to the next (A1.5). Nothing here raises."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

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
        if self.folder is None:
            return None
        file = jsonfiles.file_of(self.folder, place)
        document = jsonfiles.read_object(file, LARGEST) or {}
        try:
            fields = {name: document[name] for name in _KINDS}
            found = Remembered(Spoken(**fields), datetime.fromisoformat(document["checkedAt"]))
            whole = all(isinstance(fields[name], kind) for name, kind in _KINDS.items())
            return found if whole and _holds(found, now) else None
        except (KeyError, ValueError, TypeError):
            return None

    def save(self, place: str, spoken: Spoken, now: datetime) -> None:
        """Keeps it as of now. Where it cannot be kept, what was kept before goes."""
        if self.folder is None:
            return
        document = asdict(spoken) | {"checkedAt": now.isoformat()}
        file = jsonfiles.file_of(self.folder, place)
        jsonfiles.keep(file, document, largest=LARGEST, kept=KEPT)


def _holds(found: Remembered, now: datetime) -> bool:
    """From its moment on, for as long as that kind of knowledge is good."""
    longest = LONGEST_OLDER if found.spoken.older else LONGEST_MODERN
    return timedelta(0) <= now - found.since < longest
