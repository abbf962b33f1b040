"""Lists that the demo does not have. One scenario, `caching`, asks for them next to the tools'.

They go through the engine's own dispatch, headers and envelope; what they hold is made up.
"""

from mcptask.demo.engine import Engine, Method, Pending, Send
from mcptask.demo.envelope import Request
from mcptask.demo.jsonrpc import Json
from mcptask.demo.methods import CACHEABLE, discover

NOTES: Json = {"uri": "test://notes", "name": "notes", "mimeType": "text/plain"}


def _constant(result: Json) -> Method:
    def answer(_engine: Engine, _request: Request, _send: Send) -> Json | Pending:
        return CACHEABLE | result

    return answer


def _discover(engine: Engine, request: Request, send: Send) -> Json:
    found = discover(engine, request, send)
    return found | {"capabilities": found["capabilities"] | {"prompts": {}, "resources": {}}}


LISTS: dict[str, Method] = {
    "server/discover": _discover,
    "prompts/list": _constant({"prompts": []}),
    "resources/list": _constant({"resources": [NOTES]}),
    "resources/templates/list": _constant({"resourceTemplates": []}),
    "resources/read": _constant({"contents": [NOTES | {"text": "A note."}]}),
}
