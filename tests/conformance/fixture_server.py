"""The demo's engine over HTTP with the tools that the official suite's server scenarios call.

python -m tests.conformance.fixture_server HOST:PORT [STORE]
"""

import sys
from pathlib import Path

from mcptask.demo import streamable_http
from mcptask.demo.engine import build, close
from mcptask.demo.jobs import Tools, table
from mcptask.demo.methods import METHODS
from tests.conformance.fixture_calls import CALL_TOOLS
from tests.conformance.fixture_lists import LISTS
from tests.conformance.fixture_rounds import ROUND_TOOLS
from tests.conformance.fixture_tasks import TASK_TOOLS

FIXTURES: Tools = table(*CALL_TOOLS, *ROUND_TOOLS, *TASK_TOOLS)


def main(argv: list[str]) -> None:
    host, _, port = argv[0].rpartition(":")
    METHODS.update(LISTS)
    engine = build(Path(argv[1]) if argv[1:] else None, FIXTURES)
    try:
        streamable_http.serve(engine, host, int(port))
    finally:
        close(engine)


if __name__ == "__main__":
    main(sys.argv[1:])
