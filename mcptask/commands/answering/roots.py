"""`--root PATH`: the folders that are named to a server that asks for roots (A12.14)."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcptask.arguments.whole_responses import ROOTS
from mcptask.commands._job import Job
from mcptask.commands.answering.who import Source, Who
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question, Response


def folders(given: Sequence[str], cwd: str) -> tuple[Path, ...]:
    """What the user named, absolute, each once. UsageError for what is no folder."""
    return tuple(dict.fromkeys(_folder(each, cwd) for each in given))


def _folder(given: str, cwd: str) -> Path:
    path = os.path.join(cwd, os.path.expanduser(given))
    if not given or not os.path.isdir(path):
        exists = given and os.path.exists(path)
        raise UsageError(
            f"--root names a folder, and {given} is none"
            if exists
            else f"--root names a folder that does not exist: {given or 'an empty name'}"
        )
    # A link keeps its name, which is the one that the user knows. But whoever reads `link/..` in a URI drops
    # both, and that may be another folder than the one that it leads to.
    tidy = os.path.normpath(path)
    same = os.path.exists(tidy) and os.path.samefile(tidy, path)
    return Path(tidy if same else os.path.realpath(path))


def from_roots(job: Job) -> Source:
    """The source that answers `roots/list`."""
    response = {"roots": [_root(each) for each in job.roots]}

    async def answer(who: Who, question: Question) -> Response | None:
        return response if question.request.get("method") == ROOTS else None

    return answer


def _root(folder: Path) -> Mapping[str, Any]:
    # A name that is no UTF-8 could not be sent; its URI can, byte by byte.
    name = os.fsencode(folder.name).decode("utf-8", "replace")
    return {"uri": folder.as_uri(), **({"name": name} if name else {})}
