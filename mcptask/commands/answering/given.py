"""The answers of scripts and CI: a file, the defaults of a form, a no to everything.

Each is a source; what it returns is valid by the schema that it was asked with. What is answered in a
person's name is `said`, and why something is not is `told`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mcptask.arguments.responses import (
    ACCEPT,
    DECLINE,
    content_problem,
    defaults,
    is_url,
    method_of,
)
from mcptask.commands.answering.who import Source, Who
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question, Request, Response
from mcptask.protocol.schemas import sub
from mcptask.protocol.task import ELICITATION
from mcptask.render.text import clean

if TYPE_CHECKING:
    from mcptask.arguments.answers import Answers

Told = Callable[[str], None]


def from_file(answers: "Answers", told: Told, said: Told) -> Source:
    """UsageError for an entry that does not fit: something else was meant, so the question is not for a
    source that comes after this one either."""

    async def answer(who: Who, question: Question) -> Response | None:
        try:
            found = answers.to({question.key: question.request})
        except UsageError as unfit:
            if who.task:  # it will be one line among those of other tasks
                more = f" ({unfit.hint})" if unfit.hint else ""
                raise UsageError(f"{_of(who)}{unfit.message}{more}") from None
            raise
        for lack in answers.incomplete():
            told(f"{_of(who)}{answers.name}: {lack}")
        if (response := found.get(question.key)) is not None:
            said(_remark(who, question, f"answered from {answers.name}"))
        return response

    return answer


def accepting_defaults(told: Told, said: Told) -> Source:
    """Agrees to a form that its defaults fill, one without a required field among them; never to a URL
    (A12.13), and to nothing that is no form (A12.14)."""

    async def answer(who: Who, question: Question) -> Response | None:
        if method_of(question.request) != ELICITATION or is_url(question.request):
            return None
        try:
            response = _filled(question.request)
        except UsageError as unusable:
            told(f"{_of(who)}{question.key} has no defaults to accept: {unusable.message}")
            return None
        if response is not None:
            said(_remark(who, question, "its defaults are accepted"))
        return response

    return answer


def declining_all(said: Told) -> Source:
    """Declines what a person could. Other requests know no such answer (A12.11)."""

    async def answer(who: Who, question: Question) -> Response | None:
        if method_of(question.request) != ELICITATION:
            return None
        said(_remark(who, question, "declined"))
        return {"action": DECLINE}

    return answer


def told_unused(answers: "Answers", told: Told) -> None:
    """Says which entries nothing has asked for, when nothing will ask any more; and if there are none."""
    if answers.empty:
        told(f"{answers.name} holds no answer")
    if unused := answers.unused():
        told(f"{answers.name}: nothing asked for {', '.join(unused)}")


def _filled(request: Request) -> Response | None:
    """The defaults, if nothing else is needed. UsageError for a schema that is unusable."""
    schema = sub(request, "params").get("requestedSchema")
    if not isinstance(schema, dict):
        raise UsageError("the form has no schema")
    content = defaults(schema)
    return None if content_problem(content, schema) else {"action": ACCEPT, "content": content}


def _remark(who: Who, question: Question, what: str) -> str:
    whose = f"task {who.task}" if who.task else who.tool
    return clean(f"mcptask: {question.key} of {whose}: {what}")


def _of(who: Who) -> str:
    return f"task {who.task}: " if who.task else ""
