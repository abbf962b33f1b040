"""`mcptask watch --any` and `--fail-fast`: the first end that counts ends the watch."""

from collections.abc import Callable

import pytest

from tests.e2e.running import Cli
from tests.e2e.scripted import Reply, Scripted, asking, completed, error, http, now, scripted
from tests.e2e.several import Started, by_task, failed, in_turn, outcomes, tool_error


@pytest.mark.parametrize("more", [[], ["--any"], ["--fail-fast"]], ids=str)
def test_all_where_nothing_goes_on_is_no_failure(cli: Cli, more: list[str]) -> None:
    ran = cli("watch", "--all", *more, "--json")
    assert (ran.code, ran.documents["tasks"]) == (0, [])
    text = cli("watch", "--all", *more)
    assert (text.code, text.out) == (0, "")
    assert text.err == "Nothing goes on. What ended:  mcptask list\n"


def test_all_where_what_goes_on_cannot_be_reached_is_one(cli: Cli, server: Scripted) -> None:
    config = cli.configure(f'[servers.studio]\nurl = "{server.url}"')
    assert cli("call", "job", "month=x", "-s", "studio").code == 0
    config.write_text("")
    ran = cli("watch", "--all", "--json")
    assert ran.code == 2
    assert "no task that goes on can be followed" in ran.document["error"]["message"]


@pytest.mark.parametrize(
    ("end", "code"), [(completed, 0), (failed, 4), (tool_error, 1), (lambda _: error(-32602), 6)]
)
def test_any_stops_with_the_first_that_ends_and_the_others_go_on(
    cli: Cli, server: Scripted, started: Started, end: Callable[[str], Reply], code: int
) -> None:
    started(server, 3)
    working = [now("working", f"tsk_{number}") for number in range(4)]
    second = in_turn(working[2], working[2], end("tsk_2"))
    server.on("tasks/get", by_task(tsk_1=working[1], tsk_2=second, tsk_3=working[3]))
    ran = cli("watch", "--all", "--any", "--json")
    names = {0: "completed", 4: "failed", 1: "tool_error", 6: "lost"}
    assert outcomes(ran.documents) == [("working", 0), (names[code], code), ("working", 0)]
    assert ran.code == code
    assert server.got("tasks/cancel") == []


def test_what_goes_on_after_any_is_told_with_the_command_to_follow_it(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 3)
    going_on = {f"tsk_{number}": now("working", f"tsk_{number}") for number in (1, 3)}
    server.on("tasks/get", by_task(**going_on, tsk_2=completed("tsk_2")))
    ran = cli("watch", "1", "2", "3", "--any")
    assert ran.code == 0
    assert ran.out == "moved 138, unresolved 4\n"
    assert "2 tasks go on. Follow them again:  mcptask watch 1 3\n" in ran.err


def test_a_server_out_of_reach_ends_no_task_for_any(
    cli: Cli, server: Scripted, started: Started
) -> None:
    with scripted() as gone:
        started(gone, 1)
    started(server, 1)
    server.on("tasks/get", *[now("working", "tsk_1")] * 40, completed("tsk_1"))
    ran = cli("watch", "--all", "--any", "--json", "--give-up-after", "5s")
    assert outcomes(ran.documents) == [("unreachable", 7), ("completed", 0)]
    assert ran.code == 0


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (failed("tsk_2"), 4),
        (tool_error("tsk_2"), 1),
        (now("cancelled", "tsk_2"), 5),
        (error(-32602), 6),
        (http(401), 8),
        (now("working", "tsk_other"), 9),
        (asking("tsk_2"), 3),
    ],
)
def test_fail_fast_stops_with_the_first_bad_end_and_no_good_one(
    cli: Cli, server: Scripted, started: Started, end: Reply, code: int
) -> None:
    started(server, 3)
    second = in_turn(*[now("working", "tsk_2")] * 4, end)
    third = now("working", "tsk_3")
    server.on("tasks/get", by_task(tsk_1=completed("tsk_1"), tsk_2=second, tsk_3=third))
    ran = cli("watch", "--all", "--fail-fast", "--json")
    ended = outcomes(ran.documents)
    assert (ended[0], ended[1][1], ended[2]) == (("completed", 0), code, ("working", 0))
    assert ran.code == code


def test_a_timeout_is_no_bad_end_of_one_task(cli: Cli, server: Scripted, started: Started) -> None:
    started(server, 2)
    both = {f"tsk_{number}": now("working", f"tsk_{number}") for number in (1, 2)}
    server.on("tasks/get", by_task(**both))
    ran = cli("watch", "--all", "--fail-fast", "--timeout", "5s", "--json")
    assert outcomes(ran.documents) == [("timeout", 124)] * 2
    assert ran.code == 124


def test_when_all_end_well_fail_fast_changes_nothing(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 2)
    server.on("tasks/get", by_task(tsk_1=completed("tsk_1"), tsk_2=completed("tsk_2")))
    ran = cli("watch", "--all", "--fail-fast", "--json")
    assert (ran.code, outcomes(ran.documents)) == (0, [("completed", 0)] * 2)


def test_the_two_exclude_each_other_before_anything_is_asked(
    cli: Cli, server: Scripted, started: Started
) -> None:
    started(server, 1)
    ran = cli("watch", "--any", "--fail-fast", "--json")
    assert (ran.code, ran.document["error"]["kind"]) == (2, "usage")
    assert server.got("tasks/get") == []


@pytest.mark.parametrize("option", ["--any", "--fail-fast"])
def test_with_a_single_task_they_change_nothing(
    cli: Cli, server: Scripted, started: Started, option: str
) -> None:
    started(server, 1)
    server.on("tasks/get", now("working", "tsk_1"), failed("tsk_1"))
    ran = cli("watch", "1", option, "--json")
    assert (ran.document["outcome"], ran.code) == ("failed", 4)


@pytest.mark.parametrize("option", ["--any", "--fail-fast"])
def test_a_task_that_is_known_to_have_ended_counts_without_a_request(
    cli: Cli, server: Scripted, started: Started, option: str
) -> None:
    started(server, 3)
    server.on("tasks/get", by_task(tsk_2=completed("tsk_2"), tsk_3=failed("tsk_3")))
    assert cli("watch", "3").code == 4  # ended first, though it is named last
    assert cli("watch", "2").code == 0
    asked = len(server.got("tasks/get"))
    ran = cli("watch", "1", "2", "3", option, "--json")
    assert len(server.got("tasks/get")) == asked
    assert outcomes(ran.documents) == [("working", 0), ("completed", 0), ("failed", 4)]
    assert ran.code == 4
