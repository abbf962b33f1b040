"""A stored task's ledger: how it grows, and how the state file says it. Pure.

    answered = ["approve"]                  # the server has acknowledged these answers (A12.5)

    [tasks.questions.approve]
    fingerprint = "9f…"                     # of what was asked

    [tasks.questions.rooms]
    fingerprint = "3c…"
    sent = '{"action":"accept",…}'          # not acknowledged yet: it goes out again as it is (A12.8)

An entry without a usable `sent`, whose key is not in `answered`, says nothing: it is left alone.
"""

from collections.abc import Mapping
from typing import Any

from mcptask.protocol.questions import Answer, Ledger, Response

# How many answers of one task the file keeps, the newest, and how much of their text in all: a server may
# ask without end, under keys of any length. In characters, as one answer's own limit is.
KEPT = 1000
ROOM = 1024 * 1024
LARGEST = 256 * 1024

UNKNOWN = Answer()  # an older mcptask noted no more than the key


def claimed(ledger: Ledger, wanted: Ledger) -> tuple[Ledger, Ledger]:
    """The ledger once these answers are about to be sent, and those of them that are: what was answered
    before, from whatever terminal, and acknowledged or not, is not answered again (A12.2).
    """
    after, new = dict(ledger), {}
    for key, answer in wanted.items():
        known = after.get(key)
        if known is None or known.fingerprint not in (None, answer.fingerprint):
            after.pop(key, None)  # the newest is the last
            after[key] = new[key] = answer
    return _kept(after), new


def acknowledged(ledger: Ledger, taken: Ledger) -> Ledger:
    """The server took these answers. It did not take what another question was answered with meanwhile."""
    news = {
        key: Answer(answer.fingerprint)
        for key, answer in taken.items()
        if ledger.get(key, answer).fingerprint in (None, answer.fingerprint)
    }
    return _kept({**ledger, **news})


def unclaimed(ledger: Ledger, refused: Ledger) -> Ledger:
    """The server did not take these answers, so they are as if nobody had answered. What it acknowledged to
    somebody stays, and so does what another question was answered with.
    """
    return {
        key: answer
        for key, answer in ledger.items()
        if answer.acknowledged
        or key not in refused
        or refused[key].fingerprint != answer.fingerprint
    }


def over(ledger: Ledger) -> Ledger:
    """What is worth knowing of a task that has ended: what was on its way to it is of no use any more."""
    return {key: known for key, known in ledger.items() if known.acknowledged}


def _kept(ledger: Ledger) -> Ledger:
    """The newest, as far as the file has room. An answer that is too large, or no JSON, is not kept: if it is
    lost on the way with this process, the question is asked again.
    """
    kept: list[str] = []
    room = ROOM
    for key, answer in reversed(list(ledger.items())):
        size = len(key) + (0 if answer.response is None else _size(answer.response))
        if len(kept) < KEPT and size <= min(room, LARGEST):
            kept.append(key)
            room -= size
    return {key: ledger[key] for key in reversed(kept)}


def _size(response: Response) -> int:
    try:
        return len(_text(response))
    except (ValueError, TypeError, RecursionError):
        return LARGEST + 1


def _text(response: Response) -> str:
    import json  # few tasks ask

    return json.dumps(response, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# ── the file ──────────────────────────────────────────────────────────────────────────────────────


def read(table: dict[str, Any], keys: tuple[str, ...]) -> Ledger:
    """What a task's table says beyond the keys in `answered`. What is understood is taken out of it."""
    ledger = dict.fromkeys(keys, UNKNOWN)
    questions = table.get("questions")
    if not isinstance(questions, dict):
        return ledger
    for key, entry in list(questions.items()):
        answer = _answer_of(entry, acknowledged=key in ledger)
        if answer is not None:
            ledger[key] = answer
            if not entry:
                del questions[key]
    if not questions:
        del table["questions"]
    return ledger


def _answer_of(entry: object, *, acknowledged: bool) -> Answer | None:
    if not isinstance(entry, dict):
        return None
    response = _response_of(entry.get("sent"))
    if response is None and not acknowledged:
        return None
    if response is not None:
        del entry["sent"]
    known = isinstance(entry.get("fingerprint"), str)
    fingerprint = str(entry.pop("fingerprint")) if known else None
    return Answer(fingerprint, None if acknowledged else response)


def _response_of(text: object) -> Response | None:
    if not isinstance(text, str):
        return None
    import json

    try:
        response = json.loads(text)
        _text(response)  # 1e999 can be read and not be written
    except (ValueError, RecursionError):
        return None
    return response if isinstance(response, dict) else None


def written(ledger: Ledger, unknown: object) -> dict[str, Any]:
    """The lines of a task's table for this. `unknown` is what `read` left of its `questions`: it survives."""
    left: Mapping[str, Any] = unknown if isinstance(unknown, dict) else {}
    known = {key: _entry(answer) for key, answer in ledger.items()}
    questions = {
        key: {**there, **entry} if isinstance(there := left.get(key), dict) else entry
        for key, entry in known.items()
        if entry
    }
    lines = {
        "answered": [key for key, answer in ledger.items() if answer.acknowledged],
        "questions": {**left, **questions},
    }
    return {name: value for name, value in lines.items() if value}


def _entry(answer: Answer) -> dict[str, str]:
    lines = {
        "fingerprint": answer.fingerprint,
        "sent": None if answer.response is None else _text(answer.response),
    }
    return {name: value for name, value in lines.items() if value is not None}
