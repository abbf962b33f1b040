"""Commands for `--exec`, and what they were told."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

# Adds what it was given to a file: a line of JSON for each run.
RECORD = """
import json, os, sys
told = {name: value for name, value in os.environ.items() if name.startswith("MCPTASK_")}
with open(sys.argv[1], "a") as file:
    print(json.dumps({"document": json.load(sys.stdin), "told": told}), file=file)
"""

# Notes that it runs, then waits for `Hook.go_on`.
PATIENT = """
import os, sys, time
with open(sys.argv[1], "a") as file:
    print(1, file=file)
while not os.path.exists(sys.argv[1] + ".go"):
    time.sleep(0.01)
"""
# Notes its process, and does not end of itself.
LASTING = """
import os, sys, time
with open(sys.argv[1], "a") as file:
    print(os.getpid(), file=file)
time.sleep(600)
"""


class Hook:
    """A Python program as the command of `--exec`."""

    def __init__(self, folder: Path, source: str = RECORD) -> None:
        self._record = folder / "told.jsonl"
        self.script = folder / "hook.py"
        self.script.write_text(source)
        self.words = [sys.executable, str(self.script), str(self._record)]

    @property
    def option(self) -> list[str]:
        return ["--exec", shlex.join(self.words)]

    @property
    def runs(self) -> list[Any]:
        if not self._record.exists():
            return []
        return [json.loads(line) for line in self._record.read_text().splitlines()]

    def go_on(self) -> None:
        self._record.with_suffix(".jsonl.go").touch()

    @property
    def outcomes(self) -> list[str]:
        return [run["document"]["outcome"] for run in self.runs]
