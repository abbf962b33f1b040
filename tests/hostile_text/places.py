"""Every place that a server's text can take in what it says over HTTP, as ways to fill it: `PLACES`."""

import json
from collections.abc import Callable
from typing import Any

from tests.e2e.scripted import (
    TASKS,
    TOOL,
    VERSION,
    Got,
    Json,
    Reply,
    Scripted,
    asking,
    completed,
    created,
    error,
    http,
    now,
    question,
    result,
    subscribed,
    task,
    told,
)
from tests.hostile_text.words import BYTES

Way = Callable[[Scripted, str], None]
_OPEN = {"ttlMs": 0, "cacheScope": "private"}


def raw(head: bytes, body: bytes = b"") -> Reply:
    """An answer byte by byte, which no library of servers would send."""

    def reply(handler: Any, got: Got) -> None:
        handler.wfile.write(head + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        handler.close_connection = True

    return reply


# ── a task ───────────────────────────────────────────────────────────────────────────────────────


def in_a_message(server: Scripted, word: str) -> None:
    server.on("tools/call", created(statusMessage=word))
    server.on("tasks/get", now("working", statusMessage=word))


def in_a_status(server: Scripted, word: str) -> None:
    server.on("tasks/get", now(word, statusMessage=word), now("working"), completed())


def in_an_id(server: Scripted, word: str) -> None:
    server.on("tools/call", created(word))
    server.on("tasks/get", now("working", word), completed(word))


def in_the_id_of_another_task(server: Scripted, word: str) -> None:
    server.on("tasks/get", now("working", word))


def in_the_type_of_the_result(server: Scripted, word: str) -> None:
    server.on("tools/call", result(resultType=word, taskId=word))


def in_what_should_be_numbers_and_dates(server: Scripted, word: str) -> None:
    fields = dict.fromkeys(("ttlMs", "pollIntervalMs", "createdAt", "lastUpdatedAt", word), word)
    server.on("tasks/get", now("working", **fields))


# ── how it ends ──────────────────────────────────────────────────────────────────────────────────


def in_an_error(server: Scripted, word: str) -> None:
    told = {"code": word, "message": word, "data": {word: [word]}}
    server.on("tasks/get", now("failed", statusMessage=word, error=told))


def in_a_refusal(server: Scripted, word: str) -> None:
    for method in ("tools/call", "tasks/get", "tasks/update", "tasks/cancel"):
        server.on(method, error(-32603, word, data=word))


def in_a_refusal_with_a_meaning(server: Scripted, word: str) -> None:
    """The codes of which more is read."""
    data = {"supported": [word], "requested": word, "requiredCapabilities": {word: {word: {}}}}
    server.on("tools/call", error(-32022, word, 400, data=data))
    server.on("tools/list", error(-32021, word, 400, data=data))
    server.on("tasks/get", error(-32602, word, data=word))
    server.on("tasks/cancel", error(-32020, word, 400, data=data))


def in_a_code(server: Scripted, word: str) -> None:
    server.on("tools/call", error(word, word))  # type: ignore[arg-type]


def in_a_result(server: Scripted, word: str) -> None:
    blocks = [
        {"type": "image", "mimeType": word, "data": word},
        {"type": "resource_link", "name": word, "title": word, "uri": word, "mimeType": word},
        {"type": "resource", "resource": {"blob": "AAAA", "mimeType": word, "uri": word}},
        {"type": word, word: word, "_meta": {word: word}},
    ]
    server.on("tasks/get", now("completed", result={"content": blocks, "_meta": {word: word}}))


def in_structured_content(server: Scripted, word: str) -> None:
    server.on("tasks/get", now("completed", result={"structuredContent": {word: [word]}}))


def in_a_bare_value(server: Scripted, word: str) -> None:
    server.on("tasks/get", now("completed", result={"structuredContent": word, "isError": True}))


# ── what is asked ────────────────────────────────────────────────────────────────────────────────


def form(word: str) -> Json:
    choices = [{"const": word, "title": word}, {"const": "a", "title": word}]
    fields = {
        "action": {"type": "string", "title": word, "description": word, "enum": ["keep", word]},
        word: {"type": "string", "oneOf": choices, "description": word, "default": word},
        "pattern": {"type": "string", "pattern": word, "format": word},
        "many": {"type": "array", "items": {"enum": [word]}, "minItems": word},
        "odd": {"type": word, "minimum": word, "maxLength": word},
    }
    return question(word, **fields)


def in_a_question(server: Scripted, word: str) -> None:
    server.on("tasks/get", asking(**{word: form(word)}))


def in_several_questions(server: Scripted, word: str) -> None:
    sampling = {"role": "user", "content": {"type": "text", "text": word}}
    asked = {
        "approve": form(word),
        "url": {"method": "elicitation/create", "params": address(word)},
        "model": {"method": "sampling/createMessage", "params": {"messages": [sampling]}},
        f"-{word}": {"method": word, "params": {word: word}},
    }
    server.on("tasks/get", asking(**asked))


def address(word: str) -> Json:
    return {
        "mode": "url",
        "message": word,
        "url": f"http://127.0.0.1/{word}",
        "elicitationId": word,
    }


def before_the_start(server: Scripted, word: str) -> None:
    asked = {word: form(word), "x": {"method": word, "params": {word: word}}}
    server.on("tools/call", result(resultType="input_required", inputRequests=asked))


def in_what_refuses_an_answer(server: Scripted, word: str) -> None:
    server.on("tasks/get", asking())
    server.on("tasks/update", error(-32602, word, data={word: word}))


# ── tools and the server itself ──────────────────────────────────────────────────────────────────


def in_a_tool(server: Scripted, word: str) -> None:
    each = {"type": "string", "title": word, "description": word, "default": word, "enum": [word]}
    asked = {"type": "object", "properties": {word: each, "month": each}, "required": [word]}
    tools = [
        {"name": word, "title": word, "description": word, "inputSchema": asked},
        TOOL | {"description": f"{word}\n{word}", "inputSchema": asked},
        {"name": f"{word}2", "inputSchema": {"type": word}},
        {"name": f"{word}3", "inputSchema": word},
    ]
    server.on(
        "tools/list", result(tools=tools, nextCursor=word, **_OPEN), result(tools=[], **_OPEN)
    )


def in_what_the_server_calls_itself(server: Scripted, word: str) -> None:
    about = {"name": word, "version": word, "title": word}
    capabilities = {"tools": {word: word}, "extensions": {TASKS: {word: word}, word: {}}}
    server.on(
        "server/discover",
        result(
            supportedVersions=[VERSION, word],
            capabilities=capabilities,
            serverInfo=about,
            instructions=word,
        ),
    )


def in_the_versions(server: Scripted, word: str) -> None:
    server.on(
        "server/discover",
        result(
            supportedVersions=[word], capabilities={}, serverInfo={"name": word, "version": "1"}
        ),
    )
    server.on("initialize", result(protocolVersion=word, capabilities={}, serverInfo={}))
    refused = {"supported": [word], "requested": VERSION}
    server.on("tools/call", error(-32022, word, 400, data=refused))


# ── HTTP ─────────────────────────────────────────────────────────────────────────────────────────


def in_a_body(server: Scripted, word: str) -> None:
    body = word.encode("utf-8", "replace")
    server.on("tools/call", http(500, body, "text/plain"))
    server.on("tasks/get", http(200, body, "application/json"))
    server.on("tools/list", http(404, body, "text/html"))


def in_a_problem_of_http(server: Scripted, word: str) -> None:
    body = json.dumps({"error": word, "message": word, "error_description": word})
    server.on("tools/call", http(403, body, "application/json"))
    server.on("tasks/get", http(401, body, "application/json"))


def in_a_reason_and_headers(server: Scripted, word: str) -> None:
    more = b"\r\n".join(
        b"%s: %s" % (name, BYTES)
        for name in (b"Content-Type", b"Location", b"Retry-After", b"Mcp-Session-Id", b"X-" + b"a")
    )
    login = b'\r\nWWW-Authenticate: Bearer error="%s", error_description="%s"' % (BYTES, BYTES)
    for method, status in (("tools/call", b"401"), ("tasks/get", b"503"), ("tools/list", b"307")):
        server.on(method, raw(b"HTTP/1.1 %s %s\r\n%s%s" % (status, BYTES, more, login), BYTES))


def in_no_http_at_all(server: Scripted, word: str) -> None:
    garbage = word.encode("utf-8", "replace")
    server.on("tools/call", raw(b"HTTP/1.1 " + garbage))
    server.on("tasks/get", raw(b"HTTP/1.1 200 OK\r\n" + garbage.replace(b"\n", b"")))
    server.on("tools/list", raw(garbage))


def in_a_stream(server: Scripted, word: str) -> None:
    line = word.encode("utf-8", "replace").replace(b"\n", b" ").replace(b"\r", b" ")
    noise = b": %s\nevent: %s\nid: %s\nretry: %s\n%s: x\ndata: %s\n\n" % (*[line] * 5, line)
    logged = told("message", level=word, logger=word, data=word)
    progress = told("progress", progressToken=word, message=word)
    more = b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in (logged, progress))

    def reply(handler: Any, got: Got) -> None:
        answer = {"resultType": "complete", **task("working", statusMessage=word)}
        body = json.dumps({"jsonrpc": "2.0", "id": got.id, "result": answer}).encode()
        http(200, noise + more + b"data: %s\n\n" % body, "text/event-stream")(handler, got)

    server.on("tasks/get", reply)
    server.on("tools/call", created(), http(200, noise, "text/event-stream"))


def in_a_push(server: Scripted, word: str) -> None:
    news = task("working", statusMessage=word, pollIntervalMs=3_600_000)
    asked = task("input_required", inputRequests={word: form(word)}, pollIntervalMs=3_600_000)
    server.on("tasks/get", now("working", pollIntervalMs=3_600_000))
    server.on("subscriptions/listen", subscribed(told("tasks", **news), told("tasks", **asked)))


PLACES: dict[str, Way] = {
    name: way for name, way in globals().items() if name.startswith(("in_", "before_"))
}
# Where a word is quoted for a shell or a file, and by other code if all of it can be printed.
QUOTED = ("in_an_id", "in_a_question", "before_the_start", "in_a_tool", "in_a_message")
