"""The last words of ended tasks, so that `get` answers when the server has forgotten them, or is away.

One JSON file a task, 0600, in a folder beside the state file. Nothing here raises: `save` says whether it
could, a missing or damaged file is a miss.
"""

import json
from pathlib import Path
from typing import Any

from mcptask.origin import Origin
from mcptask.protocol.task import Task
from mcptask.store import atomic, jsonfiles

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
        document = {"taskId": task.task_id, "task": dict(task.raw)}
        file = self._file(origin, task.task_id)
        return jsonfiles.keep(file, document, largest=LARGEST, kept=KEPT, durable=True)

    def load(self, origin: Origin, task_id: str) -> dict[str, Any] | None:
        """The server's object as `save` got it, or None."""
        document = jsonfiles.read_object(self._file(origin, task_id), LARGEST)
        if document is None or document.get("taskId") != task_id:
            return None
        task = document.get("task")
        return task if isinstance(task, dict) else None

    def forget(self, origin: Origin, task_id: str) -> None:
        atomic.remove(self._file(origin, task_id))

    def _file(self, origin: Origin, task_id: str) -> Path:
        return jsonfiles.file_of(self.folder, json.dumps([origin.place, task_id]))
