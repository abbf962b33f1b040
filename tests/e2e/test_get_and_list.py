"""`get`, `list` and `forget`: what is stored here, and what the server says of it."""

import json
import shutil

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import (
    ID,
    Scripted,
    asking,
    completed,
    created,
    dies,
    error,
    http,
    now,
    scripted,
    tool_result,
)
from tests.e2e.several import tool_error

FAILED = now("failed", error={"code": -32050, "message": "quota exceeded"})


# ── get ──────────────────────────────────────────────────────────────────────────────────────────


def test_get_shows_how_a_task_stands_and_exits_with_0(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("working", statusMessage="Reflowing 96 of 142 bookings"))
    ran = on_server("get", "1")
    assert (ran.code, ran.err) == (0, "")
    for word in (ID, "job", server.name, "working", "Reflowing 96 of 142 bookings"):
        assert word in ran.out
    assert len(server.got("tasks/get")) == 1


def test_get_of_an_ended_task_works_when_the_server_is_gone(cli: Cli) -> None:
    with scripted() as server:
        cli("call", "job", "month=x", "--wait", "-s", server.url)
    ran = cli("get", "1", "--json")
    assert ran.document["result"] == tool_result()
    assert cli("get", "1", "--result").out == "moved 138, unresolved 4\n"
    assert cli("get", "1", "--refresh").code == 7


