"""`mcptask servers`: the servers that can be named, and where each comes from."""

from mcptask.commands._answer import Answer
from mcptask.commands._job import Job
from mcptask.commands._options import FORMAT, command


@command(FORMAT)
def servers(job: Job) -> Answer:
    """List the servers that --server can name.

    mcptask servers
    """
    from mcptask.render.tables import ServerRow, server_table
    from mcptask.servers.resolve import known

    rows = [ServerRow(s.name, s.address, s.source, s.default) for s in known(job.config)]
    body = {
        "mcptask": 1,
        "ok": True,
        "exitCode": 0,
        "servers": [
            {"name": r.name, "endpoint": r.endpoint, "source": r.source, "default": r.default}
            for r in rows
        ],
    }
    width = job.env.width(job.env.stdout)
    return Answer(body=lambda: body, text="\n".join(server_table(rows, width=width)))
