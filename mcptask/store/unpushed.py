"""Which servers do not tell of changes by themselves, and why, from one command to the next (A11).

Nothing here raises.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from mcptask.store import jsonfiles

# A server may learn it any day, and to ask it costs one request.
LONGEST = timedelta(days=1)

# One server's file, in bytes as written, and how many servers.
LARGEST = 4 * 1024
KEPT = 500


class Unpushed(NamedTuple):
    """Why a server does not push, a clause about it, and when that was found out."""

    why: str
    since: datetime


class UnpushedCache:
    """`folder` is `paths.cache_folder`'s; without one nothing is kept. A place is what tells servers apart:
    it goes into a hash and is stored nowhere.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = None if folder is None else folder / "unpushed"

    def load(self, place: str, now: datetime) -> Unpushed | None:
        """As found out within `LONGEST`; None where that is not known."""
        found = jsonfiles.read_checked(self.folder, place, now, largest=LARGEST)
        if found is None:
            return None
        document, since, age = found
        known = "why" in document and age < LONGEST
        return Unpushed(str(document["why"]), since) if known else None

    def save(self, place: str, why: str, now: datetime) -> None:
        document = {"why": why}
        jsonfiles.keep_checked(self.folder, place, document, now, largest=LARGEST, kept=KEPT)
