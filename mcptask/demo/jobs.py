"""What a tool is to the engine, and how the work behind it is written.

A job is a step function: it gets what was persisted and says what to do next, and all that it
remembers is in `state`. So a job survives the process that began it: any other process with the
same store and the same tools takes the next step.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mcptask.demo.jsonrpc import Json

DAY_MS = 24 * 60 * 60 * 1000


class Call(NamedTuple):
    """A `tools/call` with its defaults filled in. `state` is what `Ask.state` was in the last
    round of a multi round-trip request, proven to be ours; `responses` are this round's, and so
    are `capabilities`: they say what the client may be asked."""

    arguments: Json
    responses: Json
    state: Json | None
    capabilities: Json


class Job(NamedTuple):
    """A task at the moment of a step. `answers` holds every answer that it was given so far, and
    None for a question that was withdrawn."""

    arguments: Json
    state: Json
    answers: Json
    cancel_asked: bool


class Start(NamedTuple):
    """Begin a task; the first step comes after `delay_s` seconds."""

    state: Json = {}  # noqa: RUF012
    delay_s: float = 0.0
    message: str | None = None


class Next(NamedTuple):
    """Come back in `delay_s` seconds with this `state`; `message` is the status message."""

    delay_s: float
    state: Json
    message: str | None = None


class Ask(NamedTuple):
    """Ask the client: key → request. From a step it makes the task `input_required`; from an
    opening it makes the answer to `tools/call` `input_required`, with `state` as requestState.
    What a step asks is withdrawn after `withdraw_after_s` seconds without an answer; None: never."""

    requests: Json
    state: Json | None = None
    message: str | None = None
    withdraw_after_s: float | None = None


class Done(NamedTuple):
    """A CallToolResult (`isError` included); `message` becomes the last status message."""

    result: Json
    message: str | None = None


class Fail(NamedTuple):
    """A JSON-RPC error: the task is `failed`, which an `isError` result never is."""

    code: int
    message: str
    data: object = None


Opening = Done | Ask | Start
Step = Next | Ask | Done | Fail


def start_at_once(_call: Call) -> Opening:
    return Start()


def never_steps(_job: Job) -> Step:
    return Fail(-32603, "This tool answers at once and has no steps")


def _needs_nothing(_arguments: Json) -> Json:
    return {}


class Tool(NamedTuple):
    """One row of the table of tools.

    `must_be_task`: a request that does not declare the Tasks extension is refused with -32021;
    otherwise the engine waits for the job and answers with its result. `needs` names the client
    capabilities that a call with these arguments cannot do without. `heeds_cancel=False`: the job
    is told of the cancellation and goes on.
    """

    name: str
    title: str
    description: str
    input_schema: Json
    open: Callable[[Call], Opening] = start_at_once
    step: Callable[[Job], Step] = never_steps
    output_schema: Json | None = None
    annotations: Json = {}  # noqa: RUF012
    must_be_task: bool = False
    heeds_cancel: bool = True
    needs: Callable[[Json], Json] = _needs_nothing
    poll_ms: int = 500
    ttl_ms: int | None = DAY_MS


Tools = Mapping[str, Tool]


def table(*tools: Tool) -> dict[str, Tool]:
    return {tool.name: tool for tool in tools}


def text_result(text: str, structured: Json | None = None, *, is_error: bool = False) -> Json:
    """A CallToolResult with one text block."""
    result: Json = {"content": [{"type": "text", "text": text}], "isError": is_error}
    return result if structured is None else result | {"structuredContent": structured}


def form(message: str, properties: Json, required: list[str]) -> Json:
    """An `elicitation/create` request in form mode."""
    schema = {"type": "object", "properties": properties, "required": required}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}
