"""The last words of ended tasks, so that `get` answers when the server has forgotten them, or is away.

One JSON file a task, 0600, in a folder beside the state file. Nothing here raises: `save_all` says what it
could, a missing or damaged file is a miss.
"""

import json
from collections.abc import Sequence
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

    def save_all(self, ended: Sequence[tuple[Task, Origin]]) -> int:
        """Keeps the servers' own objects of ended tasks, the last KEPT; how many of them could be kept.

        Nobody waits for the disk, for whoever waits for a result has none to lose: what a power cut takes is
        a miss like others.
        """
        written = 0
        for task, origin in ended[-KEPT:]:
            document = {"taskId": task.task_id, "task": dict(task.raw)}
            file = self._file(origin, task.task_id)
            written += jsonfiles.write(file, document, largest=LARGEST)
        if written:  # to look through the folder takes longer than to write one
            jsonfiles.keep_newest(self.folder, KEPT)
        return written

    def load(self, origin: Origin, task_id: str) -> dict[str, Any] | None:
        """The server's object as `save_all` got it, or None."""
        document = jsonfiles.read_object(self._file(origin, task_id), LARGEST)
        if document is None or document.get("taskId") != task_id:
            return None
        task = document.get("task")
        return task if isinstance(task, dict) else None

    def forget(self, origin: Origin, task_id: str) -> None:
        atomic.remove(self._file(origin, task_id))

    def _file(self, origin: Origin, task_id: str) -> Path:
        return jsonfiles.file_of(self.folder, json.dumps([origin.place, task_id]))
