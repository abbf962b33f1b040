"""`mcptask demo`: the demo server by itself, over stdio or HTTP."""

from typing import Annotated

import typer


def demo(
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Serve HTTP here, not stdio.")
    ] = None,
    store: Annotated[
        str | None, typer.Option("--store", metavar="FILE", help="Where the demo keeps its tasks.")
    ] = None,
) -> int:
    """Run the demo server by itself: stdio, or --http HOST:PORT.

    mcptask demo --http 127.0.0.1:8000

    mcptask call reflow_month month=2026-09 --wait -s http://127.0.0.1:8000/mcp
    """
    from mcptask.demo.__main__ import main

    options = {"--http": http, "--store": store}
    return main([word for name, value in options.items() if value for word in (name, value)])
