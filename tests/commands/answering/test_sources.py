"""In what order a question is put to whoever may answer it here, and when it is put to nobody any more."""

import asyncio
import io
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from mcptask.commands._job import Job
from mcptask.commands._options import Options
from mcptask.commands.answering.by_hand import person
from mcptask.commands.answering.sources import LOOK_EVERY, MOST_ALIKE, MOST_REFUSALS, Sources
from mcptask.commands.answering.who import Who
from mcptask.env import Clock, Env
from mcptask.errors import UsageError
from mcptask.protocol.questions import Question, Response

WHO = Who("studio", "reflow_month", "7", "7")
YES: Response = {"action": "accept", "content": {"room": "a"}}
NO: Response = {"action": "decline"}


def asked(message: str = "Which room?", **properties: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties or {"room": {"type": "string"}},
        "required": ["room"],
    }
    params = {"message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Desk:
    """The sources of a run with these options; `person_says` is what somebody at its terminal answers."""

    def __init__(
        self,
        folder: Path,
        monkeypatch: pytest.MonkeyPatch,
        *person_says: Response | None,
        file: str | None = None,
        terminal: bool = False,
        **options: Any,
    ) -> None:
        if file is not None:
            (folder / "answers.toml").write_text(file)
            options["answers"] = "answers.toml"
        self.says: list[Response | None] = list(person_says)
        self.put: list[Question] = []
        self.slept: list[float] = []
        stream = Terminal if terminal else io.StringIO
        clock = Clock(sleep=self._sleep)
        self.err = stream()
        env = Env(stream(), io.StringIO(), self.err, {"TERM": "xterm"}, folder, clock)
        self.job = Job(env, Options(**options))
        self.sources = Sources(self.job)
        self.why_not: list[str | None] = [None]
        monkeypatch.setattr(person, "ask", self._ask)

    async def _ask(self, env: Env, who: Who, question: Question) -> Response | None:
        self.put.append(question)
        return self.says.pop(0)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.why_not.pop(0)

    def answers(self, question: Question, who: Who = WHO) -> Response | None:
        return asyncio.run(self.sources.answer(who, question, lambda: nullcontext(self.why_not[0])))

    def all(self, questions: Sequence[Question]) -> list[Response | None]:
        return [self.answers(question) for question in questions]


ROOM = Question("room", asked())


def test_what_is_given_goes_before_the_person_in_the_order_of_the_options_a12_6(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "answer.py"
    script.write_text("""print('{"action":"accept","content":{"room":"program"}}')""")
    program = f"{sys.executable} {script}"
    more = {"answer_with": program, "decline_all": True, "terminal": True}
    by_file = Desk(tmp_path, monkeypatch, file='room = "file"\n', **more)
    assert by_file.answers(ROOM) == {"action": "accept", "content": {"room": "file"}}
    by_program = Desk(tmp_path, monkeypatch, file='fee = "file"\n', **more)
    assert by_program.answers(ROOM) == {"action": "accept", "content": {"room": "program"}}
    filled = Question("room", asked(room={"type": "string", "default": "b"}))
    by_default = Desk(tmp_path, monkeypatch, accept_defaults=True, terminal=True)
    assert by_default.answers(filled) == {"action": "accept", "content": {"room": "b"}}
    assert (
        Desk(tmp_path, monkeypatch, YES, accept_defaults=True, terminal=True).answers(ROOM) == YES
    )
    assert Desk(tmp_path, monkeypatch, decline_all=True, terminal=True).answers(ROOM) == NO


def test_a_person_is_asked_where_nothing_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, monkeypatch, YES, terminal=True)
    assert (desk.answers(ROOM), desk.put) == (YES, [ROOM])


@pytest.mark.parametrize(
    "options",
    [
        {"terminal": False},
        {"terminal": True, "no_input": True},
        {"terminal": True, "json": True},
        {"terminal": True, "jsonl": True},
    ],
)
def test_nobody_is_asked_without_a_terminal_or_with_a_program_that_reads_a12_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    desk = Desk(tmp_path, monkeypatch, YES, **options)
    assert (desk.answers(ROOM), desk.put) == (None, [])


@pytest.mark.parametrize("odd", [{"changed": True}, {"refused": "no such room"}])
def test_another_question_and_a_refused_answer_are_a_persons_alone_a12_3_a12_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: dict[str, Any]
) -> None:
    question = Question("room", asked(), **odd)
    options = {"file": 'room = "a"\n', "decline_all": True}
    assert Desk(tmp_path, monkeypatch, **options).answers(question) is None
    assert Desk(tmp_path, monkeypatch, YES, terminal=True, **options).answers(question) == YES


