"""`--dry-run`: the requests that a command would send, up to the one that does what it says. Sends nothing.

They are made by what makes the real ones: the conversations of the generation, the session, the transport.
What would come after them depends on the answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcptask.arguments.responses import ACCEPT
from mcptask.commands._answer import Answer
from mcptask.commands._find import Found
from mcptask.commands._getting import stored_outcome
from mcptask.commands._job import Job
from mcptask.commands._reports import server_info
from mcptask.commands._run import run
from mcptask.commands._sessions import Sessions
from mcptask.commands._tools import Tool, cached_tools, input_schema, named
from mcptask.commands._where import where
from mcptask.errors import UsageError
from mcptask.protocol.generations.base import Generation, Steps
from mcptask.protocol.task import ELICITATION
from mcptask.protocol.transports.trace import masked_entry
from mcptask.render.jsonout import dry_run_document
from mcptask.render.report import ServerInfo
from mcptask.render.requests import request_text
from mcptask.servers.endpoint import Endpoint
from mcptask.servers.secrets import secrets_of

if TYPE_CHECKING:
    from mcptask.commands._given_answer import GivenAnswer

# All that can be said of a question without asking the server for it: that it is a form.
UNSEEN = {"method": ELICITATION, "params": {"requestedSchema": {}}}

_UNKNOWN = (
    "the question is not known here: a form's defaults are not filled in, its required fields are not "
    "checked, and where it asks to open a URL, the real answer has no content"
)
_AS_TEXT = "; fields go as text, write name:=JSON for another type"


@dataclass(frozen=True)
class _Plan:
    """What a command would say to one server. `known`: that one spoke our revision before."""

    endpoint: Endpoint
    conversations: Callable[[Generation], Sequence[Steps[Any]]]
    known: bool = True


def dry_call(
    job: Job, endpoint: Endpoint, name: str, typed: Callable[[Tool], Mapping[str, Any]]
) -> Answer:
    """`typed` makes the arguments of what is known of the tool: all of it, or nothing."""
    tool = named(cached_tools(job, endpoint) or (), name)
    if tool is None:
        job.warn(
            f"what {name} takes is not known here: arguments go as they are typed, and headers made of "
            f"them (Mcp-Param-*) are not shown; mcptask tools {where(job, endpoint)}  lists the tools, and "
            "the list is kept for as long as the server allows, for the same credentials"
        )
    arguments, schema = typed(tool or {}), input_schema(tool or {})

    def conversations(generation: Generation) -> Sequence[Steps[Any]]:
        call = generation.call_tool(name, arguments, schema)
        return [generation.list_tools(), call] if tool is None else [call]

    return _shown(job, [_Plan(endpoint, conversations, known=False)])


def dry_update(
    job: Job,
    found: Found,
    given: "GivenAnswer",
    checked: Callable[[Mapping[str, Any]], Mapping[str, Mapping[str, Any]]],
) -> Answer:
    """`checked` makes the responses of what is known of the questions: nothing but their keys."""
    if given.key is None and given.raw is None:
        raise UsageError(
            "--dry-run does not ask the server what is open, so it cannot tell which question is meant",
            hint=f"name it with --key; mcptask get {found.to_type} shows it",
        )
    if given.empty:
        raise UsageError(
            "without an answer there is nothing to send, and --dry-run opens no form",
            hint="give it: fields, --accept, --decline, --cancel; "
            f"mcptask get {found.to_type} shows what is asked",
        )
    if given.raw is None and given.actions in ((), (ACCEPT,)):
        job.warn(_UNKNOWN + (_AS_TEXT if given.fields else ""))
    responses = checked({} if given.key is None else {given.key: UNSEEN})
    task_id = found.record.task_id

    def conversations(generation: Generation) -> Sequence[Steps[Any]]:
        return generation.get_task(task_id), generation.update_task(task_id, responses)

    return _shown(job, [_Plan(found.endpoint, conversations, known=found.stored)])


def dry_cancel(job: Job, tasks: Sequence[Found]) -> Answer:
    """A task that is over is not asked for, as without `--dry-run`."""
    over = [found for found in tasks if stored_outcome(job, found) is not None]
    running = [found for found in tasks if found not in over]
    plans = [_Plan(endpoint, _cancelling(ids)) for endpoint, ids in _by_server(running)]
    remarks = [f"Task {found.record.ref} is over: {found.record.status}." for found in over]
    return _shown(job, plans, remarks)


def _cancelling(ids: Sequence[str]) -> Callable[[Generation], Sequence[Steps[Any]]]:
    return lambda generation: [generation.cancel_task(each) for each in ids]


def _by_server(tasks: Sequence[Found]) -> list[tuple[Endpoint, list[str]]]:
    servers: dict[object, tuple[Endpoint, list[str]]] = {}
    for found in tasks:
        servers.setdefault(found.endpoint.key, (found.endpoint, []))[1].append(found.record.task_id)
    return list(servers.values())


def _shown(job: Job, plans: Sequence[_Plan], remarks: Sequence[str] = ()) -> Answer:
    requests, servers = run(lambda _: _previewed(job, plans))
    told = [f"Nothing was sent to {server.label} ({server.endpoint})." for server in servers]
    server = servers[0] if len(servers) == 1 else None
    return Answer(
        body=lambda: dry_run_document(requests, server, job.warnings),
        text=request_text(requests, terminal=job.env.stdout.isatty()) if requests else "",
        remarks=(*remarks, *(told or ["Nothing would be sent."])),
    )


async def _previewed(
    job: Job, plans: Sequence[_Plan]
) -> tuple[list[dict[str, Any]], list[ServerInfo]]:
    requests, servers = [], []
    async with Sessions(job, traced=False) as sessions:
        for plan in plans:
            session = sessions.to(plan.endpoint, known=plan.known)
            secrets = secrets_of(plan.endpoint, job.env.environ)
            for request in session.preview(*plan.conversations(session.generation)):
                masked = masked_entry(request, secrets)
                requests.append({"server": plan.endpoint.name, **masked})
            servers.append(server_info(plan.endpoint, session.version))
    return requests, servers
