"""The judge of a trace."""

import json
from pathlib import Path
from typing import Any

from tests.oracle.samples import GOOD, broken, posted
from tests.oracle.trace import entries, violations


def out(message: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    kept = {"message": message} if message else {}
    entry = {"pid": 1, "seq": 1, "server": "s", "direction": "out", "transport": "stdio"}
    return entry | kept | fields


def over_http(message: dict[str, Any], **headers: str) -> dict[str, Any]:
    return out(
        message, transport="http", method="POST", url="u", headers=posted(message, **headers)
    )


def written(path: Path, *found: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in found), encoding="ascii")
    return path


def test_a_trace_without_a_fault_passes(tmp_path: Path) -> None:
    found = [
        out(kind="start", command=["server"], childPid=2),
        out(GOOD["get"]),
        {"direction": "in", "message": {"jsonrpc": "2.0", "id": 7, "nonsense": True}, "to": 1},
        out(GOOD["give up"]),
        over_http(GOOD["update"]),
    ]
    assert list(violations(entries(written(tmp_path / "t", *found)))) == []


def test_a_wrong_message_is_told_and_shown() -> None:
    wrong = broken("get", lambda m: m["params"].pop("taskId"))
    (told,) = violations([out(GOOD["get"]), out(wrong)])
    assert told == f"params.taskId: Field required\n  in {json.dumps(wrong)}"


def test_a_wrong_header_is_told_a3_3() -> None:
    (told,) = violations([over_http(GOOD["get"], mcp_name="2")])
    assert told.startswith("mcp-name is '2', where the body has '1'\n  in {")
    (told,) = violations([over_http(GOOD["get"], mcp_name=" 1")])
    assert told.startswith("' 1' may not stand in a header")


def test_a_message_by_another_method_is_told_a3_8() -> None:
    (told,) = violations([over_http(GOOD["list"]) | {"method": "GET"}])
    assert told.startswith("a message goes by POST, not by GET")


def test_a_look_for_the_oldest_wire_has_none_of_the_headers_of_this_one_a3_8() -> None:
    look = out(transport="http", method="GET", url="u", headers={"accept": "text/event-stream"})
    assert list(violations([look])) == []
    look["headers"]["Mcp-Method"] = "initialize"
    (told,) = violations([look])
    assert told.startswith("mcp-method on a GET")


def test_only_a_request_of_the_same_process_is_given_up_a6_5() -> None:
    (told,) = violations([out(GOOD["get"]), out(GOOD["give up"], pid=2)])
    assert told == "no request has the id 7 that is given up (A6.5)"


def test_no_trace_is_no_evidence_and_neither_is_a_line_that_was_cut(tmp_path: Path) -> None:
    path = tmp_path / "t"
    assert entries(path) == []
    whole = written(path, out(GOOD["get"])).read_text(encoding="ascii")
    path.write_text(whole + '{"direction":', encoding="ascii")
    assert entries(path) == [out(GOOD["get"])]
