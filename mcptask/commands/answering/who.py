"""Who asks: what a person, or a command, is told beside the question itself."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from mcptask.protocol.questions import Question, Response


class Who(NamedTuple):
    """`server` and `tool` are names for people, not cleaned. `task` is what to call the task (`7`, else its
    id), and `to_type` what to type for it; both are empty for a tool that asks before there is one (A8.4).
    """

    server: str
    tool: str
    task: str = ""
    to_type: str = ""


# Answers one question; None where it has no answer, and the next source is tried.
Source = Callable[[Who, Question], Awaitable[Response | None]]
