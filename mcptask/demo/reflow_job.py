"""reflow_month: the show piece, as a job in persisted steps."""

from math import ceil
from typing import Any

from mcptask.demo.envelope import ELICITATION
from mcptask.demo.jobs import Ask, Done, Job, Next, Step, Tool, form, text_result
from mcptask.demo.jsonrpc import Json
from mcptask.demo.studio import BOOKINGS, ROOMS, Booking, bookings_of, reflow

# The shortest time between two status messages.
TICK_S = 0.25
# The one question of the job: a key is never used for a second one.
QUESTION = "unplaced"
ACTIONS = ("waitlist", "refund", "keep")
# What is done with the bookings when the question is declined or dismissed: the harmless thing.
FALLBACK_ACTION = "keep"
UNANSWERED = {"decline": "declined, kept", "cancel": "not answered, kept"}

INPUT_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "month": {
            "type": "string",
            "description": "The month to lay out again, YYYY-MM.",
            "pattern": r"^(?!0000)\d{4}-(0[1-9]|1[0-2])$",
            "default": "2026-09",
            "x-mcp-header": "Month",
        },
        "offline_rooms": {
            "type": "array",
            "items": {"type": "string", "enum": [room.name for room in ROOMS]},
            "uniqueItems": True,
            "description": "The rooms that are closed for the whole month.",
            "default": ["studio-b"],
        },
        "seconds": {
            "type": "number",
            "description": "How long the work is to take, in seconds.",
            "minimum": 0,
            "maximum": 3600,
            "default": 8,
        },
        "ask": {
            "type": "boolean",
            "description": "Ask what to do with the bookings that fit nowhere.",
            "default": False,
        },
    },
    "additionalProperties": False,
}

BOOKING_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "booking": {"type": "string"},
        "room": {"type": "string"},
        "start": {"type": "string"},
        "hours": {"type": "integer"},
        "people": {"type": "integer"},
    },
    "required": ["booking", "room", "start", "hours", "people"],
}

OUTPUT_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "month": {"type": "string"},
        "moved": {"type": "integer", "description": "Bookings with a place in the new month."},
        "unresolved": {"type": "integer", "description": "Bookings that fit nowhere."},
        "unplaced": {"type": "array", "items": BOOKING_SCHEMA},
        "action": {"type": "string", "enum": list(ACTIONS)},
        "note": {"type": "string"},
        "answer": {"type": "string", "enum": ["accept", "decline", "cancel"]},
    },
    "required": ["month", "moved", "unresolved", "unplaced"],
}

FORM: Json = {
    "action": {
        "type": "string",
        "title": "Action",
        "description": "Put them on the waiting list, refund them, or keep them as booked",
        "enum": list(ACTIONS),
    },
    "note": {
        "type": "string",
        "title": "Note",
        "description": "A line for the people who booked",
        "maxLength": 200,
    },
}


def _plan(job: Job) -> tuple[Booking, ...]:
    return reflow(job.arguments["month"], frozenset(job.arguments["offline_rooms"]))


def _shown(booking: Booking, month: str) -> Json:
    return {
        "booking": f"{month}-{booking.number:03}",
        "room": booking.room,
        "start": f"{month}-{booking.day:02}T{booking.start:02}:00",
        "hours": booking.hours,
        "people": booking.people,
    }


def _unplaced(job: Job) -> list[Json]:
    """The bookings that fit nowhere, as they were booked."""
    month = job.arguments["month"]
    lost = {booking.number for booking in _plan(job) if not booking.room}
    return [_shown(booking, month) for booking in bookings_of(month) if booking.number in lost]


def _question(count: int) -> Json:
    what = "1 booking fits" if count == 1 else f"{count} bookings fit"
    them = "it" if count == 1 else "them"
    return form(f"{what} nowhere. What should happen to {them}?", FORM, ["action"])


def _result(job: Job, unplaced: list[Json]) -> Json:
    placed = sum(bool(booking.room) for booking in _plan(job))
    text = f"moved {placed}, unresolved {len(unplaced)}"
    structured: Json = {
        "month": job.arguments["month"],
        "moved": placed,
        "unresolved": len(unplaced),
        "unplaced": unplaced,
    }
    answer: Any = job.answers.get(QUESTION)
    if answer is None:
        return text_result(text, structured)
    content = answer.get("content", {}) if answer["action"] == "accept" else {}
    chosen = {"action": FALLBACK_ACTION} | {
        key: content[key] for key in ("action", "note") if key in content
    }
    said = UNANSWERED.get(answer["action"], chosen["action"])
    return text_result(f"{text} ({said})", structured | chosen | {"answer": answer["action"]})


def _progress(job: Job) -> Next | None:
    """The next stretch of the work; None when all bookings are through."""
    done: int = job.state.get("done", 0)
    if done >= BOOKINGS:
        return None
    seconds = job.arguments["seconds"]
    ticks = max(1, min(BOOKINGS, ceil(seconds / TICK_S)))
    ahead = min(BOOKINGS, done + ceil(BOOKINGS / ticks))
    message = f"Reflowing {done} of {BOOKINGS} bookings"
    # A stretch takes its share of the time, so that all of them together take `seconds`.
    return Next(seconds * (ahead - done) / BOOKINGS, {"done": ahead}, message)


def _step(job: Job) -> Step:
    progress = _progress(job)
    if progress:
        return progress
    unplaced = _unplaced(job)
    if job.arguments["ask"] and unplaced and QUESTION not in job.answers:
        waiting = f"{len(unplaced)} of {BOOKINGS} bookings fit nowhere: waiting for an answer"
        return Ask({QUESTION: _question(len(unplaced))}, message=waiting)
    return Done(_result(job, unplaced), message=f"Reflowed {BOOKINGS} of {BOOKINGS} bookings")


def _needs(arguments: Json) -> Json:
    """Who is going to be asked has to say that it can be."""
    return ELICITATION if arguments["ask"] else {}


REFLOW_MONTH = Tool(
    name="reflow_month",
    title="Reflow a month",
    description=(
        f"Lays a month of {BOOKINGS} studio bookings out again without the rooms that are closed,"
        " within capacity and opening hours. Tells how many found a place (moved) and how many fit"
        " nowhere (unresolved)."
    ),
    input_schema=INPUT_SCHEMA,
    output_schema=OUTPUT_SCHEMA,
    annotations={
        "readOnlyHint": False,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
    step=_step,
    needs=_needs,
)
