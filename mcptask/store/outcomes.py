"""The last words of ended tasks, so that `get` answers when the server has forgotten them, or is away.

One JSON file a task, 0600, in a folder beside the state file. Losing one costs a request, so nothing here
raises: `save` says whether it could, a missing or damaged file is a miss.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from mcptask.origin import Origin
from mcptask.protocol.task import Task
from mcptask.store import atomic

# One result, in bytes as written. Larger ones are fetched again, or saved by the user.
LARGEST = 1024 * 1024

# How many are kept: as many as there are ended tasks in the state file.
KEPT = 200


class OutcomeStore:
    """The folder comes from `paths.results_folder`; it is made with the first outcome."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, task: Task, origin: Origin) -> bool:
        """Keeps the server's own object of an ended task. False where it cannot be kept."""
        file = self._file(origin, task.task_id)
        try:
            document = {"taskId": task.task_id, "task": dict(task.raw)}
            data = json.dumps(document, separators=(",", ":")).encode()
            if len(data) > LARGEST:
                raise ValueError
            atomic.write(file, data)
        except (OSError, ValueError, TypeError, RecursionError):
            atomic.remove(file)  # better none than one that is out of date
            return False
        atomic.keep_newest(self.folder, ".json", KEPT)
        return True

    def load(self, origin: Origin, task_id: str) -> dict[str, Any] | None:
        """The server's object as `save` got it, or None."""
        document = read_object(self._file(origin, task_id), LARGEST)
        if document is None or document.get("taskId") != task_id:
            return None
        task = document.get("task")
        return task if isinstance(task, dict) else None

    def forget(self, origin: Origin, task_id: str) -> None:
        atomic.remove(self._file(origin, task_id))

    def _file(self, origin: Origin, task_id: str) -> Path:
        """A hash: ids hold anything, and a folder listing should not tell them."""
        name = json.dumps([origin.place, task_id])
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:40]}.json"


def read_object(file: Path, largest: int) -> dict[str, Any] | None:
    """The JSON object in a file of at most `largest` bytes; None for everything else."""
    try:
        with open(file, "rb") as stream:
            data = stream.read(largest + 1)
        document = json.loads(data) if len(data) <= largest else None
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
