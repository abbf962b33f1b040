"""The methods of the server, one function each, and the table of them."""

import threading

from mcptask.demo.answers import answer_problem
from mcptask.demo.calls import call_tool
from mcptask.demo.engine import Engine, Method, Pending, Send, complete
from mcptask.demo.envelope import Request, demand_tasks
from mcptask.demo.jobs import Tool
from mcptask.demo.jsonrpc import (
    META_SUBSCRIPTION,
    TASKS,
    VERSIONS,
    Json,
    invalid,
    notification,
    result_response,
)
from mcptask.demo.lifecycle import answered
from mcptask.demo.records import Record, detailed_task
from mcptask.demo.watchers import Watcher

# How long a client may keep what server/discover and tools/list said.
CACHE_TTL_MS = 5 * 60 * 1000
CACHEABLE: Json = {"ttlMs": CACHE_TTL_MS, "cacheScope": "public"}
INSTRUCTIONS = (
    "A pretend booking studio to try tasks on. reflow_month is the show piece: it lays a month of"
    " bookings out again without the rooms that are closed, and asks what to do with the rest if"
    " ask is true."
)


def discover(_engine: Engine, _request: Request, _send: Send) -> Json:
    return CACHEABLE | {
        "supportedVersions": list(VERSIONS),
        "capabilities": {"tools": {}, "extensions": {TASKS: {}}},
        "instructions": INSTRUCTIONS,
    }


def _listed(tool: Tool) -> Json:
    listed: Json = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
    }
    if tool.output_schema is not None:
        listed["outputSchema"] = tool.output_schema
    return listed | ({"annotations": tool.annotations} if tool.annotations else {})


def _offset(engine: Engine, cursor: object) -> int:
    """The position that one of our own cursors stands for. Raises -32602 for any other."""
    offset = int(cursor[1:]) if isinstance(cursor, str) and _is_cursor(cursor) else -1
    if not 0 < offset < len(engine.tools) or offset % engine.page_size:
        raise invalid("cursor is not one that this server gave out")
    return offset


def _is_cursor(cursor: str) -> bool:
    return cursor.startswith("t") and cursor[1:].isascii() and cursor[1:].isdigit()


def list_tools(engine: Engine, request: Request, _send: Send) -> Json:
    start = _offset(engine, request.params["cursor"]) if "cursor" in request.params else 0
    end = start + engine.page_size
    page: Json = {"tools": [_listed(tool) for tool in list(engine.tools.values())[start:end]]}
    return CACHEABLE | page | ({"nextCursor": f"t{end}"} if end < len(engine.tools) else {})


def _find(engine: Engine, request: Request) -> Record:
    """The task that the request names. Raises -32602: unknown, expired and foreign are one."""
    task_id = request.params.get("taskId")
    if not isinstance(task_id, str):
        raise invalid("taskId is missing or not a string")
    record = engine.store.load(task_id)
    if record is None or record.hidden:
        raise invalid("Task not found: unknown or expired")
    return record


def get_task(engine: Engine, request: Request, _send: Send) -> Json:
    demand_tasks(request)
    return detailed_task(_find(engine, request))


def _taken_over(engine: Engine, record: Record) -> Record:
    """With a step due now, and ours to take: the process that got the request is awake, and a
    runner elsewhere finds out that the job is no longer its own."""
    mine = record.tool in engine.tools
    return record._replace(due=engine.store.now(), runner=engine.scheduler.runner if mine else None)


def update_task(engine: Engine, request: Request, _send: Send) -> Json:
    """Takes the answers to open questions and ignores all other keys. One wrong answer refuses
    the request as a whole (-32602), and the question stays open under its key."""
    demand_tasks(request)
    responses = request.params.get("inputResponses")
    if not isinstance(responses, dict):
        raise invalid("inputResponses is missing or not an object")
    with engine.store.transaction():
        record = _find(engine, request)
        taken = {key: value for key, value in responses.items() if key in record.requests}
        for key, value in taken.items():
            wrong = answer_problem(key, value, record.requests[key])
            if wrong:
                raise invalid(wrong)
        if taken:
            record = answered(record, taken, engine.store.now())
            record = record if record.requests else _taken_over(engine, record)
            record = engine.store.save(record)
    engine.scheduler.changed(record)
    return {}


def cancel_task(engine: Engine, request: Request, _send: Send) -> Json:
    """Only notes the wish: the job's next step, due now, decides what becomes of it."""
    demand_tasks(request)
    with engine.store.transaction():
        record = _find(engine, request)
        if not record.ended and not record.cancel_asked:
            record = _cancel_asked(engine, record)
            record = engine.store.save(record)
    engine.scheduler.changed(record)
    return {}


def _cancel_asked(engine: Engine, record: Record) -> Record:
    asked = record._replace(cancel_asked=True)
    tool = engine.tools.get(record.tool)
    # A job that does not heed it keeps its pace: its next step sees the wish.
    return asked if tool and not tool.heeds_cancel else _taken_over(engine, asked)


def _wanted_ids(request: Request) -> list[str] | None:
    wanted = request.params.get("notifications")
    if not isinstance(wanted, dict):
        raise invalid("notifications is missing or not an object")
    if "taskIds" not in wanted:
        return None
    demand_tasks(request)
    task_ids = wanted["taskIds"]
    if not isinstance(task_ids, list) or not all(isinstance(each, str) for each in task_ids):
        raise invalid("notifications.taskIds must be a list of strings")
    return list(dict.fromkeys(task_ids))


def listen(engine: Engine, request: Request, send: Send) -> Pending:
    """The acknowledgement first, then a `notifications/tasks` for each change of the tasks that
    exist; nothing is replayed. Ends with a result only when the server does."""
    wanted = _wanted_ids(request)
    tag = {"_meta": {META_SUBSCRIPTION: request.id}}
    gate = threading.Lock()  # held until the acknowledgement is out

    def deliver(record: Record) -> None:
        with gate:
            if not record.hidden:
                send(notification("notifications/tasks", detailed_task(record) | tag))

    def end() -> None:
        send(result_response(request.id, complete(tag)))

    watcher = Watcher(frozenset(wanted or ()), deliver, end)
    with gate:
        engine.watchers.add(watcher)
        found = {task_id: engine.store.load(task_id) for task_id in wanted or ()}
        known = [task_id for task_id, record in found.items() if record and not record.hidden]
        honoured: Json = {} if wanted is None else {"taskIds": known}
        params = {"notifications": honoured} | tag
        send(notification("notifications/subscriptions/acknowledged", params))
    engine.scheduler.look()
    return Pending(lambda: engine.watchers.remove(watcher))


METHODS: dict[str, Method] = {
    "server/discover": discover,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "tasks/get": get_task,
    "tasks/update": update_task,
    "tasks/cancel": cancel_task,
    "subscriptions/listen": listen,
}
