"""Answering what a tool asks before it starts: from `--answers`, else by a person at the terminal (A8.4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcptask.commands._job import Job
from mcptask.errors import AnswerNeeded
from mcptask.protocol.events import Answered, InputRequired
from mcptask.protocol.generations.base import InputNeeded
from mcptask.render.report import Subject
from mcptask.render.text import clean

if TYPE_CHECKING:
    from mcptask.arguments.answers import Answers


@dataclass
class Opening:
    """`answers` is what `--answers` holds, None where it is not given."""

    job: Job
    server: str
    tool: str
    answers: "Answers | None"

    async def answered(self, asked: InputNeeded) -> Mapping[str, Mapping[str, Any]]:
        """A response to every question. AnswerNeeded, with those that are open, where one has none.

        All of them are needed before the call can go on (A8.4), so nothing is sent for some.
        """
        self._event(InputRequired(None, asked.requests))
        responses: dict[str, Mapping[str, Any]] = {}
        if self.answers is not None:
            responses |= self.answers.to(asked.requests)
        self._tell(responses)
        for key, request in asked.requests.items():
            if key in responses or not self.job.by_hand:
                continue
            if (response := await self._ask(key, request)) is None:
                break
            responses[key] = response
        left = {key: request for key, request in asked.requests.items() if key not in responses}
        if left:
            raise self._unanswered(left)
        self._event(Answered(tuple(sorted(responses))))
        return responses

    def _unanswered(self, left: Mapping[str, Mapping[str, Any]]) -> AnswerNeeded:
        lacking = "; ".join(self.answers.incomplete()) if self.answers else ""
        more = f" ({lacking})" if lacking else ""
        return AnswerNeeded(
            f"{self.server} asks something before {self.tool} starts{more}; nothing was started",
            data={"inputRequests": dict(left)},
            hint=f"put the answers in a file: mcptask call {self.tool} … --answers answers.toml",
        )

    def close(self) -> None:
        """Say which answers nothing asked for."""
        if self.answers is not None and (unused := self.answers.unused()):
            left = ", ".join(unused)
            self.job.warn(
                f"{self.answers.name}: nothing asked for {left} before the start; "
                "a running task is answered with mcptask update"
            )

    async def _ask(self, key: str, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        from mcptask.commands._asking import ask  # most calls ask nothing

        return await ask(self.job.env, self.server, self.tool, key, request)

    def _tell(self, responses: Mapping[str, Any]) -> None:
        if responses and self.answers is not None and not self.job.options.jsonl:
            asked = f"{self.server} asked before it started ({', '.join(sorted(responses))})"
            self.job.say(clean(f"mcptask: {asked}; answered from {self.answers.name}"))

    def _event(self, event: InputRequired | Answered) -> None:
        if self.job.options.jsonl:
            now = self.job.env.clock.now()
            subject = Subject(self.tool, self.server, None, "", now)  # there is no task yet
            self.job.reporter_for().show(subject, event)


def opening(job: Job, server: str, tool: str, source: str | None) -> Opening:
    """`source` is `--answers`: a file, or `-` for stdin. UsageError where it cannot be read."""
    if source is None:
        return Opening(job=job, server=server, tool=tool, answers=None)
    from mcptask.arguments.answers import read_answers

    text = job.stdin_text if source == "-" else job.file_text(source)
    return Opening(job=job, server=server, tool=tool, answers=read_answers(text, source))
