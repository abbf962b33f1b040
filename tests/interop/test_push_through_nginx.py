"""News of a task through nginx, as docs/operators.md sets it up: two demo servers on one store, for FastMCP
does not push (A11)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.cluster import fronted
from tests.interop.conftest import RUN_SECONDS, Cli, Follow
from tests.interop.programs import Program, free_port, running, until

pytestmark = pytest.mark.interop

LISTEN = ("subscriptions/listen", "-")


@pytest.fixture
def demos(home: Path, tmp_path: Path) -> Iterator[tuple[Program, Program]]:
    def demo(number: int) -> Program:
        port = free_port()
        argv = [sys.executable, "-m", "mcptask", "demo", "--http", f"127.0.0.1:{port}"]
        argv += ["--store", str(tmp_path / "demo.sqlite3")]
        return Program(argv, port, tmp_path / f"demo{number}.log")

    nodes = demo(1), demo(2)
    with running(*nodes):
        yield nodes


def test_news_come_through_as_they_happen_and_nothing_is_polled_for_a11(
    mcptask: Cli, demos: tuple[Program, Program], tmp_path: Path
) -> None:
    with fronted(tmp_path / "nginx", demos, {}) as front:
        task_id = mcptask("call", "slow_echo", "text=hi", "seconds=12", "-s", front.url).stdout
        run = mcptask("watch", "last", "--interval", "1h", "--jsonl")
        polls = front.asked("tasks/get", task_id.strip())
    assert run.rc == 0, run
    told = [event for event in run.events if event["event"] == "status"]
    assert 1 <= len(polls) <= 2 < len(told), run


def test_a_stream_that_the_proxy_cuts_for_its_silence_loses_nothing_a11(
    mcptask: Cli, following: Follow, demos: tuple[Program, Program], tmp_path: Path
) -> None:
    impatient = {"proxy_read_timeout 1h;": "proxy_read_timeout 2s;"}
    with fronted(tmp_path / "nginx", demos, impatient) as front:
        # It says something every 30 s.
        assert mcptask("call", "slow_echo", "text=hi", "seconds=3000", "-s", front.url).rc == 0
        watch = following("watch", "last")
        for _ in until(RUN_SECONDS):
            if front.asked(*LISTEN):  # nginx writes of a request when it is over
                break
        assert mcptask("cancel", "last").rc == 0
        run = watch.ended()
    assert run.rc == 5, run
    assert "retrying" not in [event["event"] for event in run.events], run
