"""The demo server with another `pollIntervalMs`, and without push if that is wanted.

usage: paced_demo.py POLL_MS push|poll STORE [http]      over stdio, or HTTP on a port of its own
"""

import sys
from pathlib import Path

from mcptask.demo.catalog import TOOLS
from mcptask.demo.engine import build, close
from mcptask.demo.methods import METHODS


def main(poll_ms: str, how: str, store: str, front: str = "stdio") -> None:
    tools = {name: tool._replace(poll_ms=int(poll_ms)) for name, tool in TOOLS.items()}
    if how == "poll":
        del METHODS["subscriptions/listen"]
    engine = build(Path(store), tools)
    try:
        if front == "http":
            from mcptask.demo import streamable_http

            streamable_http.serve(engine, "127.0.0.1", 0)
        else:
            from mcptask.demo import stdio

            stdio.serve(engine)
    finally:
        close(engine)


main(*sys.argv[1:])
