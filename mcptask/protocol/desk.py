"""What the protocol wants of whoever answers the questions of a task."""

from typing import Protocol

from mcptask.protocol.questions import Ledger, Question, Response


class Desk(Protocol):
    """Whoever answers the questions of one task, and remembers what was answered, over all terminals."""

    async def answer(self, question: Question) -> Response | None:
        """The response, or None where nobody here has one. Cancelled where the question is gone: then the
        argument of the `CancelledError` is why, as a clause.
        """
        ...

    def claim(self, answers: Ledger) -> Ledger:
        """Notes these before they go out, and returns those that are to: nothing of a question that another
        process has answered meanwhile, whether that was acknowledged or not.
        """
        ...

    def acknowledged(self, answers: Ledger) -> None:
        """These were taken, or are asked no more."""
        ...

    def refused(self, answers: Ledger) -> None:
        """These were not taken: they are as if they had not been answered."""
        ...

    def ledger(self) -> Ledger:
        """All that was answered so far, from any terminal."""
        ...
