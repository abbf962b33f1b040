"""The answer that `update` finds on its command line."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcptask.arguments.responses import ACCEPT, responses_to
from mcptask.commands._find import Found
from mcptask.commands._job import Job
from mcptask.errors import UsageError
from mcptask.render.answer_line import answer_line

_WHO_ELSE = ("answers", "answer_with", "root", "accept_defaults", "decline_all")  # of the options


@dataclass(frozen=True, kw_only=True)
class GivenAnswer:
    """What the command line says: fields, the key of the question, how to answer, or all as JSON."""

    fields: tuple[str, ...] = ()
    key: str | None = None
    actions: tuple[str, ...] = ()
    raw: str | None = None

    @property
    def empty(self) -> bool:
        """Is there no answer in it? Then a form asks for it, at a terminal."""
        return not (self.fields or self.actions or self.raw is not None)


def check_who_answers(job: Job, given: GivenAnswer, wait: bool) -> None:
    """Beside an answer, whoever else answers has its turn only with what is asked later."""
    if given.empty or wait:
        return
    asked_too = [name for name in _WHO_ELSE if getattr(job.options, name)]
    if asked_too:
        option = asked_too[0].replace("_", "-")
        raise UsageError(
            f"the answer is given already: --{option} is for what is asked later",
            hint="add --wait, or leave the answer out",
        )


def responses_given(
    job: Job, found: Found, still_open: Mapping[str, Mapping[str, Any]], given: GivenAnswer
) -> dict[str, dict[str, Any]]:
    """The answers on the command line, checked against what the task asks."""
    return responses_to(
        still_open,
        list(given.fields),
        given.key,
        given.actions[0] if given.actions else ACCEPT,
        given.raw,
        read_file=job.read_file,
        read_stdin=lambda: job.stdin_text,
        answer_line=partial(
            answer_line, found.record.ref or None, found.record.task_id, where=found.where
        ),
    )
