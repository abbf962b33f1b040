"""The tools of a server, asked for anew each time: who looks at the list wants the list of now."""

from collections.abc import Mapping
from typing import Any

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._reports import server_info
from mcptask.commands._run import run, within
from mcptask.commands._sessions import Sessions
from mcptask.commands._tools import Listed, Tool, input_schema, listed_tools, the_one
from mcptask.commands._words import with_next_step
from mcptask.errors import WireError
from mcptask.render.jsonout import server_body
from mcptask.render.tables import ToolRow, tool_details, tool_table


def show_tools(job: Job, name: str | None) -> Answer:
    endpoint = job.endpoint()

    async def work() -> tuple[Listed, str]:
        async with Sessions(job) as sessions:
            session = sessions.to(endpoint, known=False)
            try:
                async with within(job):
                    return await listed_tools(job, endpoint, session), session.version
            except WireError as error:
                back = "is the address right, and the server running?"
                raise with_next_step(error, endpoint, back) from None

    listed, version = run(lambda _: work())
    for left_out, fault in listed.left_out.items():
        job.warn(f"{endpoint.name}: the tool {left_out} is left out: {fault}")
    chosen = listed.usable if name is None else [the_one(job, endpoint, listed, name)]
    width = job.env.width(job.env.stdout)
    body = {
        "mcptask": 1,
        "ok": True,
        "exitCode": 0,
        "server": server_body(server_info(endpoint, version)),
        "tools": chosen,
        "warnings": job.warnings,
    }
    return Answer(
        body=lambda: body,
        text="\n".join(_text(chosen, name is not None, width)),
        remarks=() if chosen else (f"{endpoint.name} offers no tools.",),
    )


def _text(tools: list[Tool], detailed: bool, width: int | None) -> list[str]:
    rows = [ToolRow(tool["name"], _description(tool)) for tool in tools]
    if not detailed:
        return tool_table(rows, width=width) if rows else []
    return tool_details(rows[0], input_schema(tools[0]), width=width)


def _description(tool: Mapping[str, Any]) -> str | None:
    text = tool.get("description") or tool.get("title")
    return text if isinstance(text, str) else None
