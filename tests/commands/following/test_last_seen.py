"""How a task is reported that a watch leaves to go on."""

import pytest

from mcptask.commands.following.loop import last_seen
from mcptask.errors import ExitCode
from mcptask.protocol.questions import Answer
from mcptask.store.records import TaskRecord
from tests.protocol.fakes import QUESTION, RESULT, task

RECORD = TaskRecord(ref=1, task_id="tsk", status="queued", answered={"approve": Answer()})


@pytest.mark.parametrize("status", ["working", "input_required", "odd"])
def test_a_task_that_goes_on_is_no_trouble_whatever_its_status(status: str) -> None:
    outcome = last_seen(RECORD, task(status, input_requests={"k": QUESTION}))
    assert (outcome.name, outcome.exit_code) == (status, ExitCode.OK)


def test_one_that_was_not_heard_of_in_this_run_has_its_stored_status() -> None:
    outcome = last_seen(RECORD, None)
    assert (outcome.name, outcome.exit_code, outcome.task) == ("queued", ExitCode.OK, None)


def test_one_that_was_over_in_the_same_moment_keeps_its_own_end() -> None:
    assert last_seen(RECORD, task("failed")).exit_code == ExitCode.FAILED
    assert last_seen(RECORD, task("completed", result=RESULT)).result == RESULT


def test_questions_that_were_answered_are_open_no_more_a12_5() -> None:
    outcome = last_seen(RECORD, task("input_required", input_requests={"approve": QUESTION}))
    assert outcome.error is not None
    assert outcome.error.data == {"inputRequests": {}}
