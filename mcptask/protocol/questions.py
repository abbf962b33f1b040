"""What a task asks, and the memory of what was answered: values and pure functions.

A question is one entry of `inputRequests`: a key that the server chose, and a request object. A key is one
question for the task's whole life (A12.2), so what was answered is remembered by the key; the fingerprint of
the request tells when a server puts another question under an old one (A12.3).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from mcptask.protocol.task import Status, Task

Request = Mapping[str, Any]
Requests = Mapping[str, Request]
Response = Mapping[str, Any]

_DIGITS = 16  # of a fingerprint, in hex: chance does not make two questions of one task alike


class Answer(NamedTuple):
    """What is remembered of one question: the fingerprint of what was asked (None: not known), and the
    response, until the server has acknowledged it. Then its content is nobody's business any more.
    """

    fingerprint: str | None = None
    response: Response | None = None

    @property
    def acknowledged(self) -> bool:
        return self.response is None


Name = tuple[str, str]  # of a question: its key, and the fingerprint of its request
Ledger = Mapping[str, Answer]  # by key: every question that was answered, from any terminal
NOTHING_ANSWERED: Ledger = MappingProxyType({})


class Question(NamedTuple):
    """One question for whoever answers here. `changed`: its key was another question before, so nothing but
    a person may answer it. `refused` is what the server said of the last answer to it. `since` is when it was
    put, on the clock's `now`: the same for all that was asked at one moment.
    """

    key: str
    request: Request
    changed: bool = False
    refused: str | None = None
    since: float = 0.0


def fingerprint(request: Request) -> str:
    """The same for two requests that say the same, whatever the order of their members."""
    import hashlib
    import json  # few tasks ask

    text = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def named(requests: Requests) -> frozenset[Name]:
    """Each question by its key and by what it says: another one under an old key has another name."""
    return frozenset((key, fingerprint(request)) for key, request in requests.items())


def names_of(answers: Ledger) -> frozenset[Name]:
    """The questions that these are the answers to."""
    return frozenset((key, answer.fingerprint or "") for key, answer in answers.items())


def asked_now(task: Task | None) -> Requests:
    """All questions of an `input_required` snapshot."""
    if task is None or task.status != Status.INPUT_REQUIRED:
        return {}
    return task.input_requests or {}


def open_questions(task: Task | None, ledger: Ledger) -> Requests:
    """Those that were not answered yet (A12.4); what is another question than the one that was, is open."""
    return unanswered(asked_now(task), ledger)


def unanswered(requests: Requests, ledger: Ledger) -> Requests:
    """The same of any questions."""
    return {
        key: request
        for key, request in requests.items()
        if key not in ledger or is_another(key, request, ledger)
    }


def is_another(key: str, request: Request, ledger: Ledger) -> bool:
    """Was something else answered under this key (A12.3)?"""
    known = ledger[key].fingerprint if key in ledger else None
    return known is not None and known != fingerprint(request)


def being_applied(task: Task | None, ledger: Ledger) -> Requests:
    """Those that were answered, and that the task still lists: acknowledged is not applied (A12.4)."""
    still_open = open_questions(task, ledger)
    return {key: each for key, each in asked_now(task).items() if key not in still_open}
