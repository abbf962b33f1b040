"""What the tool interview asks: each kind of question there is, by its key."""

from mcptask.demo.jobs import form
from mcptask.demo.jsonrpc import Json
from mcptask.demo.studio import ROOMS

PURPOSES = {"record": "Record something", "rehearse": "Rehearse", "look": "Only look around"}


def _titled(choices: dict[str, str]) -> list[Json]:
    return [{"const": const, "title": title} for const, title in choices.items()]


NAME = form(
    "Welcome to the studio. What is your name?",
    {
        "name": {
            "type": "string",
            "title": "Name",
            "description": "As it is to stand on the door",
            "minLength": 1,
            "maxLength": 40,
            "default": "Ada",
        }
    },
    ["name"],
)


def purpose(name: str | None) -> Json:
    """Who gave no name is asked all the same."""
    return form(
        f"Nice to meet you, {name}. What brings you here?" if name else "What brings you here?",
        {"purpose": {"type": "string", "title": "Purpose", "oneOf": _titled(PURPOSES)}},
        ["purpose"],
    )


SEVERAL: Json = {
    "day": form(
        "Which day suits you?",
        {"day": {"type": "string", "title": "Day", "format": "date", "default": "2026-09-14"}},
        ["day"],
    ),
    "room": form(
        "Which room do you want?",
        {"room": {"type": "string", "title": "Room", "enum": [room.name for room in ROOMS]}},
        ["room"],
    ),
    "people": form(
        "How many are you?",
        {
            "people": {
                "type": "integer",
                "title": "People",
                "minimum": 1,
                "maximum": max(room.capacity for room in ROOMS),
                "default": 2,
            }
        },
        ["people"],
    ),
}

# Every kind of field that a form may have (Elicitation, "Requested Schema").
FIELDS: Json = {
    "title": {
        "type": "string",
        "title": "Title",
        "description": "What the recording is called",
        "minLength": 2,
        "maxLength": 40,
    },
    "email": {"type": "string", "title": "E-mail", "format": "email"},
    "website": {"type": "string", "title": "Website", "format": "uri"},
    "release": {
        "type": "string",
        "title": "Release",
        "description": "The day it is to come out",
        "format": "date",
        "default": "2026-12-01",
    },
    "start": {"type": "string", "title": "Start of the session", "format": "date-time"},
    "takes": {"type": "integer", "title": "Takes", "minimum": 1, "maximum": 12, "default": 3},
    "gain": {
        "type": "number",
        "title": "Gain",
        "description": "In decibels",
        "minimum": -12,
        "maximum": 12,
        "default": 0,
    },
    "video": {
        "type": "boolean",
        "title": "Video",
        "description": "Film the session too",
        "default": False,
    },
    "format": {
        "type": "string",
        "title": "Format",
        "enum": ["flac", "wav", "mp3"],
        "default": "flac",
    },
    "mood": {
        "type": "string",
        "title": "Mood",
        "oneOf": _titled({"calm": "Calm and slow", "odd": "Odd", "loud": "Loud, please"}),
    },
    "payment": {
        "type": "string",
        "title": "Payment",
        "enum": ["invoice", "cash"],
        "enumNames": ["By invoice", "In cash, at the door"],
        "default": "invoice",
    },
    "instruments": {
        "type": "array",
        "title": "Instruments",
        "description": "What is to be there",
        "items": {"type": "string", "enum": ["piano", "drums", "bass", "organ"]},
        "minItems": 1,
        "maxItems": 3,
    },
    "extras": {
        "type": "array",
        "title": "Extras",
        "items": {"anyOf": _titled({"tea": "A pot of tea", "tape": "A copy on tape"})},
        "maxItems": 2,
        "default": [],
    },
}
SESSION = form(
    "Tell us about the session.",
    FIELDS,
    ["title", "email", "takes", "video", "mood", "instruments"],
)

# Fields in fields: beyond what the official type of a form allows, on purpose, because there are
# servers that ask so.
BAND = form(
    "Who plays, and what?",
    {
        "band": {
            "type": "object",
            "title": "Band",
            "properties": {
                "name": {"type": "string", "minLength": 1},
                "members": {"type": "integer", "minimum": 1, "maximum": 12},
            },
            "required": ["name"],
        },
        "songs": {
            "type": "array",
            "title": "Songs",
            "items": {
                "type": "object",
                "properties": {"title": {"type": "string"}, "minutes": {"type": "number"}},
                "required": ["title"],
            },
            "minItems": 1,
        },
    },
    ["band", "songs"],
)

TERMS: Json = {
    "method": "elicitation/create",
    "params": {
        "mode": "url",
        "message": "Please read the house rules in your browser. (The page is only an example.)",
        "url": "https://example.com/studio/rules?session=interview",
    },
}

SLOGAN: Json = {
    "method": "sampling/createMessage",
    "params": {
        "messages": [
            {
                "role": "user",
                "content": {
                    "type": "text",
                    "text": "Write one line that invites people to an open studio day.",
                },
            }
        ],
        "systemPrompt": "You write for a small recording studio.",
        "maxTokens": 60,
    },
}

FOLDERS: Json = {"method": "roots/list"}


def tea(seconds: float) -> Json:
    return form(
        f"Tea or coffee? The kettle does not wait: this is withdrawn after {seconds:g} s.",
        {"drink": {"type": "string", "title": "Drink", "enum": ["tea", "coffee"]}},
        ["drink"],
    )


def _letters(message: str) -> Json:
    subscribe = {"type": "boolean", "title": "Subscribe", "default": False}
    return form(message, {"subscribe": subscribe}, ["subscribe"])


LETTERS = _letters("Do you want our monthly letter? Decline, and you are asked once more.")
LETTERS_AGAIN = _letters("Not even for the pictures? This is the last time that we ask.")
