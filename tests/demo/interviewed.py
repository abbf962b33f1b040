"""A client that can be asked everything, and a right answer to each question of the tool interview."""

from typing import Any

from mcptask.demo.jsonrpc import Json
from tests.demo.wire import TASKS_ONLY, Bench

EVERY_KIND: Json = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {},
    "roots": {},
    **TASKS_ONLY,
}


def accept(**content: Any) -> Json:
    return {"action": "accept", "content": content}


SESSION: Json = {
    "title": "Études",
    "email": "ada@example.com",
    "website": "https://example.com/ada?a=1",
    "release": "2026-12-01",
    "start": "2026-09-14T10:00:00+02:00",
    "takes": 3,
    "gain": 0,
    "video": False,
    "format": "wav",
    "mood": "odd",
    "payment": "cash",
    "instruments": ["piano", "bass"],
    "extras": ["tea"],
}
# In the order in which they are asked.
ANSWERS: dict[str, Json] = {
    "name": accept(name="Ada"),
    "purpose": accept(purpose="record"),
    "day": accept(day="2026-09-14"),
    "room": accept(room="studio-c"),
    "people": accept(people=2),
    "session": accept(**SESSION),
    "band": accept(band={"name": "The Engines", "members": 3}, songs=[{"title": "Note G"}]),
    "terms": {"action": "accept"},
    "slogan": {
        "role": "assistant",
        "content": {"type": "text", "text": "Come in, the tape is running."},
        "model": "none",
    },
    "folders": {"roots": [{"uri": "file:///srv/music"}]},
    "tea": accept(drink="tea"),
    "letters": {"action": "decline"},
    "letters-again": accept(subscribe=False),
}


def begin(bench: Bench, capabilities: Json = EVERY_KIND, /, **arguments: Any) -> str:
    """A task at its first question."""
    created = bench.call("interview", capabilities, **arguments)
    bench.turn()
    return str(created["taskId"])


def asked(bench: Bench, task_id: str) -> Json:
    """The questions that are open now."""
    got = bench.get(task_id)
    assert got["status"] == "input_required", got
    found: Json = got["inputRequests"]
    return found


def answer(bench: Bench, task_id: str, **answers: Json) -> None:
    bench.result("tasks/update", taskId=task_id, inputResponses=answers)
    bench.turn()


def go_through(bench: Bench, answers: Json, **arguments: Any) -> tuple[Json, Json]:
    """Answers whatever is asked, until the end: (each question by its key, the result)."""
    task_id, questions = begin(bench, **arguments), {}
    while (got := bench.get(task_id))["status"] != "completed":
        requests = got.get("inputRequests", {})
        questions |= requests
        if requests:
            answer(bench, task_id, **{key: answers[key] for key in requests})
        else:
            bench.wait(1)
    result: Json = got["result"]
    return questions, result
