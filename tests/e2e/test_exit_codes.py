"""Every exit code of the contract, each from a real situation, in text and in JSON."""

import socket
from dataclasses import dataclass

import pytest

from mcptask.protocol.session import Session
from tests.e2e.running import Cli
from tests.e2e.scripted import (
    Reply,
    Scripted,
    asking,
    completed,
    created,
    error,
    http,
    now,
    result,
    task,
    tool_result,
)

LOST = error(-32602, "Failed to retrieve task: not found")
FAILED = now("failed", error={"code": -32050, "message": "quota exceeded", "data": {"used": 3}})
TOOL_ERROR = now("completed", result=tool_result("disk full", failed=True))
QUEUED = now("queued", pollIntervalMs=60_000)
WORKING = now("working", statusMessage="Reflowing", pollIntervalMs=4000)


@dataclass(frozen=True)
class Row:
    """What `tasks/get` answers, and what `watch` makes of it."""

    reply: Reply
    code: int
    outcome: str
    kind: str | None
    said: str = ""
    options: tuple[str, ...] = ()


ROWS = {
    "completed": Row(completed(), 0, "completed", None),
    "the tool reports an error": Row(TOOL_ERROR, 1, "tool_error", "tool", "an error of its own"),
    "a question": Row(asking(), 3, "input_required", "input", "mcptask update 1"),
    "failed": Row(FAILED, 4, "failed", "jsonrpc", "quota exceeded (-32050)"),
    "cancelled": Row(now("cancelled"), 5, "cancelled", None),
    "unknown to the server": Row(LOST, 6, "lost", "lost", "no longer knows task 1"),
    "a server that stays busy": Row(
        http(503), 7, "unreachable", "unreachable", "mcptask watch 1", ("--give-up-after", "20s")
    ),
    "401": Row(http(401), 8, "unauthorized", "unauthorized", "401"),
    "403": Row(http(403), 8, "unauthorized", "unauthorized", "403"),
    "an answer about another task": Row(completed("tsk_other"), 9, "protocol", "protocol", "other"),
    "a page": Row(
        http(200, "<h1>Hi</h1>"), 7, "unreachable", "unreachable", "html", ("--give-up-after", "9s")
    ),
    "a status nobody knows": Row(QUEUED, 9, "protocol", "protocol", "queued"),
    "the time is over": Row(
        WORKING, 124, "timeout", "timeout", "mcptask watch 1", ("--timeout", "10s")
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_exit_code_of_watch_says_how_it_ended(
    on_server: Cli, server: Scripted, row: Row
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", row.reply)
    ran = on_server("watch", "1", *row.options)
    assert ran.code == row.code
    assert row.said in ran.err
    again = on_server("watch", "1", "--json", *row.options).document
    assert (again["exitCode"], again["outcome"]) == (row.code, row.outcome)
    assert (again["error"] or {}).get("kind") == row.kind
    assert (again["result"] is not None) is (row.code in (0, 1))


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_the_exit_code_of_a_waiting_call_is_that_of_watch(
    on_server: Cli, server: Scripted, row: Row
) -> None:
    server.on("tasks/get", row.reply)
    ran = on_server("call", "job", "month=x", "--wait", "--jsonl", *row.options)
    assert (ran.code, ran.events[-1]["document"]["outcome"]) == (row.code, row.outcome)


@pytest.mark.parametrize(
    ("name", "code"), [("completed", 0), ("failed", 4), ("the tool reports an error", 1)]
)
def test_a_task_that_was_over_exits_as_if_it_was_watched_live(
    on_server: Cli, server: Scripted, name: str, code: int
) -> None:
    server.on("tasks/get", ROWS[name].reply)
    first = on_server("call", "job", "month=x", "--wait")
    server.always(http(500))
    later = on_server("watch", "1")
    assert (first.code, later.code, later.out) == (code, code, first.out)


def test_only_failed_blames_the_task(on_server: Cli, server: Scripted) -> None:
    """Losing contact says nothing about the task: the record keeps the state last seen."""
    on_server("call", "job", "month=x")
    for name in (
        "401",
        "an answer about another task",
        "the time is over",
        "unknown to the server",
    ):
        server.on("tasks/get", ROWS[name].reply)
        on_server("watch", "1", *ROWS[name].options)
        (record,) = on_server("list", "--json").listed["tasks"]
        assert record["status"] == "working"
        assert record["outcome"] in (None, "lost")


def test_a_failed_task_keeps_the_code_and_data_of_its_error(
    on_server: Cli, server: Scripted
) -> None:
    server.on("tasks/get", FAILED)
    told = on_server("call", "job", "month=x", "--wait", "--json").document["error"]
    assert (told["code"], told["message"], told["data"]) == (-32050, "quota exceeded", {"used": 3})


@pytest.mark.parametrize(
    ("reply", "code", "kind"),
    [
        (result(**tool_result("no", failed=True)), 1, "tool"),
        (error(-32602, "Unknown tool: job"), 4, "jsonrpc"),
        (error(-32603, "boom", data={"a": 1}), 4, "jsonrpc"),
        (error(-32021, "sampling is needed", status=400), 4, "jsonrpc"),
        (http(401), 8, "unauthorized"),
        (http(429, Retry_After="7"), 7, "unreachable"),
        (http(200, "<h1>Hi</h1>"), 9, "protocol"),
        (http(302, Location="https://elsewhere.example/"), 9, "protocol"),
        (result(resultType="banana"), 9, "protocol"),
    ],
)
def test_what_tools_call_is_answered_with_decides_the_exit_code(
    on_server: Cli, server: Scripted, reply: Reply, code: int, kind: str
) -> None:
    server.on("tools/call", reply)
    body = on_server("call", "job", "month=x", "--json").document
    assert (body["exitCode"], body["error"]["kind"]) == (code, kind)
    assert len(server.got("tools/call")) == 1


def test_a_server_that_is_down_is_unreachable(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"
        ran = cli("call", "job", "month=x", "-s", url)
        assert ran.code == 7
        assert "connection refused" in ran.err
        assert cli("call", "job", "-s", url, "--json").document["error"]["kind"] == "unreachable"
        assert cli("list", "--json").listed["calls"] == []


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ("completed completed", 0),
        ("completed the time is over", 124),
        ("cancelled a question", 5),
        ("the tool reports an error failed", 4),
        ("failed unknown to the server", 6),
        ("unknown to the server 401", 8),
        ("an answer about another task 401", 9),
    ],
)
def test_watching_several_exits_with_the_worst_of_them(
    on_server: Cli, server: Scripted, codes: str, expected: int
) -> None:
    names = [name for name in ROWS if name in codes.replace("completed completed", "completed")]
    rows = [ROWS[name] for name in names] * (1 if len(names) == 2 else 2)
    by_id = {}
    for number, row in enumerate(rows, 1):
        server.on("tools/call", created(f"tsk_{number}"))
        on_server("call", "job", "month=x")
        by_id[f"tsk_{number}"] = row

    def reply(handler: object, got: object) -> None:
        row = by_id[got.params["taskId"]]  # type: ignore[attr-defined]
        if row.reply is ROWS["completed"].reply:
            completed(got.params["taskId"])(handler, got)  # type: ignore[attr-defined,arg-type]
        elif row.outcome in ("input_required", "failed", "tool_error", "cancelled", "timeout"):
            status = row.outcome if row.outcome in ("input_required", "failed") else "cancelled"
            body = task(status, got.params["taskId"])  # type: ignore[attr-defined]
            body |= _payload(row.outcome)
            result(**body)(handler, got)  # type: ignore[arg-type]
        else:
            row.reply(handler, got)  # type: ignore[arg-type]

    server.on("tasks/get", reply)
    ran = on_server("watch", "--all", "--json", "--timeout", "10s")
    assert ran.documents["exitCode"] == ran.code == expected


def _payload(outcome: str) -> dict[str, object]:
    return {
        "input_required": {"inputRequests": {"k": {"method": "elicitation/create"}}},
        "failed": {"error": {"code": -1, "message": "no"}},
        "tool_error": {"status": "completed", "result": tool_result(failed=True)},
        "timeout": {"status": "working"},
    }.get(outcome, {})


def test_a_bug_of_ours_exits_with_70_and_names_a_log_without_values(
    on_server: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "s3cret"

    async def broken(self: Session, *more: object, **named: object) -> None:
        raise ZeroDivisionError(secret)

    on_server("call", "job", "month=x")
    monkeypatch.setattr(Session, "get", broken)
    monkeypatch.setattr("tests.e2e.running.EXIT_CODES", {70})
    ran = on_server("get", "1")
    assert ran.code == 70
    assert "a bug in mcptask" in ran.err
    log = on_server.state.with_name("crash.log")
    assert str(log) in ran.err
    assert "ZeroDivisionError" in log.read_text()
    assert secret not in log.read_text() + ran.err
    assert log.stat().st_mode & 0o777 == 0o600
    body = on_server("get", "1", "--json").document
    assert (body["exitCode"], body["error"]["kind"]) == (70, "internal")
