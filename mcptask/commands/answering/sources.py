"""Who answers in this run: what the command line names, in its order, and a person at the terminal last."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager

from mcptask.arguments.responses import REFUSALS
from mcptask.commands._job import Job
from mcptask.commands.answering.who import Source, Who
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question, Response, fingerprint
from mcptask.render.text import clean

# A server may ask the same again and again, under new keys. So often is one question of a task refused, and
# so often answered without a person, in one run; from then on it is left.
MOST_REFUSALS = 3
MOST_ALIKE = 20
LOOK_EVERY = 1.0  # s between two looks whether the form of another terminal is closed

# Inside, the terminal is a form's, unless it yields why not: for a person, or nothing that is worth a word.
Form = Callable[[], AbstractContextManager[str | None]]


class Sources:
    """The sources of one run, over all its tasks."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._automatic = tuple(_automatic(job))
        self._terminal = asyncio.Lock()  # one form at a time
        self._told: set[str] = set()  # why a form does not open here
        # When each question of a task was refused, and when it was answered without a person.
        self._refused: defaultdict[tuple[str, str], set[float]] = defaultdict(set)
        self._unattended: defaultdict[tuple[str, str], set[float]] = defaultdict(set)

    async def answer(self, who: Who, question: Question, form: Form) -> Response | None:
        """What the first of them answers; None where nobody here does. UsageError where what was given does
        not fit, and there is no person to ask.

        A question that is another than it was is a person's, and so is one whose answer was refused (A12.3).
        """
        what = (who.task, fingerprint(question.request))
        if _too_often(self._refused[what], question, MOST_REFUSALS):
            self._leave(who, question, f"after it was refused {MOST_REFUSALS} times")
            return None
        response = None
        if _too_often(self._unattended[what], question, MOST_ALIKE):
            self._leave(who, question, f"after {MOST_ALIKE} answers")
        elif not question.changed and question.refused is None:
            response = await self._given(who, question)
        if response is not None:
            self._unattended[what].add(question.since)
        elif self._job.by_hand:
            response = await self._by_hand(who, question, form)
        if response is not None and response.get("action") in REFUSALS:
            self._refused[what].add(question.since)
        return response

    def close(self) -> None:
        """Nothing is asked any more: says which answers nothing asked for."""
        if self._job.answers is not None:
            from mcptask.commands.answering.given import told_unused

            told_unused(self._job.answers, self._job.warn)

    async def _given(self, who: Who, question: Question) -> Response | None:
        for source in self._automatic:
            try:
                response = await source(who, question)
            except UsageError as unfit:
                if not self._job.by_hand:
                    raise
                self._job.warn(unfit.message)
                return None
            if response is not None:
                return response
        return None

    async def _by_hand(self, who: Who, question: Question, form: Form) -> Response | None:
        from mcptask.commands.answering.by_hand.person import ask  # most runs ask nothing

        while True:
            async with self._terminal:
                with form() as why_not:
                    if why_not is None:
                        return await ask(self._job.env, who, question)
            if why_not and why_not not in self._told:
                self._told.add(why_not)
                self._job.say(clean(f"mcptask: {why_not}; it opens here when that one closes"))
            await self._job.env.clock.sleep(LOOK_EVERY)

    def _leave(self, who: Who, question: Question, why: str) -> None:
        left = "it is left to you" if self._job.by_hand else "it is left open"
        ends = f"; mcptask cancel {who.to_type} ends the task" if who.to_type else ""
        self._job.warn(f"{who.server} asks the same again ({question.key}) {why}: {left}{ends}")


def _too_often(moments: Collection[float], question: Question, most: int) -> bool:
    """Is it asked again after so many times? What was asked at one moment is no repetition."""
    return len(moments) >= most and question.since not in moments


def _automatic(job: Job) -> Iterator[Source]:
    """The sources that the options name, in their order; most runs have none."""
    options = job.options
    if job.answers is not None:
        from mcptask.commands.answering.given import from_file

        yield from_file(job.answers, job.warn, job.say)
    if job.answerer is not None:
        from mcptask.commands.answering.program import from_program

        yield from_program(job)
    if job.roots:
        from mcptask.commands.answering.roots import from_roots

        yield from_roots(job)
    if options.accept_defaults:
        from mcptask.commands.answering.given import accepting_defaults

        yield accepting_defaults(job.warn, job.say)
    if options.decline_all:
        from mcptask.commands.answering.given import declining_all

        yield declining_all(job.say)
