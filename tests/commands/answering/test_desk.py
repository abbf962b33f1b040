"""What one task's desk remembers: in the state file where it can, in the process where it cannot."""

import asyncio
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcptask.commands._job import Job
from mcptask.commands._options import Options
from mcptask.commands.answering.desk import TaskDesk
from mcptask.commands.answering.who import Who
from mcptask.env import Env
from mcptask.errors import StateError, StateUnwritable, UsageError
from mcptask.origin import Origin
from mcptask.protocol.questions import Answer, Question, Response, fingerprint
from mcptask.render.report import Subject
from mcptask.store.form_lock import held
from tests.protocol.fakes import ID, QUESTION, task

WHO = Who("studio", "reflow_month", "1", "1")
YES: Response = {"action": "accept", "content": {"room": "a"}}
NO: Response = {"action": "decline"}
ROOM = {"room": Answer("print", YES)}
TAKEN = {"room": Answer("print")}


class Sources:
    def __init__(self) -> None:
        self.open: list[str | None] = []

    async def answer(self, who: Who, question: Question, form: Any) -> Response | None:
        with form() as why_not:
            self.open.append(why_not)
        return YES


class Reporter:
    def __init__(self) -> None:
        self.held: list[Subject] = []

    @contextmanager
    def hold(self, subject: Subject) -> Iterator[None]:
        self.held.append(subject)
        yield


@pytest.fixture
def job(tmp_path: Path) -> Job:
    env = Env(io.StringIO(), io.StringIO(), io.StringIO(), {}, tmp_path)
    job = Job(env, Options(state=str(tmp_path / "tasks.toml")))
    job.store.add(task(), origin=Origin(server="studio"), tool="reflow_month", protocol=None)
    return job


def desk_of(job: Job, ref: int | None = 1, sources: Any = None, **more: Any) -> TaskDesk:
    subject = Subject("reflow_month", "studio", ref, ID, 0.0)
    return TaskDesk(job, sources or Sources(), WHO, subject, **more)


@pytest.mark.parametrize("ref", [1, None])
def test_an_answer_is_noted_before_it_goes_out_and_forgotten_once_it_is_taken_a12_5(
    job: Job, ref: int | None
) -> None:
    desk = desk_of(job, ref)
    assert desk.claim(ROOM) == ROOM == desk.ledger()
    if ref:
        assert job.store.ledger(1) == ROOM
    desk.acknowledged(ROOM)
    assert desk.ledger() == TAKEN
    assert desk.claim(ROOM) == {}
    assert job.warnings == ["room was answered in another terminal: this answer is not sent"]


@pytest.mark.parametrize("ref", [1, None])
def test_a_refused_answer_was_none_a12_8(job: Job, ref: int | None) -> None:
    desk = desk_of(job, ref)
    desk.claim(ROOM)
    desk.refused(ROOM)
    assert desk.ledger() == {} == job.store.ledger(1)
    assert desk.claim({"room": Answer("print", NO)}) == {"room": Answer("print", NO)}


def test_two_terminals_have_one_ledger_a12_5(job: Job) -> None:
    first, second = desk_of(job), desk_of(job)
    first.claim(ROOM)
    assert second.ledger() == ROOM
    assert second.claim({"room": Answer("print", NO)}) == {}, "it is the other's to send"
    assert "room was answered in another terminal" in job.warnings[0]
    first.acknowledged(ROOM)
    assert second.ledger() == TAKEN


def test_another_question_under_the_same_key_is_answered_anew_in_both_a12_3(job: Job) -> None:
    first, second = desk_of(job), desk_of(job)
    first.claim(ROOM)
    first.acknowledged(ROOM)
    other = {"room": Answer("other", NO)}
    assert second.claim(other) == other
    assert first.ledger() == other


def test_what_cannot_be_written_is_remembered_here_and_told_once(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> Any:
        raise StateUnwritable("the disk is full")

    for name in ("claim_all", "acknowledged", "unclaim"):
        monkeypatch.setattr(job.store, name, full)
    desk = desk_of(job)
    assert desk.claim(ROOM) == ROOM
    desk.acknowledged(ROOM)
    assert desk.ledger() == TAKEN
    assert desk.claim({"fee": Answer("print", NO)}) == {"fee": Answer("print", NO)}
    desk.refused({"fee": Answer("print", NO)})
    assert desk.ledger() == TAKEN
    assert job.warnings == ["what was answered to task 1 could not be noted: the disk is full"]


def test_a_file_that_cannot_be_read_any_more_ends_no_watch(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_of(job)
    desk.claim(ROOM)

    def damaged(*_: Any) -> Any:
        raise StateError("damaged")

    monkeypatch.setattr(job.store, "ledger", damaged)
    assert desk.ledger() == ROOM


def test_an_answer_of_another_terminal_that_was_refused_is_open_here_too_a12_8(job: Job) -> None:
    other = desk_of(job)
    other.claim(ROOM)
    subject = Subject("reflow_month", "studio", 1, ID, 0.0, answered=other.ledger())
    here = TaskDesk(job, Sources(), WHO, subject)  # type: ignore[arg-type]
    assert here.ledger() == ROOM
    other.refused(ROOM)
    assert here.ledger() == {}


def test_the_view_steps_aside_for_a_form_that_no_other_terminal_has_open_a12_2(job: Job) -> None:
    sources, job.reporter = Sources(), Reporter()  # type: ignore[assignment]
    desk = desk_of(job, sources=sources)
    asyncio.run(desk.answer(Question("room", QUESTION)))
    with held(job.store.path, 1):
        asyncio.run(desk.answer(Question("room", QUESTION)))
        asyncio.run(desk_of(job, sources=sources, insists=True).answer(Question("room", QUESTION)))
    elsewhere = "the form of task 1 is open in another terminal"
    assert sources.open == [None, elsewhere, None]
    assert len(job.reporter.held) == 2  # type: ignore[attr-defined]
    asyncio.run(desk_of(job, None, sources).answer(Question("room", QUESTION)))
    assert sources.open[-1] is None


def test_no_form_opens_for_what_was_answered_while_it_waited_a12_2(job: Job) -> None:
    sources, other = Sources(), desk_of(job)
    other.claim({"room": Answer(fingerprint(QUESTION), YES)})
    asyncio.run(desk_of(job, sources=sources).answer(Question("room", QUESTION)))
    asyncio.run(desk_of(job, sources=sources).answer(Question("room", {"method": "other"})))
    assert sources.open == ["", None]


def test_other_questions_than_the_one_that_was_named_are_left(job: Job) -> None:
    desk = desk_of(job, only="room")
    assert asyncio.run(desk.answer(Question("fee", QUESTION))) is None
    assert asyncio.run(desk.answer(Question("room", QUESTION))) == YES


def test_an_entry_that_does_not_fit_one_task_ends_no_other(job: Job) -> None:
    class Unfit:
        async def answer(self, *_: Any) -> Response | None:
            raise UsageError("answers.toml: room: it is no number")

    assert asyncio.run(desk_of(job, sources=Unfit()).answer(Question("room", QUESTION))) is None
    assert job.warnings == ["answers.toml: room: it is no number"]
