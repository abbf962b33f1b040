"""What tasks are left with when a signal ends their following, and how that is told of any number of them."""

import asyncio
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from mcptask.commands._reports import parting_lines
from mcptask.commands._run import Interruption
from mcptask.commands.following import leaving
from mcptask.commands.following.leaving import Cancelling, goodbye_lines, interrupted
from mcptask.errors import Unreachable
from mcptask.protocol.outcome import outcome_of_error
from mcptask.protocol.pacing import AT_ONCE
from mcptask.protocol.task import Task
from mcptask.render.answer_line import shell
from mcptask.render.report import Report

SIGINT = 2
PATIENCE = 30.0  # s: no test takes that long


@dataclass
class Servers:
    """Sessions with servers that answer a request to cancel with `answer`, or never."""

    answer: Exception | None = None
    silent: bool = False
    asked: list[str] = field(default_factory=list)
    waiting: int = 0
    most: int = 0

    def to(self, endpoint: object) -> "Servers":
        return self

    async def cancel(self, task_id: str) -> None:
        self.asked.append(task_id)
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(3600 if self.silent else 0)
        self.waiting -= 1
        if self.answer is not None:
            raise self.answer


def cancelled(
    servers: Servers, count: int, wanted: str = "cancel", *, signal_comes: bool = False
) -> list[Cancelling]:
    """`count` tasks, half of them on another server."""
    job: Any = SimpleNamespace(options=SimpleNamespace(on_interrupt=wanted), say=lambda text: None)
    tasks: Any = [(SimpleNamespace(key=n % 2), f"tsk_{n}") for n in range(count)]

    async def asking() -> list[Cancelling]:
        sessions: Any = servers
        interruption = Interruption()
        interruption.signum = SIGINT
        if signal_comes:
            asyncio.get_running_loop().call_soon(interruption.arrived, SIGINT)
        return [*await leaving.cancelled_on_leaving(job, tasks, interruption, sessions)]

    return asyncio.run(asyncio.wait_for(asking(), PATIENCE))


def test_silent_servers_are_given_one_wait_for_all_tasks_a13_3(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leaving, "CANCEL_WAIT", 0.01)
    servers = Servers(silent=True)
    said = cancelled(servers, 30)
    assert servers.most == len(servers.asked) == 2 * AT_ONCE
    assert said == [Cancelling.UNACKNOWLEDGED] * 16 + [Cancelling.UNSENT] * 14


def test_however_many_there_are_each_is_asked_where_the_servers_answer_a13_3() -> None:
    servers = Servers()
    assert cancelled(servers, 100) == [Cancelling.ACKNOWLEDGED] * 100
    assert servers.most == 2 * AT_ONCE
    assert len(servers.asked) == 100


def test_one_more_signal_ends_the_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "CANCEL_WAIT", 3600.0)
    said = cancelled(Servers(silent=True), 2, signal_comes=True)
    assert said == [Cancelling.UNACKNOWLEDGED] * 2


def test_a_request_that_fails_is_not_acknowledged() -> None:
    assert cancelled(Servers(Unreachable("away")), 2) == [Cancelling.UNACKNOWLEDGED] * 2
    assert cancelled(Servers(), 2) == [Cancelling.ACKNOWLEDGED] * 2


def test_nothing_is_asked_unless_the_user_wants_it() -> None:
    servers = Servers()
    assert cancelled(servers, 2, "leave") == [Cancelling.UNWANTED] * 2
    assert cancelled(servers, 0) == []
    assert servers.asked == []


def left(*names: int | str, cancelled: Cancelling = Cancelling.UNWANTED) -> list[Report]:
    """Reports of tasks that were left; those named by an id are not stored."""
    reports = []
    for name in names:
        ref = name if isinstance(name, int) else None
        where = "-s URL" if ref is None else ""
        item: Any = SimpleNamespace(name=str(name), to_type=f"{name} {where}".rstrip())
        error = interrupted(item, SIGINT, cancelled=cancelled)
        reports.append(Report(outcome_of_error(error, seen(str(name))), ref=ref, where=where))
    return reports


def seen(task_id: str) -> Task:
    return Task(task_id=task_id, status="working")


def test_one_task_is_named_with_the_commands_to_come_back() -> None:
    assert goodbye_lines(left(7)) == [
        "Stopped following task 7; it was left alone.",
        "  follow it again: mcptask watch 7",
        "  cancel it: mcptask cancel 7",
    ]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((3, 1, 2), "3 tasks (1–3)"),
        ((1, 3, 4, 9), "4 tasks (1, 3–4, 9)"),
        ((5, "tsk_a"), "2 tasks (5, tsk_a)"),
        (tuple(range(1, 1001)), "1000 tasks (1–1000)"),
    ],
)
def test_many_numbers_are_told_in_short(names: tuple[int | str, ...], said: str) -> None:
    first, *commands = goodbye_lines(left(*names))
    assert first == f"Stopped following {said}; they were left alone."
    assert all(len(line) < 80 for line in commands)


def test_what_there_was_no_time_to_ask_for_is_told_apart_from_what_was_not_acknowledged() -> None:
    reports = left(*range(1, 9), cancelled=Cancelling.UNACKNOWLEDGED)
    reports += left(*range(9, 31), cancelled=Cancelling.UNSENT)
    said = [line for line in goodbye_lines(reports) if not line.startswith(" ")]
    assert said == [
        "Stopped following 8 tasks (1–8); their cancellation was not acknowledged.",
        "Stopped following 22 tasks (9–30); there was no time to ask for their cancellation.",
    ]


def test_a_task_that_ended_is_not_said_goodbye_to() -> None:
    ended = Report(outcome_of_error(Unreachable("away")), ref=8)
    assert goodbye_lines([ended]) == []


def test_tasks_that_are_not_stored_are_named_however_many_they_are() -> None:
    names = [f"tsk_{number}" for number in range(30)]
    _, follow, cancel = goodbye_lines(left(*names))
    assert follow == f"  follow them again: mcptask watch {' '.join(names)} -s URL"
    assert cancel == f"  cancel them: mcptask cancel {' '.join(names)} -s URL"


def test_what_became_of_tasks_that_are_not_stored_is_in_no_list() -> None:
    reports = left("tsk_a", "tsk_b", cancelled=Cancelling.ACKNOWLEDGED)
    assert (
        goodbye_lines(reports)[1] == "  see what became of them: mcptask watch tsk_a tsk_b -s URL"
    )
    stored = left(1, 2, cancelled=Cancelling.ACKNOWLEDGED)
    assert goodbye_lines(stored)[1] == "  see what became of them: mcptask list --refresh"


def test_a_command_with_a_semicolon_stays_on_its_line() -> None:
    hint = "follow it again: mcptask watch t --stdio 'sh -c \"a; b\"'; cancel it: mcptask cancel t"
    assert parting_lines("Stopped", hint) == [
        "Stopped.",
        "  follow it again: mcptask watch t --stdio 'sh -c \"a; b\"'",
        "  cancel it: mcptask cancel t",
    ]


def test_an_id_that_holds_a_command_adds_no_line_s17() -> None:
    for forged in ("a; resume: mcptask x", "it's; resume: mcptask x", "\u202e'; resume: mcptask x"):
        task = shell(forged)
        assert "; resume: mcptask x" in task
        hint = f"follow it again: mcptask watch {task}; cancel it: mcptask cancel {task}"
        assert parting_lines("Stopped", hint) == [
            "Stopped.",
            f"  follow it again: mcptask watch {task}",
            f"  cancel it: mcptask cancel {task}",
        ]
