"""tools/call: checks, the questions before a task, the task, or the wait for its result."""

import os
import threading
from binascii import b2a_base64
from collections.abc import Callable

from mcptask.demo.answers import answer_problem
from mcptask.demo.engine import Engine, Pending, Send, complete
from mcptask.demo.envelope import (
    TASKS_CAPABILITY,
    Request,
    capability_for,
    declares_tasks,
    demand,
    demand_tasks,
)
from mcptask.demo.jobs import Ask, Call, Done, Start, Tool, text_result
from mcptask.demo.jsonrpc import (
    INTERNAL_ERROR,
    Json,
    RpcError,
    error_response,
    invalid,
    missing_capability,
    result_response,
)
from mcptask.demo.records import Record, bare_task
from mcptask.demo.request_state import seal, unseal
from mcptask.demo.schema import problem, with_defaults
from mcptask.demo.watchers import Watcher

# How long a client without the Tasks extension is kept waiting for a result.
INLINE_WAIT_S = 10.0
# What nobody was told of goes soon, also where its server was killed.
HIDDEN_TTL_MS = 60_000
URL_SAFE = str.maketrans("+/", "-_")


def call_tool(engine: Engine, request: Request, send: Send) -> Json | Pending:
    tool = _find(engine, request)
    given = _given(request)
    if tool.must_be_task:
        demand_tasks(request)
    wrong = problem(given, tool.input_schema, "")
    if wrong:  # what the caller can mend is the tool's answer (Tools, "Error Handling")
        return text_result(f"{tool.name}: {wrong}", is_error=True)
    arguments = with_defaults(given, tool.input_schema)
    demand(request, tool.needs(arguments))
    opening = tool.open(_call(engine, request, tool, arguments))
    match opening:
        case Done():
            return opening.result
        case Ask():
            return _ask(engine, request, tool, arguments, opening)
        case Start() if declares_tasks(request):
            record = _create(engine, tool, arguments, opening)
            return bare_task(record) | {"resultType": "task"}
        case Start():
            return _wait(engine, request, send, lambda: _hidden(engine, tool, arguments, opening))


def _find(engine: Engine, request: Request) -> Tool:
    name = request.params.get("name")
    if not isinstance(name, str):
        raise invalid("name is missing or not a string")
    if name not in engine.tools:
        raise invalid(f"Unknown tool: {name}")
    return engine.tools[name]


def _given(request: Request) -> Json:
    given = request.params.get("arguments", {})
    if not isinstance(given, dict):
        raise invalid("arguments must be an object")
    return given


def _call(engine: Engine, request: Request, tool: Tool, arguments: Json) -> Call:
    responses = request.params.get("inputResponses", {})
    if not isinstance(responses, dict):
        raise invalid("inputResponses must be an object")
    call = Call(arguments, responses, None, request.capabilities)
    sealed = request.params.get("requestState")
    if sealed is None:
        return call
    now, secret = engine.store.now(), engine.store.secret()
    return call._replace(state=unseal(secret, [tool.name, arguments], sealed, now))


def _ask(engine: Engine, request: Request, tool: Tool, arguments: Json, ask: Ask) -> Json:
    """InputRequiredResult (Multi Round-Trip Requests): only questions that the client declared it
    can take, and at least one of the two fields."""
    for asked in ask.requests.values():
        demand(request, capability_for(asked))
    result: Json = {"resultType": "input_required"}
    if ask.requests:
        result["inputRequests"] = ask.requests
    if ask.state is not None:
        secret, now = engine.store.secret(), engine.store.now()
        result["requestState"] = seal(secret, [tool.name, arguments], ask.state, now)
    return result


def valid_responses(call: Call, requests: Json) -> Json:
    """For openings: this round's right answers to `requests`, all others left out. What is still
    missing is to be asked again."""
    return {
        key: call.responses[key]
        for key, asked in requests.items()
        if key in call.responses and not answer_problem(key, call.responses[key], asked)
    }


def new_task_id() -> str:
    """192 random bits, URL-safe: the id is all that guards a task. One that begins with a dash
    would be an option to every command line, so another is drawn."""
    task_id = b2a_base64(os.urandom(24), newline=False).decode().translate(URL_SAFE)
    return task_id if task_id[0].isalnum() else new_task_id()


def _new_record(engine: Engine, tool: Tool, arguments: Json, start: Start) -> Record:
    now = engine.store.now()
    return Record(
        task_id=new_task_id(),
        tool=tool.name,
        arguments=arguments,
        state=start.state,
        created=now,
        updated=now,
        poll_ms=tool.poll_ms,
        ttl_ms=tool.ttl_ms,
        message=start.message,
        due=now + start.delay_s,
        runner=engine.scheduler.runner,
    )


def _save(engine: Engine, record: Record) -> Record:
    with engine.store.transaction():
        saved = engine.store.save(record)
    engine.scheduler.changed(saved)
    return saved


def _create(engine: Engine, tool: Tool, arguments: Json, start: Start) -> Record:
    """Committed before it is answered (Tasks extension, "Task Creation")."""
    return _save(engine, _new_record(engine, tool, arguments, start))


def _hidden(engine: Engine, tool: Tool, arguments: Json, start: Start) -> Record:

    record = _new_record(engine, tool, arguments, start)
    return record._replace(hidden=True, ttl_ms=HIDDEN_TTL_MS)


def _outcome(request: Request, record: Record | None) -> Json:
    """The response to a call that was waited for."""
    if record and record.status == "completed":
        return result_response(request.id, complete(record.outcome))
    if record and record.status == "failed":
        return {"jsonrpc": "2.0", "id": request.id, "error": record.outcome}
    why = "This call takes longer, or asks more, than can be answered without a task"
    return error_response(request.id, missing_capability(TASKS_CAPABILITY, why))


def _wait(engine: Engine, request: Request, send: Send, make: Callable[[], Record]) -> Pending:
    """Runs a task that nobody is told of and answers with its result, as a server must that has
    no task to give (Tasks extension, "Capability Negotiation")."""
    record = make()
    once = threading.Lock()

    def settle(response: Json | None) -> None:
        if once.acquire(blocking=False):
            engine.watchers.remove(watcher)
            engine.store.delete(record.task_id)
            if response is not None:
                send(response)

    def deliver(changed: Record) -> None:
        if changed.ended or changed.requests:
            settle(_outcome(request, changed))

    closing = error_response(request.id, RpcError(INTERNAL_ERROR, "The server is shutting down"))
    watcher = Watcher(frozenset({record.task_id}), deliver, lambda: settle(closing))
    engine.watchers.add(watcher)
    _save(engine, record)
    engine.scheduler.at(record.created + INLINE_WAIT_S, lambda: settle(_outcome(request, None)))
    return Pending(lambda: settle(None))
