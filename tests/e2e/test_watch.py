"""`mcptask watch`: coming back to one task or several, on one server or several."""

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import (
    Scripted,
    asking,
    completed,
    created,
    dies,
    error,
    http,
    now,
    scripted,
)


def test_watch_without_a_name_follows_the_latest(on_server: Cli, server: Scripted) -> None:
    for name in ("tsk_old", "tsk_new"):
        server.on("tools/call", created(name))
        on_server("call", "job", "month=x")
    server.on("tasks/get", now("working", "tsk_new"), completed("tsk_new"))
    ran = on_server("watch", "--json").document
    assert (ran["ref"], ran["task"]["taskId"]) == (2, "tsk_new")


def test_watch_needs_no_server_since_the_record_knows_it(cli: Cli, server: Scripted) -> None:
    cli("call", "job", "month=x", "-s", server.url)
    assert cli("watch", MCPTASK_SERVER="http://127.0.0.1:1/elsewhere").code == 0


def test_several_tasks_on_several_servers_are_followed_at_once(cli: Cli, server: Scripted) -> None:
    with scripted() as other:
        for number, script in enumerate((server, other), 1):
            script.on("tools/call", created(f"tsk_{number}"))
            script.on("tasks/get", now("working", f"tsk_{number}"), completed(f"tsk_{number}"))
            cli("call", "job", "month=x", "-s", script.url)
        ran = cli("watch", "1", "2")
        assert ran.code == 0
        assert ran.out.count("moved 138, unresolved 4") == 2
        body = cli("watch", "1", "2", "--json").documents
    assert [each["task"]["taskId"] for each in body["tasks"]] == ["tsk_1", "tsk_2"]
    assert [each["server"]["endpoint"] for each in body["tasks"]] == [server.url, other.url]


def test_json_lines_of_several_end_with_one_line_for_all(on_server: Cli, server: Scripted) -> None:
    for name in ("tsk_1", "tsk_2"):
        server.on("tools/call", created(name))
        on_server("call", "job", "month=x")

    def reply(handler: object, got: object) -> None:
        completed(got.params["taskId"])(handler, got)  # type: ignore[attr-defined,arg-type]

    server.on("tasks/get", reply)
    lines = on_server("watch", "--all", "--jsonl").events
    assert [line["event"] for line in lines].count("ended") == 3
    assert {line["taskId"] for line in lines[:-1]} == {"tsk_1", "tsk_2"}
    assert [one["outcome"] for one in lines[-1]["document"]["tasks"]] == ["completed"] * 2


def test_the_same_task_named_twice_is_followed_once(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    assert on_server("watch", "1", "last", "--json").document["ref"] == 1


def test_all_is_a_list_even_of_one(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    assert len(on_server("watch", "--all", "--json").documents["tasks"]) == 1


def test_the_latest_of_no_tasks_is_a_usage_error(on_server: Cli) -> None:
    ran = on_server("watch")
    assert ran.code == 2
    assert "mcptask call TOOL --wait starts one" in ran.err


def test_bad_polls_are_ridden_out_and_told(on_server: Cli, server: Scripted) -> None:
    """A10.6"""
    on_server("call", "job", "month=x")
    bad = [http(503), dies, http(429, Retry_After="7"), error(-32603, "internal")]
    server.on("tasks/get", now("working"), *bad, completed())
    ran = on_server("watch", "1")
    assert ran.code == 0
    assert "does not answer" in ran.err
    assert "answers again" in ran.err
    assert on_server.time.gaps("tasks/get")[3] >= 7


def test_json_lines_tell_of_an_outage(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("working"), http(503), http(503), completed())
    lines = on_server("watch", "1", "--jsonl").events
    retrying = [line for line in lines if line["event"] == "retrying"]
    assert [line["attempt"] for line in retrying] == [1, 2]
    assert all(line["retryAt"] and line["giveUpAt"] for line in retrying)
    assert any(line["event"] == "reconnected" for line in lines)


def test_a_server_that_comes_back_at_the_same_address_is_found_again(cli: Cli) -> None:
    with scripted() as first:
        cli("call", "job", "month=x", "-s", first.url)
        port = int(first.name.rpartition(":")[2])
    assert cli("watch", "1", "--give-up-after", "5s").code == 7
    with scripted(port):
        assert cli("watch", "1").code == 0


def test_a_log_without_a_terminal_gets_a_heartbeat_every_30_s(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=x")
    working = now("working", statusMessage="Reflowing", pollIntervalMs=10_000)
    server.on("tasks/get", *[working] * 10, completed())
    ran = on_server("watch", "1")
    assert ran.err.count("still working · Reflowing") in (2, 3)


def test_the_last_line_of_a_log_is_said_once(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    ran = on_server("watch", "1")
    assert len([line for line in ran.err.splitlines() if "completed" in line]) == 1


def test_a_question_that_was_answered_elsewhere_is_waited_out(
    on_server: Cli, server: Scripted
) -> None:
    """A12.2: not asked twice, whatever the server still lists."""
    on_server("call", "job", "month=x")
    server.on("tasks/get", asking())
    assert on_server("update", "1", "action=keep").code == 0
    server.on("tasks/get", asking(), asking(), completed())
    assert on_server("watch", "1").code == 0


@pytest.mark.parametrize("option", ["--timeout", "--interval", "--give-up-after"])
@pytest.mark.parametrize("text", ["soon", "-5", "0", "1e999", ""])
def test_a_duration_that_is_none_is_refused(cli: Cli, option: str, text: str) -> None:
    ran = cli("call", "job", "-s", "http://127.0.0.1:1/mcp", option, text, "--json").document
    assert ran["error"]["kind"] in ("usage", "unreachable")


def test_a_timeout_leaves_the_task_alone_a13_3(on_server: Cli, server: Scripted) -> None:
    server.on("tasks/get", now("working", pollIntervalMs=600_000))
    ran = on_server("call", "job", "month=x", "--wait", "--timeout", "1h30m")
    assert ran.code == 124
    assert "mcptask watch 1" in ran.err
    assert server.got("tasks/cancel") == []