def test_an_answer_that_does_not_fit_is_no_answer_and_no_no_either_a12_12(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"file": "room = { room = 5 }\n", "decline_all": True}
    with pytest.raises(UsageError, match=r"answers\.toml: room: "):
        Desk(tmp_path, monkeypatch, **options).answers(ROOM)
    desk = Desk(tmp_path, monkeypatch, YES, terminal=True, **options)
    assert desk.answers(ROOM) == YES
    assert "answers.toml: room: " in desk.job.warnings[0]


def test_the_same_question_is_refused_so_often_and_then_left_whatever_its_key_a12_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = [Question(f"room{n}", asked(), since=n) for n in range(MOST_REFUSALS + 2)]
    for desk in (
        Desk(tmp_path, monkeypatch, decline_all=True),
        Desk(tmp_path, monkeypatch, *[NO] * MOST_REFUSALS, terminal=True),
    ):
        assert desk.all(again) == [NO] * MOST_REFUSALS + [None, None]
        assert desk.job.warnings[0] == (
            "studio asks the same again (room3) after it was refused 3 times: it is left "
            f"{'to you' if desk.job.by_hand else 'open'}; mcptask cancel 7 ends the task"
        )
        assert desk.answers(again[0], WHO._replace(task="8")) is not None if desk.says else True


def test_the_same_question_many_times_at_one_moment_is_no_repetition_a12_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`Delete this booking?` of each of them."""
    desk = Desk(tmp_path, monkeypatch, decline_all=True)
    for moment in range(MOST_REFUSALS):
        many = [Question(f"{moment}.{n}", asked(), since=moment) for n in range(MOST_ALIKE + 5)]
        assert desk.all(many) == [NO] * len(many)
    assert desk.answers(Question("late", asked(), since=99.0)) is None


def test_a_loop_of_one_question_is_answered_so_often_without_a_person_a12_11(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = [Question(f"room{n}", asked(), since=n) for n in range(MOST_ALIKE + 1)]
    desk = Desk(tmp_path, monkeypatch, file='room = "a"\n')
    assert desk.all(again) == [YES] * MOST_ALIKE + [None]
    assert "asks the same again (room20) after 20 answers" in desk.job.warnings[0]
    assert desk.answers(Question("room21", asked("Another?"))) == YES, "another question is none"
    person_goes_on = Desk(tmp_path, monkeypatch, *[YES] * len(again), terminal=True)
    assert person_goes_on.all(again) == [YES] * len(again)


def test_a_form_that_another_terminal_has_open_opens_here_once_it_is_closed_there_a12_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, monkeypatch, YES, terminal=True)
    open_there = "the form of task 7 is open in another terminal"
    desk.why_not = [open_there, "", open_there, None]
    assert desk.answers(ROOM) == YES
    assert (len(desk.put), desk.slept) == (1, [LOOK_EVERY] * 3)
    assert desk.err.getvalue().count(open_there) == 1


def test_what_nothing_asked_for_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, monkeypatch, file='room = "a"\nfee = 5\n')
    desk.answers(ROOM)
    desk.sources.close()
    assert desk.job.warnings == ["answers.toml: nothing asked for fee"]