def test_refresh_asks_again(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x", "--wait")
    before = len(server.got("tasks/get"))
    assert on_server("get", "1").code == 0
    assert len(server.got("tasks/get")) == before
    assert on_server("get", "1", "--refresh", "--json").document["outcome"] == "completed"
    assert len(server.got("tasks/get")) == before + 1


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (completed(), 0),
        (now("completed", result=tool_result(failed=True)), 1),
        (asking(), 3),
        (FAILED, 4),
        (now("cancelled"), 5),
        (now("working"), 0),
    ],
)
def test_exit_status_maps_the_state_and_plain_get_does_not(
    on_server: Cli, server: Scripted, reply: object, code: int
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", reply)  # type: ignore[arg-type]
    assert on_server("get", "1").code == 0
    assert on_server("get", "1", "--exit-status").code == code
    plain = on_server("get", "1", "--json").document
    mapped = on_server("get", "1", "--json", "--exit-status").document
    assert (plain["exitCode"], mapped["exitCode"]) == (0, code)
    assert plain["outcome"] == mapped["outcome"]


def test_only_the_result_goes_to_stdout_with_result(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    assert on_server("get", "1", "--result").out == "moved 138, unresolved 4\n"
    assert json.loads(on_server("get", "1", "--result", "--json").out) == tool_result()


def test_a_result_that_is_not_there_yet_is_a_plain_error(on_server: Cli, server: Scripted) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", now("working"))
    ran = on_server("get", "1", "--result")
    assert (ran.code, ran.out) == (2, "")
    assert "has no result yet" in ran.err
    assert "mcptask watch 1" in ran.err


def test_get_shows_the_questions_and_the_line_that_answers(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", asking())
    ran = on_server("get", "1")
    assert "4 bookings fit nowhere" in ran.out
    assert "waitlist" in ran.out
    assert "mcptask update 1" in ran.out


def test_a_task_that_the_server_forgot_is_told_with_its_last_state_and_kept(
    on_server: Cli, server: Scripted
) -> None:
    on_server("call", "job", "month=x")
    server.on("tasks/get", error(-32602, "not found"))
    ran = on_server("get", "1")
    assert (ran.code, ran.out) == (6, "")
    assert f"no longer knows task 1 ({ID})" in ran.err
    assert 'the last state seen was "working"' in ran.err
    assert len(on_server("list", "--json").listed["tasks"]) == 1


def test_get_rides_over_a_passing_fault(on_server: Cli, server: Scripted) -> None:
    """A4.3: `tasks/get` is safe to send again."""
    on_server("call", "job", "month=x")
    server.on("tasks/get", http(503), dies, now("working"))
    assert on_server("get", "1").code == 0
    assert len(server.got("tasks/get")) == 3


# ── list ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def three(on_server: Cli, server: Scripted) -> Cli:
    """Three tasks: one completed, one failed, one that works."""
    for number, reply in enumerate((completed("tsk_one"), None, None), 1):
        name = ("one", "two", "three")[number - 1]
        server.on("tools/call", created(f"tsk_{name}"))
        if reply is not None:
            server.on("tasks/get", reply)
        elif name == "two":
            server.on("tasks/get", now("failed", "tsk_two", error={"code": 1, "message": "no"}))
        waiting = () if name == "three" else ("--wait",)
        on_server("call", "job", "month=x", *waiting)
    server.on("tasks/get", now("working", "tsk_three"))
    return on_server


def test_list_shows_the_newest_first_with_no_network(three: Cli, server: Scripted) -> None:
    before = len(server.requests)
    ran = three("list")
    rows = [line.split()[:2] for line in ran.out.splitlines()]
    assert rows == [["REF", "TASK"], ["3", "tsk_three"], ["2", "tsk_two"], ["1", "tsk_one"]]
    assert ran.err == ""
    assert len(server.requests) == before


@pytest.mark.parametrize(
    ("options", "refs"),
    [
        ([], [3, 2, 1]),
        (["--status", "completed"], [1]),
        (["--status", "completed", "--status", "failed"], [2, 1]),
        (["--limit", "2"], [3, 2]),
        (["--status", "working", "--limit", "9"], [3]),
        (["-s", "https://elsewhere.example/mcp"], []),
        (["-s", "SERVER"], [3, 2, 1]),
    ],
    ids=str,
)
def test_list_can_be_narrowed(
    three: Cli, server: Scripted, options: list[str], refs: list[int]
) -> None:
    words = [server.url if word == "SERVER" else word for word in options]
    assert [record["ref"] for record in three("list", "--json", *words).listed["tasks"]] == refs


def test_list_tells_a_tool_error_from_success_also_after_its_result_was_dropped(
    on_server: Cli, server: Scripted
) -> None:
    for name, reply in (("tsk_1", tool_error("tsk_1")), ("tsk_2", completed("tsk_2"))):
        server.on("tools/call", created(name))
        server.on("tasks/get", reply)
        on_server("call", "job", "month=x", "--wait")
    shutil.rmtree(on_server.state.parent / "results")
    table = on_server("list").out.splitlines()
    assert "✓ completed" in table[1]
    assert "✗ tool error" in table[2]

    def states(status: str) -> list[tuple[str, str]]:
        records = on_server("list", "--json", "--status", status).listed["tasks"]
        return [(record["status"], record["outcome"]) for record in records]

    assert states("tool_error") == [("completed", "tool_error")]
    assert states("completed") == [("completed", "completed")]


def test_refresh_asks_for_those_that_go_on_and_for_no_other(three: Cli, server: Scripted) -> None:
    del server.requests[:]
    server.on("tasks/get", completed("tsk_three"))
    body = three("list", "--refresh", "--json").listed
    assert [record["status"] for record in body["tasks"]] == ["completed", "failed", "completed"]
    assert [got.params["taskId"] for got in server.got("tasks/get")] == ["tsk_three"]
    server.always(http(500))
    assert three("get", "3", "--result").code == 0, "the outcome was kept"


def test_refresh_contacts_no_server_that_is_not_listed(cli: Cli, server: Scripted) -> None:
    with scripted() as other:
        cli("call", "job", "month=x", "-s", server.url)
        cli("call", "job", "month=x", "-s", other.url)
        del server.requests[:], other.requests[:]
        cli("list", "--refresh", "--server", server.url)
        assert server.requests
        assert not other.requests


def test_refresh_goes_on_where_one_server_cannot_even_be_started(
    three: Cli, server: Scripted
) -> None:
    gone = '[[tasks]]\nref = 9\ntask_id = "tsk_nine"\nstatus = "working"\ncommand = ["/gone"]\n'
    three.state.write_text(three.state.read_text() + gone)
    server.on("tasks/get", completed("tsk_three"))
    ran = three("list", "--refresh", "--json")
    assert "warning: gone: the server's command does not exist" in ran.err
    assert [record["status"] for record in ran.listed["tasks"][:2]] == ["working", "completed"]


def test_refresh_of_a_server_that_is_away_is_a_warning(three: Cli, server: Scripted) -> None:
    server.always(http(500))
    ran = three("list", "--refresh")
    assert ran.code == 0
    assert "warning: " in ran.err
    assert "tsk_three" in ran.out


@pytest.mark.parametrize("how", ["by url", "configured", "demo"])
def test_the_endpoint_is_the_same_in_every_document(cli: Cli, server: Scripted, how: str) -> None:
    config = cli.configure(f'[servers.studio]\nurl = "{server.url}/${{ROOM}}?key=s3cret"\n')
    cli.environ["ROOM"] = "s3cret"
    name = {"by url": server.url, "configured": "studio", "demo": "demo"}[how]
    tool = ["reflow_month", "month=2026-09"] if how == "demo" else ["job", "month=x"]
    told = cli("call", *tool, "--json", "-s", name).document["server"]
    listed = cli("list", "--json").listed["tasks"][0]["server"]
    assert listed == told
    assert "s3cret" not in listed["endpoint"]
    config.write_text("nonsense")
    expected = "studio" if how == "configured" else told["endpoint"]
    assert cli("list", "--json").listed["tasks"][0]["server"]["endpoint"] == expected


def test_a_server_that_left_the_config_is_listed_by_its_name(cli: Cli, server: Scripted) -> None:
    config = cli.configure(f'[servers.studio]\nurl = "{server.url}"\n')
    cli("call", "job", "month=x", "-s", "studio")
    config.unlink()
    assert cli("list", "--json").listed["tasks"][0]["server"]["endpoint"] == "studio"
    assert "studio" in cli("list", "-s", "studio").out


def test_an_empty_list_says_how_to_start(cli: Cli) -> None:
    ran = cli("list")
    assert (ran.code, ran.out) == (0, "")
    assert "mcptask call TOOL" in ran.err
    assert cli("list", "-q").err == ""


# ── forget ───────────────────────────────────────────────────────────────────────────────────────


def test_forget_drops_the_record_and_never_touches_the_server(three: Cli, server: Scripted) -> None:
    before = len(server.requests)
    ran = three("forget", "1", "tsk_three")
    assert (ran.code, ran.out) == (0, "")
    assert "Forgot 2 tasks" in ran.err
    assert [record["ref"] for record in three("list", "--json").listed["tasks"]] == [2]
    assert len(server.requests) == before


def test_forget_ended_keeps_what_goes_on(three: Cli) -> None:
    assert json.loads(three("forget", "--ended", "--json").out)["forgotten"] == [1, 2]
    assert [record["ref"] for record in three("list", "--json").listed["tasks"]] == [3]


def test_a_number_is_never_given_twice(three: Cli, server: Scripted) -> None:
    three("forget", "1", "2", "3")
    assert three("call", "job", "month=x", "--json").document["ref"] == 4


def test_forget_drops_the_stored_outcome_too(three: Cli) -> None:
    results = three.state.with_name("results")
    assert len(list(results.iterdir())) == 2
    three("forget", "--ended")
    assert list(results.iterdir()) == []
