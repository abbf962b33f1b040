"""The tools that the suite calls for what they answer: content of every type, errors, headers."""

from binascii import b2a_base64

from mcptask.demo.envelope import SAMPLING
from mcptask.demo.jobs import Call, Done, Opening, Tool, text_result
from mcptask.demo.jsonrpc import Json
from tests.conformance.fixture_tasks import TEXT, schema

# One red pixel, and the header of a sound that lasts no time.
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63"
    "f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)
SILENCE = bytes.fromhex(
    "524946462400000057415645666d74201000000001000100401f0000803e0000020010006461746100000000"
)


def _binary(kind: str, mime_type: str, data: bytes) -> Json:
    return {"type": kind, "mimeType": mime_type, "data": b2a_base64(data, newline=False).decode()}


SAYING: Json = {"type": "text", "text": "All is well."}
IMAGE = _binary("image", "image/png", PIXEL)
AUDIO = _binary("audio", "audio/wav", SILENCE)
RESOURCE: Json = {
    "type": "resource",
    "resource": {"uri": "test://notes", "mimeType": "text/plain", "text": "A note."},
}

# tool → the content of its result.
CONTENTS: dict[str, list[Json]] = {
    "test_simple_text": [SAYING],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [RESOURCE],
    "test_multiple_content_types": [SAYING, IMAGE, RESOURCE],
    # It has nothing to log: the server offers no logging, with a log level or without.
    "test_logging_tool": [SAYING],
}


def _answering(name: str, content: list[Json]) -> Tool:
    def answer(_call: Call) -> Opening:
        return Done({"content": content})

    return Tool(name, name, "Answers at once.", schema([]), open=answer)


def _refuse(_call: Call) -> Opening:
    return Done(text_result("It went wrong, as it was made to", is_error=True))


def _echo_region(call: Call) -> Opening:
    return Done(text_result(f"Region {call.arguments.get('region')}"))


def _needs_sampling(_arguments: Json) -> Json:
    return SAMPLING


def _never_reached(_call: Call) -> Opening:
    return Done(text_result("The client declared sampling"))


# Every keyword that a list may lose on its way: the suite reads them back.
KEYWORDS: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "address", "type": "object", "properties": {"city": TEXT}}},
    "properties": {"home": {"$ref": "#/$defs/address"}, "by": TEXT, "mail": TEXT, "phone": TEXT},
    "allOf": [{"anyOf": [{"required": ["mail"]}, {"required": ["phone"]}]}],
    "if": {"properties": {"by": {"const": "mail"}}, "required": ["by"]},
    "then": {"required": ["mail"]},
    "else": {"required": ["phone"]},
    "additionalProperties": False,
}

CALL_TOOLS = (
    # The first of the list: the suite calls that one without arguments.
    *(_answering(name, content) for name, content in CONTENTS.items()),
    Tool("test_error_handling", "Fail", "Answers with an error.", schema([]), open=_refuse),
    Tool(
        "echo_region",
        "Region",
        "Has an argument that belongs in a header too.",
        schema([], region=TEXT | {"x-mcp-header": "Region"}),
        open=_echo_region,
    ),
    Tool(
        "test_missing_capability",
        "Sampling",
        "Cannot do without sampling.",
        schema([]),
        open=_never_reached,
        needs=_needs_sampling,
    ),
    Tool("json_schema_2020_12_tool", "Keywords", "Is only listed.", KEYWORDS, open=_never_reached),
)
