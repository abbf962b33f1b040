"""interview: a task that asks questions of every kind, so that anyone can try how to answer them.

It walks the turns of its rounds, and stops at the first that has something left to ask. All that
it goes by are the answers so far, so it goes on in any process, at the same question.
"""

import json
from collections.abc import Callable

from mcptask.demo import interview_questions as questions
from mcptask.demo.envelope import capability_for, capability_names, declares
from mcptask.demo.jobs import (
    Ask,
    Call,
    Done,
    Job,
    Next,
    Opening,
    Start,
    Step,
    Tool,
    text_result,
)
from mcptask.demo.jsonrpc import Json

# A turn says what it asks in all, whatever of it was answered; or what it waits for.
Turn = Callable[[Job], Ask | Next]
NOTHING = Ask({})
# Long enough for every watcher to see the task at work, its question gone.
AFTER_WITHDRAWAL_S = 2.0
# What a client that declares it has, and how mcptask is given it.
OFFERS = {"sampling": "model (--answer-with)", "roots": "folders (--root)"}
OUTCOMES = {"accept": "accepted", "decline": "declined", "cancel": "cancelled"}


def _accepted(job: Job, key: str) -> bool:
    answer = job.answers.get(key)
    return answer is not None and answer.get("action") == "accept"


def _always(requests: Json, message: str) -> Turn:
    return lambda _job: Ask(requests, message=message)


def _purpose(job: Job) -> Ask:
    name = job.answers["name"]["content"]["name"] if _accepted(job, "name") else None
    return Ask({"purpose": questions.purpose(name)}, message="Asking what it is about")


def _browser(job: Job) -> Ask | Next:
    """Accepting a URL is consent, not completion: what happens there takes its time. (Here it is
    taken for granted; nobody fetches the page.)"""
    if not _accepted(job, "terms") or "browsed" in job.state:
        return NOTHING
    waited = job.state | {"browsed": True}
    return Next(job.arguments["seconds"], waited, "Waiting for the browser")


def _tea(job: Job) -> Ask:
    seconds = job.arguments["seconds"]
    asked = {"tea": questions.tea(seconds)}
    return Ask(asked, message="Asking for a moment only", withdraw_after_s=seconds)


def _without_tea(job: Job) -> Ask | Next:
    if "tea" not in job.answers or job.answers["tea"] or "went_on" in job.state:
        return NOTHING
    return Next(AFTER_WITHDRAWAL_S, job.state | {"went_on": True}, "Going on without an answer")


def _letters_again(job: Job) -> Ask:
    answer = job.answers.get("letters")
    if answer is None or answer.get("action") != "decline":
        return NOTHING
    return Ask({"letters-again": questions.LETTERS_AGAIN}, message="Asking once more")


ROUNDS: dict[str, tuple[Turn, ...]] = {
    "one-by-one": (_always({"name": questions.NAME}, "Asking for a name"), _purpose),
    "several": (_always(questions.SEVERAL, "Asking three things at once"),),
    "fields": (_always({"session": questions.SESSION}, "Asking with every kind of field"),),
    "nested": (_always({"band": questions.BAND}, "Asking with fields in fields"),),
    "url": (_always({"terms": questions.TERMS}, "Asking for a visit to a page"), _browser),
    "sampling": (_always({"slogan": questions.SLOGAN}, "Asking the client's model"),),
    "roots": (_always({"folders": questions.FOLDERS}, "Asking for the client's folders"),),
    "withdrawn": (_tea, _without_tea),
    "declined": (_always({"letters": questions.LETTERS}, "Asking for a yes"), _letters_again),
}


def _turns(job: Job) -> list[Ask | Next]:
    chosen = [job.arguments["only"]] if "only" in job.arguments else list(ROUNDS)
    return [turn(job) for name in chosen for turn in ROUNDS[name]]


def _can_take(job: Job, request: Json) -> bool:
    return declares(job.state["capabilities"], capability_for(request))


def _step(job: Job) -> Step:
    for turn in _turns(job):
        if isinstance(turn, Next):
            return turn
        left = {
            key: request
            for key, request in turn.requests.items()
            if key not in job.answers and _can_take(job, request)
        }
        if left:
            return turn._replace(requests=left)
    return Done(_result(job), message="Asked all there was to ask")


def _outcome(job: Job, key: str) -> Json:
    """One question of the result: what became of it, and what was answered."""
    if key not in job.answers:
        return {"key": key, "outcome": "skipped"}
    answer = job.answers[key]
    if answer is None:
        return {"key": key, "outcome": "withdrawn"}
    if "action" not in answer:
        return {"key": key, "outcome": "answered", "answer": answer}
    outcome: Json = {"key": key, "outcome": OUTCOMES[answer["action"]]}
    given = answer.get("content") if answer["action"] == "accept" else None
    return outcome if given is None else outcome | {"answer": given}


def _line(outcome: Json, request: Json) -> str:
    said = f"{outcome['key']}: {outcome['outcome']}"
    if outcome["outcome"] == "skipped":
        names = capability_names(capability_for(request))
        return f"{said}: the call offers no {OFFERS.get(names, names)}"
    given = json.dumps(outcome["answer"], ensure_ascii=False) if "answer" in outcome else ""
    return f"{said} {given}".rstrip()


def _result(job: Job) -> Json:
    asked = [turn.requests for turn in _turns(job) if isinstance(turn, Ask)]
    requests = {key: request for each in asked for key, request in each.items()}
    outcomes = [_outcome(job, key) for key in requests]
    lines = map(_line, outcomes, requests.values())
    return text_result("\n".join(lines), {"questions": outcomes})


def _open(call: Call) -> Opening:
    """What this call declares holds for the whole task: a step sees no request of the client."""
    return Start({"capabilities": call.capabilities})


INTERVIEW = Tool(
    name="interview",
    title="Interview",
    description=(
        "Asks questions of every kind, one round after the other or `only` one of them, and tells"
        " what was answered. Nothing comes of it, whatever the answers."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "only": {
                "type": "string",
                "description": "The one round to go through; all of them without it.",
                "enum": list(ROUNDS),
            },
            "seconds": {
                "type": "number",
                "description": "How long a browser takes, and until a question is withdrawn.",
                "minimum": 0,
                "maximum": 3600,
                "default": 8,
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "key": {"type": "string"},
                        "outcome": {
                            "type": "string",
                            "enum": [*OUTCOMES.values(), "answered", "withdrawn", "skipped"],
                        },
                        "answer": {"type": "object"},
                    },
                    "required": ["key", "outcome"],
                },
            }
        },
        "required": ["questions"],
    },
    annotations={"readOnlyHint": True, "openWorldHint": False},
    open=_open,
    step=_step,
)
