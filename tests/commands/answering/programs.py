"""Programs for `--answer-with`, and what they are asked here."""

import asyncio
import io
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from mcptask.commands._job import Job
from mcptask.commands._options import Options
from mcptask.commands.answering.program import from_program
from mcptask.commands.answering.who import Who
from mcptask.env import Env
from mcptask.protocol.questions import Question
from tests.e2e.running import PATIENCE

SAMPLING = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "first"}},
            {"role": "user", "content": [{"type": "text", "text": "Sum it up,\n please\x1b[2J"}]},
        ],
        "maxTokens": 400,
    },
}
FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Which room?",
        "requestedSchema": {
            "type": "object",
            "properties": {"room": {"type": "string"}},
            "required": ["room"],
        },
    },
}
GOOD = {"role": "assistant", "content": {"type": "text", "text": "short"}, "model": "m-1"}
WHO = Who("studio", "reflow_month", "7", "7")


class Asked:
    """A run whose `--answer-with` is a Python program; its argument is the name of `notes`."""

    def __init__(self, folder: Path, source: str, **options: Any) -> None:
        script = folder / "answer.py"
        script.write_text(source)
        self.notes = folder / "notes"
        words = [sys.executable, str(script), str(self.notes)]
        self.err = io.StringIO()
        self.job = Job(
            Env(io.StringIO(), io.StringIO(), self.err, os.environ, folder),
            Options(answer_with=shlex.join(words), **options),
        )
        self.source = from_program(self.job)

    def __call__(self, request: Any = SAMPLING, who: Who = WHO, key: str = "summary") -> Any:
        return asyncio.run(asyncio.wait_for(self.answer(request, who, key), PATIENCE))

    async def answer(self, request: Any = SAMPLING, who: Who = WHO, key: str = "summary") -> Any:
        return await self.source(who, Question(key, request))

    @property
    def pids(self) -> list[int]:
        return [int(each) for each in self.notes.read_text().split()] if self.notes.exists() else []


def says(value: Any) -> str:
    return f"print({json.dumps(value)!r})"
