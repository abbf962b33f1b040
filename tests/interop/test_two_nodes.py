"""Two FastMCP nodes on one Redis behind nginx, as docs/operators.md has them: no session, no pinned node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interop.cluster import Front, fronted
from tests.interop.conftest import RUN_SECONDS, Cli, Follow
from tests.interop.programs import Program, until

pytestmark = pytest.mark.interop

Act = Callable[[str], None]


def started(mcptask: Cli, front: Front, *argv: str) -> str:
    run = mcptask("call", *argv, "--server", front.url)
    assert run.rc == 0, run
    return run.stdout.rstrip("\n")


def elsewhere(mcptask: Cli, front: Front, tool: str, method: str, act: Act) -> None:
    """Acts on a task that another node made. Whose turn it is depends on how many requests the commands make,
    so there are two tasks, and between them one request more."""
    made_and_acted = []
    for more in (False, True):
        task_id = started(mcptask, front, tool)
        if more:
            front.turn()
        act(task_id)
        made_and_acted.append((front.asked("tools/call", tool)[-1], *front.asked(method, task_id)))
    assert any(made != acted for made, acted in made_and_acted), made_and_acted


def test_a_question_is_answered_on_the_node_that_did_not_make_the_task(
    mcptask: Cli, two_nodes: Front
) -> None:
    def answers(task_id: str) -> None:
        run = mcptask("update", "last", "action=refund", "limit=2", "--wait")
        assert (run.rc, run.stdout) == (0, "bookings: {'action': 'refund', 'limit': 2}\n"), run

    elsewhere(mcptask, two_nodes, "ask", "tasks/update", answers)


def test_a_task_is_cancelled_on_the_node_that_did_not_make_it(
    mcptask: Cli, two_nodes: Front
) -> None:
    def cancels(task_id: str) -> None:
        assert mcptask("cancel", "last", "--wait").rc == 5

    elsewhere(mcptask, two_nodes, "slow", "tasks/cancel", cancels)


# ── many at once ─────────────────────────────────────────────────────────────────────────────────

MONTHS = [f"20{year}-{month:02}" for year in (26, 27) for month in range(1, 11)]


def test_twenty_calls_at_once_are_all_watched_to_their_own_results(
    mcptask: Cli, following: Follow, two_nodes: Front
) -> None:
    calls = [
        following("call", "reflow_month", f"month={month}", "seconds=3", "-s", two_nodes.url)
        for month in MONTHS
    ]
    assert {call.ended().rc for call in calls} == {0}
    run = mcptask("watch", "--all", "--json")
    assert run.rc == 0, run
    results = [document["result"]["structuredContent"]["month"] for document in run.json["tasks"]]
    assert sorted(results) == MONTHS


def test_a_watch_through_a_proxy_that_limits_it_slows_down_and_loses_nothing_a4_4(
    mcptask: Cli, two_nodes: Front, tmp_path: Path
) -> None:
    tasks = [
        started(mcptask, two_nodes, "reflow_month", f"month={month}", "seconds=2")
        for month in MONTHS[:6]
    ]
    slower = {"rate=50r/s": "rate=1r/s", "burst=100": "burst=1"}
    with fronted(tmp_path / "slower", two_nodes.nodes, slower) as front:
        run = mcptask("watch", "--json", "--server", front.url, "--", *tasks)
        refused = [each for each in front.passed() if each.status == 429]
    assert run.rc == 0, run
    assert refused
    results = [document["result"]["structuredContent"]["month"] for document in run.json["tasks"]]
    assert sorted(results) == MONTHS[:6]


# ── what is killed, and comes back ───────────────────────────────────────────────────────────────


class Job:
    """A task that runs until it is told to end, and the `watch` that follows it."""

    def __init__(self, mcptask: Cli, following: Follow, front: Front, folder: Path) -> None:
        self._end = folder / "end"
        self._nodes = front.nodes
        self.task_id = started(mcptask, front, "run_until", f"path={self._end}")
        self.watch = following("watch", "last")

    def runs_on(self) -> Program:
        """The node that runs it, once the watch has heard of it."""
        while True:
            message = self.watch.hears("status")["statusMessage"]
            for node in self._nodes:
                if node.process and message == f"on {node.process.pid}":
                    return node

    def ends_well(self) -> None:
        """Lets it end, and sees the watch end with it, having heard the truth all the time."""
        self._end.touch()
        run = self.watch.ended()
        assert run.rc == 0, run
        result = run.events[-1]["document"]["result"]["structuredContent"]["result"]
        assert result in [node.process.pid for node in self._nodes if node.process]
        told = {event["status"] for event in run.events if event["event"] == "status"}
        assert told == {"working", "completed"}, run


@pytest.fixture
def job(mcptask: Cli, following: Follow, two_nodes: Front, tmp_path: Path) -> Job:
    return Job(mcptask, following, two_nodes, tmp_path)


def test_a_task_is_polled_on_both_nodes_and_both_know_it(job: Job, two_nodes: Front) -> None:
    both = {node.port for node in two_nodes.nodes}
    for _ in until(RUN_SECONDS):
        if set(two_nodes.asked("tasks/get", job.task_id)) == both:
            break
    job.ends_well()
    polled = {
        each.port for each in two_nodes.passed() if each[:3] == ("tasks/get", job.task_id, 200)
    }
    assert polled == both


def test_a_watch_outlives_the_proxy_a10_6(job: Job, two_nodes: Front) -> None:
    job.runs_on()
    two_nodes.nginx.kill()
    job.watch.hears("retrying")
    two_nodes.nginx.start()
    job.watch.hears("reconnected")
    job.ends_well()


def test_a_watch_outlives_the_database_which_forgets_nothing_a10_7(
    job: Job, backend: Program
) -> None:
    job.runs_on()
    backend.kill()
    job.watch.hears("retrying")
    backend.start()
    job.watch.hears("reconnected")
    job.ends_well()


def test_a_watch_outlives_all_nodes_and_the_pages_of_their_proxy_a4_3_a10_6(
    job: Job, two_nodes: Front
) -> None:
    job.runs_on()
    for node in two_nodes.nodes:
        node.kill()
    assert "502" in job.watch.hears("retrying")["reason"]
    for node in two_nodes.nodes:
        node.launch()
    job.watch.hears("reconnected")
    job.runs_on()
    job.ends_well()


def test_a_call_whose_node_dies_under_it_goes_to_no_other_node_a4_5(
    mcptask: Cli, following: Follow, two_nodes: Front, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    call = following("call", "hold", f"path={held}", "--server", two_nodes.url)
    for _ in until(RUN_SECONDS):
        if held.exists() and held.read_text().endswith("\n"):
            break
    for node in two_nodes.nodes:
        if node.process and f"{node.process.pid}\n" == held.read_text():
            node.kill()
    run = call.ended()
    assert run.rc == 7, run
    assert "not known" in run.events[-1]["document"]["error"]["message"]
    assert len(two_nodes.asked("tools/call", "hold")) == 1
    assert len(held.read_text().splitlines()) == 1
    assert [each["tool"] for each in mcptask("list", "--json").json["calls"]] == ["hold"]


def test_a_watch_outlives_the_node_that_runs_its_task_and_then_the_other_one_a10_6(
    job: Job, two_nodes: Front
) -> None:
    first = job.runs_on()
    first.kill()
    second = job.runs_on()
    assert second is not first
    first.start()
    second.kill()
    assert job.runs_on() is first
    job.ends_well()
