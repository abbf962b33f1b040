"""The demo's tools: the table that `mcptask demo` serves."""

from math import ceil

from mcptask.demo.calls import valid_responses
from mcptask.demo.interview_job import INTERVIEW
from mcptask.demo.jobs import (
    Ask,
    Call,
    Done,
    Fail,
    Job,
    Next,
    Opening,
    Start,
    Step,
    Tool,
    Tools,
    form,
    table,
    text_result,
)
from mcptask.demo.jsonrpc import INTERNAL_ERROR, Json
from mcptask.demo.reflow_job import REFLOW_MONTH
from mcptask.demo.studio import ROOMS

# The shortest time between two steps: a job says something new as often, and no oftener.
TICK_S = 0.25
MAX_SECONDS = 3600

QUIET: Json = {"readOnlyHint": True, "openWorldHint": False}


def _schema(properties: Json, *required: str) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _seconds(default: float, does: str) -> Json:
    return {
        "type": "number",
        "description": f"How long {does}, in seconds.",
        "minimum": 0,
        "maximum": MAX_SECONDS,
        "default": default,
    }


def _spent(job: Job) -> float:
    spent: float = job.state.get("spent", 0.0)
    return spent


def _wait_on(job: Job, saying: str) -> Next | None:
    """The next step of a job that only lets its `seconds` pass; None once they have."""
    spent, total = _spent(job), job.arguments["seconds"]
    if spent >= total:
        return None
    # One step at most per tick, and no more steps than a watcher could tell apart.
    tick = min(max(TICK_S, total / 100), total - spent)
    message = f"{saying} {ceil(spent)} of {ceil(total)} s"
    return Next(tick, {"spent": spent + tick}, message)


def _slow_echo(job: Job) -> Step:
    text = job.arguments["text"]
    return _wait_on(job, "Waiting:") or Done(text_result(text, {"text": text}))


def _flaky(job: Job) -> Step:
    why = "The studio's calendar did not answer. Nothing was changed; try again later."
    return _wait_on(job, "Calling the calendar:") or Done(text_result(why, is_error=True))


def _crash(job: Job) -> Step:
    waiting = _wait_on(job, "Running into trouble:")
    data = {"tool": "crash", "afterSeconds": job.arguments["seconds"]}
    return waiting or Fail(INTERNAL_ERROR, "The worker crashed, as it was asked to", data)


def _stubborn(job: Job) -> Step:
    saying = "Asked to stop, going on:" if job.cancel_asked else "Working:"
    was = " although asked to stop" if job.cancel_asked else ""
    structured = {"cancelAsked": job.cancel_asked}
    return _wait_on(job, saying) or Done(text_result(f"finished{was}", structured))


def _quick(call: Call) -> Opening:
    text = call.arguments["text"]
    return Done(text_result(text, {"text": text}))


SURE: Json = {
    "sure": form(
        "Closing a room moves its bookings. Close it?",
        {
            "close": {"type": "boolean", "description": "Really close the room"},
            "reason": {"type": "string", "description": "What guests are told", "maxLength": 200},
        },
        ["close"],
    )
}


def _ask_if_sure(call: Call) -> Opening:
    """The question comes before there is a task: refused, it leaves nothing behind."""
    answer = valid_responses(call, SURE).get("sure")
    if answer is None:
        return Ask(SURE, {"asked": call.arguments["room"]})
    if answer["action"] != "accept" or not answer["content"]["close"]:
        return Done(text_result(f"{call.arguments['room']} stays open", {"closed": False}))
    return Start({"reason": answer["content"].get("reason", "closed")})


def _close_room(job: Job) -> Step:
    room, reason = job.arguments["room"], job.state["reason"]
    structured = {"closed": True, "room": room, "reason": reason}
    waiting = _wait_on(job, f"Closing {room}:")
    if waiting is None:
        return Done(text_result(f"{room} is closed: {reason}", structured))
    return waiting._replace(state=job.state | waiting.state)


TOOLS: Tools = table(
    REFLOW_MONTH,
    INTERVIEW,
    Tool(
        name="slow_echo",
        title="Slow echo",
        description="Says `text` back after `seconds`. The plainest task there is.",
        input_schema=_schema(
            {
                "text": {"type": "string", "description": "What to say back."},
                "seconds": _seconds(3, "to wait before the answer"),
            },
            "text",
        ),
        step=_slow_echo,
        annotations=QUIET | {"idempotentHint": True},
    ),
    Tool(
        name="flaky",
        title="Flaky",
        description="A task that completes with a result that reports an error (isError).",
        input_schema=_schema({"seconds": _seconds(1, "to wait before the error")}),
        step=_flaky,
        annotations=QUIET,
    ),
    Tool(
        name="crash",
        title="Crash",
        description="A task that fails: it ends with a JSON-RPC error instead of a result.",
        input_schema=_schema({"seconds": _seconds(1, "to work before the crash")}),
        step=_crash,
        annotations=QUIET,
    ),
    Tool(
        name="quick",
        title="Quick",
        description="Answers at once, with no task.",
        input_schema=_schema(
            {"text": {"type": "string", "description": "What to say.", "default": "done"}}
        ),
        open=_quick,
        annotations=QUIET | {"idempotentHint": True},
    ),
    Tool(
        name="close_room",
        title="Close a room",
        description="Asks whether that is meant before anything starts; then a short task.",
        input_schema=_schema(
            {
                "room": {
                    "type": "string",
                    "description": "The room to close.",
                    "enum": [room.name for room in ROOMS],
                },
                "seconds": _seconds(2, "the closing takes"),
            },
            "room",
        ),
        open=_ask_if_sure,
        step=_close_room,
        annotations={"destructiveHint": True, "openWorldHint": False},
    ),
    Tool(
        name="stubborn",
        title="Stubborn",
        description=(
            "A task that takes note of a cancellation, goes on, and completes. It has to be a"
            " task: a client without the Tasks extension is refused."
        ),
        input_schema=_schema({"seconds": _seconds(5, "to go on working")}),
        step=_stubborn,
        annotations=QUIET,
        must_be_task=True,
        heeds_cancel=False,
    ),
)
