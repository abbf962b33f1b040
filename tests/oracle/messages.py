"""What may go out, by types that were not written here.

`mcp-types` has the messages of the base protocol; it lacks those of the Tasks extension, which are added
here from the extension's text, on the official envelope. Nothing of mcptask is imported: a judge that reads
the same code as the accused agrees with it.
"""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Annotated, Any, Literal

VERSION = "2026-07-28"
LEGACY = "2025-11-25"
TASKS = "io.modelcontextprotocol/tasks"
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

# An answer to a question is a result, and a result may have members of its own.
ANSWERS = ("params", "inputResponses")

# They want a newer pydantic than the oldest that mcptask works with: where that one is tried
# (scripts/lowest), nobody judges.
IN_SESSION = find_spec("mcp_types") is not None

Json = Mapping[str, Any]


def violation(message: Any) -> str | None:
    """What is wrong with a message of the client's, or None: one that is sent twice is judged once."""
    if not IN_SESSION:
        return None
    if not isinstance(message, dict):
        return "no single message, and a batch is none of this wire's"
    try:
        text = json.dumps(message, sort_keys=True, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        return f"no JSON: {error}"
    # JSON can spell half of a surrogate pair, and the models take it for no text; the shape is the same.
    return _judged(text.encode("utf-8", "replace").decode("utf-8"))


@lru_cache(maxsize=4096)
def _judged(text: str) -> str | None:
    from pydantic import ValidationError

    message = json.loads(text)
    method = message.get("method")
    if not isinstance(method, str):
        return (
            "neither a request nor a notification, and a client answers nothing on this wire (A2.7)"
        )
    model = _models().get((method, _version(message)))
    if model is None:
        return f"{method} is no message of a client's in {_version(message)}"
    try:
        # JSON, and strictly: "1" is no number. A key is known by its name on the wire only.
        read = model.model_validate_json(text, strict=True, by_name=False)
    except ValidationError as error:
        return "; ".join(f"{_path(e['loc'])}: {e['msg']}" for e in error.errors())
    return _unread(message, _written(read)) or _envelope(message)


def _version(message: Json) -> str:
    """The revision that a message is of. A notification has no envelope that would say."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    if message["method"] == "initialize" and not (isinstance(meta, dict) and META_VERSION in meta):
        return LEGACY
    return VERSION


def _written(read: Any) -> Any:
    return json.loads(read.model_dump_json(by_alias=True, exclude_unset=True))


def _unread(sent: Any, read: Any, path: tuple[str | int, ...] = ()) -> str | None:
    """The official models skip what they do not know. Nothing that was sent may be missing in what they
    read, so that a misspelt key is found."""
    if isinstance(sent, dict) and isinstance(read, dict):
        for key in sent:
            if key in read:
                if found := _unread(sent[key], read[key], (*path, key)):
                    return found
            elif path[:-1] != ANSWERS:
                return f"{_path((*path, key))}: no such field"
        return None
    if isinstance(sent, list) and isinstance(read, list) and len(sent) == len(read):
        pairs = enumerate(zip(sent, read, strict=True))
        return next((f for i, (s, r) in pairs if (f := _unread(s, r, (*path, i)))), None)
    return None if sent == read else f"{_path(path)}: {sent!r} is read as {read!r}"


def _path(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path)) or "the message"


def _envelope(message: Json) -> str | None:
    """What the types leave open, and the extension or mcptask's own rules do not (A2.1, A2.2)."""
    if "id" not in message or message["method"] == "initialize":
        return None
    meta = message["params"]["_meta"]
    if meta[META_VERSION] != VERSION:
        return f"params._meta: it names the version {meta[META_VERSION]!r}"
    if META_CLIENT not in meta:
        return "params._meta: it does not say who the client is"
    declared = meta[META_CAPABILITIES].get("extensions", {})
    if declared.get(TASKS) != {}:
        return f"params._meta: {TASKS} has to be declared, as an empty object"
    for key, answer in (message["params"].get("inputResponses") or {}).items():
        # Where the official model is laxer than the specification, by which a form has no null.
        if "action" in answer and None in (answer.get("content") or {}).values():
            return f"params.inputResponses.{key}.content: a value is null"
    return None


@cache
def _models() -> Mapping[tuple[str, str], Any]:
    """Imported and built at the first message: it takes the better part of a second."""
    from mcp_types.methods import CLIENT_NOTIFICATIONS, CLIENT_REQUESTS

    return {**CLIENT_REQUESTS, **CLIENT_NOTIFICATIONS, **_tasks_models(CLIENT_REQUESTS)}


def _tasks_models(official: Mapping[tuple[str, str], Any]) -> Mapping[tuple[str, str], Any]:
    """`tasks/get`, `tasks/update` and `tasks/cancel` (A12.1, A13.1); and the member that makes an official
    `subscriptions/listen` one to tasks, whose id is a text and which asks for nothing else (A11.2)."""
    from pydantic import ConfigDict, Field, create_model

    def params_of(method: str) -> Any:
        return official[method, VERSION].model_fields["params"].annotation

    enveloped = params_of("server/discover")  # the official envelope, and nothing else
    task = create_model(
        "TaskParams", __base__=enveloped, taskId=(Annotated[str, Field(min_length=1)], ...)
    )
    answers = params_of("tools/call").model_fields["input_responses"].annotation
    update = create_model("UpdateParams", __base__=task, inputResponses=(answers, ...))

    ids = Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1)]
    wanted = create_model(
        "TaskSubscription", __config__=ConfigDict(extra="forbid"), taskIds=(ids, ...)
    )
    listen = create_model(
        "ListenParams", __base__=params_of("subscriptions/listen"), notifications=(wanted, ...)
    )

    def request(method: str, params: Any, id_type: Any = str | int) -> Any:
        return create_model(
            method,
            __config__=ConfigDict(extra="forbid"),
            jsonrpc=(Literal["2.0"], ...),
            id=(id_type, ...),
            method=(Literal[method], ...),
            params=(params, ...),
        )

    kinds = {"tasks/get": task, "tasks/update": update, "tasks/cancel": task}
    models = {(method, VERSION): request(method, params) for method, params in kinds.items()}
    subscription = request("subscriptions/listen", listen, str)
    return {**models, ("subscriptions/listen", VERSION): subscription}
