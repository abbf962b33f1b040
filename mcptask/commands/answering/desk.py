"""The desk of one followed task: who answers its questions, and what was answered, over all terminals.

The state file is the memory, written before anything goes out; what it has no room for, and what belongs to a
task that is not in it, is remembered for as long as this process runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import TypeVar

from mcptask.commands._job import Job
from mcptask.commands.answering.sources import Sources
from mcptask.commands.answering.who import Who
from mcptask.errors import StateError, UsageError
from mcptask.protocol.questions import Ledger, Question, Response, unanswered
from mcptask.render.report import Subject
from mcptask.store import ledger
from mcptask.store.form_lock import held

T = TypeVar("T")


class TaskDesk:
    """A `Desk` of `protocol.desk`. `insists`: the form was asked for here, so it opens although another
    terminal has it open, and the first answer counts. `only`: no other question than this is answered here.
    """

    def __init__(
        self,
        job: Job,
        sources: Sources,
        who: Who,
        subject: Subject,
        *,
        insists: bool = False,
        only: str | None = None,
    ) -> None:
        self._job = job
        self._sources = sources
        self._who = who
        self._subject = subject
        self._ref = subject.ref or 0
        self._insists = insists
        self._only = only
        self._last: Ledger = {}  # of the file
        # Of a stored task only what the file does not say: what became of an answer there is known there.
        self._own: Ledger = {} if self._ref else subject.answered

    async def answer(self, question: Question) -> Response | None:
        if self._only not in (None, question.key):
            return None
        try:
            return await self._sources.answer(self._who, question, partial(self._form, question))
        except UsageError as unfit:
            # What was given for one task must not end the following of others.
            self._job.warn(unfit.message)
            return None

    def claim(self, answers: Ledger) -> Ledger:
        _, new = ledger.claimed(self._own, answers)
        noted = self._noted(lambda: self._job.store.claim_all(self._ref, new))
        new = new if noted is None else noted
        stored = self._stored()
        unnoted = {key: each for key, each in new.items() if stored.get(key) != each}
        self._own = {**self._own, **unnoted}
        for key in answers.keys() - new.keys():
            self._job.warn(f"{key} was answered in another terminal: this answer is not sent")
        return new

    def acknowledged(self, answers: Ledger) -> None:
        self._own = ledger.acknowledged(self._own, answers)
        self._noted(lambda: self._job.store.acknowledged(self._ref, answers))

    def refused(self, answers: Ledger) -> None:
        self._own = ledger.unclaimed(self._own, answers)
        self._noted(lambda: self._job.store.unclaim(self._ref, answers))

    def ledger(self) -> Ledger:
        """The file goes before what is remembered here, but for what only this process knows: that an answer
        was acknowledged."""
        stored = self._stored()
        own = {
            key: answer
            for key, answer in self._own.items()
            if key not in stored
            or (answer.acknowledged and answer.fingerprint == stored[key].fingerprint)
        }
        return {**stored, **own}

    def _noted(self, write: Callable[[], T]) -> T | None:
        """What writing gave; None where there is nothing to write to, or it cannot be written to."""
        if not self._ref:
            return None
        try:
            return write()
        except StateError as error:
            which = self._who.task
            self._job.warn(f"what was answered to task {which} could not be noted: {error.message}")
            return None

    def _stored(self) -> Ledger:
        with suppress(StateError):  # a file that cannot be read any more ends no watch
            self._last = self._job.store.ledger(self._ref) if self._ref else {}
        return self._last

    @contextmanager
    def _form(self, question: Question) -> Iterator[str | None]:
        """The terminal for a form. It yields why there is none: another terminal has it, or had."""
        reporter = self._job.reporter
        with held(self._job.store.path, self._ref) if self._ref else nullcontext(True) as free:
            if not (free or self._insists):
                yield f"the form of task {self._who.task} is open in another terminal"
                return
            if not unanswered({question.key: question.request}, self.ledger()):
                yield ""  # the next look at the file takes the question back
                return
            with nullcontext() if reporter is None else reporter.hold(self._subject):
                yield None
