from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from render_samples import APPROVE, HOSTILE, SUBJECT, Ticking, asking, task

from mcptask.protocol.events import (
    Answered,
    Created,
    Ended,
    Heard,
    InputRequired,
    Left,
    Listening,
    Reconnected,
    Retrying,
    StatusChanged,
    TaskEvent,
    Warned,
)
from mcptask.protocol.outcome import outcome_of_result, outcome_of_task
from mcptask.render.jsonlines import JsonLinesReporter, end_line
from mcptask.render.jsonout import document, documents, event_line
from mcptask.render.report import Report, ServerInfo
from tests.e2e.documents import EVENT

SERVER = ServerInfo("studio", "https://studio.example/mcp", "2026-07-28")
COMPLETED = outcome_of_result({"content": []}, task("completed", result={"content": []}))
AT = datetime(2026, 9, 12, 9, 0, 5, 120_000, tzinfo=UTC)
EVENTS: dict[str, tuple[TaskEvent, dict[str, Any]]] = {
    "created": (Created(task()), {"tool": "reflow_month", "server": "studio"}),
    "status": (
        StatusChanged(task(message="m"), 9.0),
        {"status": "working", "statusMessage": "m", "task": task().raw},
    ),
    "input_required": (
        InputRequired(asking(), {"approve": APPROVE}),
        {"inputRequests": {"approve": APPROVE}},
    ),
    "answered": (Answered(("approve",)), {"keys": ["approve"]}),
    "retrying": (
        Retrying("refused", 2, 108.0, float("inf")),
        {
            "reason": "refused",
            "attempt": 2,
            "retryAt": "2026-09-12T09:00:13.120Z",
            "giveUpAt": None,
        },
    ),
    "reconnected": (Reconnected(72.5), {"awayMs": 72500}),
    "warning": (Warned("careful"), {"message": "careful"}),
}


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_has_its_line(name: str) -> None:
    event, expected = EVENTS[name]
    made = event_line(3, AT, SUBJECT, event, now=100.0)
    assert made is not None
    EVENT.validate_python(made)
    head = {"mcptask": 1, "event": name, "seq": 3, "at": "2026-09-12T09:00:05.120Z"}
    assert made.items() >= {**head, "ref": 7, "taskId": "tsk_8f21c0ffee"}.items()
    assert {key: made[key] for key in expected} == expected


def test_only_what_is_out_of_the_ordinary_has_more_keys_a12_3_a12_5() -> None:
    asked, answered = {"approve": APPROVE}, ("approve",)
    for plain, other, more in (
        (InputRequired(asking(), asked), InputRequired(asking(), asked, answered), "changed"),
        (Answered(answered), Answered(answered, elsewhere=True), "elsewhere"),
    ):
        before, after = (event_line(3, AT, SUBJECT, event) for event in (plain, other))
        assert before is not None
        assert after is not None
        EVENT.validate_python(after)
        assert after == {**before, more: {"changed": ["approve"], "elsewhere": True}[more]}


def test_an_answer_without_news_gives_no_line() -> None:
    assert event_line(1, AT, SUBJECT, Left(("approve",))) is None
    assert event_line(1, AT, SUBJECT, Heard(task(), 9.0)) is None
    assert event_line(1, AT, SUBJECT, Listening(push=True, why="it does", next_poll=110.0)) is None


def test_json_lines_are_flushed_numbered_and_end_with_the_document() -> None:
    flushed: list[str] = []

    class Stream(io.StringIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())

    stream, ticking = Stream(), Ticking()
    reporter = JsonLinesReporter(stream, ticking.clock, io.StringIO())
    reporter.show(SUBJECT, Created(task()))
    reporter.show(SUBJECT, Heard(task(), 9.0))
    reporter.show(SUBJECT, StatusChanged(task(message=HOSTILE), 9.0))
    reporter.show(SUBJECT, Ended(COMPLETED))
    report = Report(COMPLETED, SERVER, 7, "reflow_month")
    reporter.end(report)
    reporter.close()
    stream.write(end_line(documents([report], 0), reporter.printed + 1, ticking.wall()))
    lines = [json.loads(each) for each in stream.getvalue().splitlines()]
    for each in lines:
        EVENT.validate_python(each)
    assert [each["event"] for each in lines] == ["created", "status", "ended", "ended"]
    assert [each["seq"] for each in lines] == [1, 2, 3, 4]
    assert lines[2]["document"] == document(report)
    assert lines[2]["taskId"] == "tsk_8f21c0ffee"
    assert lines[3]["document"]["tasks"] == [document(report)]
    assert lines[1]["statusMessage"] == HOSTILE
    assert [text.count("\n") for text in flushed] == [1, 2, 3]


def test_a_remark_is_for_people_and_never_among_the_json_lines() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    reporter = JsonLinesReporter(stdout, Ticking().clock, stderr)
    reporter.note(f"warning: {HOSTILE}")
    reporter.tick()
    assert (stdout.getvalue(), reporter.printed, reporter.stays) == ("", 0, False)
    assert stderr.getvalue().startswith("warning: ")
    assert stderr.getvalue()[:-1].isprintable()


def test_a_reader_that_went_away_is_not_hidden() -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        JsonLinesReporter(Broken(), Ticking().clock, io.StringIO()).end(
            Report(outcome_of_task(task()))
        )
