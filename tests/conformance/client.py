"""mcptask as the client that the official suite judges:  python -m tests.conformance.client URL

The suite names the scenario and its data in the environment. What is done for one are command lines of
mcptask, run by the CLI itself in a home of their own. One that ends with another exit code than it should
ends the driver with 1, which the suite takes for a failure.
"""

import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mcptask.cli import run
from mcptask.env import Env
from mcptask.errors import ExitCode
from tests.oracle.trace import entries, violations

Json = dict[str, Any]
# `mcptask("tools", "--json")` returns what the command printed on stdout.
Mcptask = Callable[..., str]

# Each breaks A7.2 in another way. The suite counts it as refused if it is not called; here it is asked for.
INVALID_TOOLS = (
    *("invalid_empty_header", "invalid_object_header", "invalid_array_header"),
    *("invalid_null_header", "invalid_number_header", "invalid_duplicate_same_case"),
    *("invalid_duplicate_diff_case", "invalid_space_in_name", "invalid_colon_in_name"),
    *("invalid_non_ascii_name", "invalid_control_char_name"),
)


def _call_add_numbers(mcptask: Mcptask, _context: Json) -> None:
    mcptask("call", "add_numbers", "a=5", "b=3")


def _list_tools(mcptask: Mcptask, _context: Json) -> None:
    mcptask("tools")


def _list_and_call(mcptask: Mcptask, _context: Json) -> None:
    mcptask("tools")
    mcptask("call", "test_headers")
    mcptask("call", "my-hyphenated-tool")


def _make_the_calls(mcptask: Mcptask, context: Json) -> None:
    """As they are, for one of them has a null where its schema says boolean."""
    for call in context["toolCalls"]:
        mcptask("call", call["name"], "--no-validate", "--args", json.dumps(call["arguments"]))


def _call_the_valid_tool(mcptask: Mcptask, _context: Json) -> None:
    mcptask("call", "valid_tool", "region=eu-west-1")
    for name in INVALID_TOOLS:
        mcptask("call", name, "--no-validate", ends=ExitCode.USAGE)


def _answer_before_the_task(mcptask: Mcptask, _context: Json) -> None:
    answers = Path.home() / "answers.json"
    answers.write_text(json.dumps({"confirm": {"confirmed": True}}))
    for name in ("echo_state", "no_state", "unrelated", "no_result_type"):
        mcptask("call", f"test_mrtr_{name}", "--answers", str(answers))


def _meet_a_distant_ref(mcptask: Mcptask, _context: Json) -> None:
    """All that mcptask does with a schema: it shows it, and checks arguments by it, here in vain."""
    mcptask("tools", "lookup_user")
    mcptask("call", "lookup_user", "id=7", "profile:={}", ends=ExitCode.USAGE)


def _send_a_schema_back(mcptask: Mcptask, _context: Json) -> None:
    shown = json.loads(mcptask("tools", "json_schema_2020_12_tool", "--json"))
    schema = json.dumps({"schema": shown["tools"][0]["inputSchema"]})
    mcptask("call", "json_schema_echo", "--args", schema)


SCENARIOS: dict[str, Callable[[Mcptask, Json], None]] = {
    "tools_call": _call_add_numbers,
    "request-metadata": _list_tools,
    "http-standard-headers": _list_and_call,
    "http-custom-headers": _make_the_calls,
    "http-invalid-tool-headers": _call_the_valid_tool,
    "sep-2322-client-request-state": _answer_before_the_task,
    "json-schema-ref-no-deref": _meet_a_distant_ref,
    "json-schema-2020-12-preservation": _send_a_schema_back,
}


def _run(url: str, *argv: str, ends: int = ExitCode.OK) -> str:
    out, err = io.StringIO(), io.StringIO()
    env = Env(io.StringIO(), out, err, os.environ, Path.cwd())
    code = run([*argv, "--server", url], env)
    print(f"$ mcptask {' '.join(argv)}  → {code}", out.getvalue(), err.getvalue(), sep="\n")
    if code != ends:
        sys.exit(f"exit code {code} where {int(ends)} was expected")
    return out.getvalue()


def main() -> None:
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    with tempfile.TemporaryDirectory() as home:
        os.environ.clear()  # httpx, too, looks for settings there
        os.environ |= {"HOME": home, "MCPTASK_TRACE": f"{home}/trace"}
        SCENARIOS[scenario](partial(_run, sys.argv[1]), context)
        # The suite looks at what a scenario is about; the official types, at every message.
        if faults := list(violations(entries(Path(home, "trace")))):
            sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
