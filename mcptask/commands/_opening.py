"""Answering what a tool asks before it starts (A8.4), by the same sources as the questions of a task."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import NamedTuple

from mcptask.commands._job import Job
from mcptask.commands.answering.who import Who
from mcptask.errors import AnswerNeeded
from mcptask.protocol.events import Answered, InputRequired
from mcptask.protocol.generations.base import InputNeeded
from mcptask.protocol.questions import Question, Requests, Response
from mcptask.render.report import Subject


class Opening(NamedTuple):
    job: Job
    server: str
    tool: str

    async def answered(self, asked: InputNeeded) -> Mapping[str, Response]:
        """A response to every question. AnswerNeeded, with those that are open, where one has none.

        All of them are needed before the call can go on (A8.4), so nothing is sent for some.
        """
        self._event(InputRequired(None, asked.requests))
        who, responses, now = Who(self.server, self.tool), {}, self.job.env.clock.now()
        for key, request in asked.requests.items():
            question = Question(key, request, since=now)
            response = await self.job.sources.answer(who, question, nullcontext)
            if response is None and self.job.by_hand:
                break  # left for later, and with it all that is still to be asked
            if response is not None:
                responses[key] = response
        left = {key: request for key, request in asked.requests.items() if key not in responses}
        if left:
            raise self._unanswered(left)
        self._event(Answered(tuple(sorted(responses))))
        return responses

    def _unanswered(self, left: Requests) -> AnswerNeeded:
        return AnswerNeeded(
            f"{self.server} asks something before {self.tool} starts; nothing was started",
            data={"inputRequests": dict(left)},
            hint=f"put the answers in a file: mcptask call {self.tool} … --answers answers.toml",
        )

    def _event(self, event: InputRequired | Answered) -> None:
        if self.job.options.jsonl:
            now = self.job.env.clock.now()
            subject = Subject(self.tool, self.server, None, "", now)  # there is no task yet
            self.job.reporter_for().show(subject, event)
