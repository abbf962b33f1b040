"""Whether the judges of tests/oracle hear these tests' processes: a deaf judge finds no fault."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.running import Cli, Ran
from tests.oracle.listening import Heard, traced_environment
from tests.oracle.trace import entries, violations


def requests(heard: Heard) -> list[dict[str, Any]]:
    return [entry for entry in entries(heard.traced) if entry["kind"] == "request"]


def methods(heard: Heard) -> list[str]:
    return [entry["message"]["method"] for entry in requests(heard)]


@pytest.mark.parametrize("front", ["http", "stdio"])
def test_what_a_process_sends_is_heard(
    front: str, demo: str, process: Callable[..., Ran], heard: Heard
) -> None:
    reach = demo if front == "http" else "demo"  # the built-in one is a child process
    assert process("call", "quick", "-s", reach).code == 0
    assert methods(heard)[-2:] == ["tools/list", "tools/call"]
    assert {entry["transport"] for entry in requests(heard)} == {front}
    assert heard.sent == 0


def test_what_is_sent_in_process_is_heard_with_its_headers(
    demo: str, cli: Cli, heard: Heard
) -> None:
    assert cli("call", "quick", "-s", demo, **traced_environment()).code == 0
    assert heard.sent == len(methods(heard)) > 0
    call = requests(heard)[-1]
    call["headers"]["mcp-session-id"] = "1"
    (told,) = violations([call])
    assert told.startswith("mcp-session-id is not for this wire")
