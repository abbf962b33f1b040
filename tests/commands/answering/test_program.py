"""`--answer-with`: what the program is told, and what is made of what it says."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mcptask.commands.answering.who import Who
from tests.commands.answering.programs import FORM, GOOD, SAMPLING, Asked, says


@pytest.fixture
def asked(tmp_path: Path) -> Callable[..., Asked]:
    return lambda source, **options: Asked(tmp_path, source, **options)


def test_the_program_reads_the_request_as_it_was_sent_and_what_it_prints_is_the_response_a12_14(
    asked: Callable[..., Asked],
) -> None:
    run = asked(f"import sys\nopen(sys.argv[1], 'w').write(sys.stdin.read())\n{says(GOOD)}")
    assert run() == GOOD
    assert json.loads(run.notes.read_text()) == SAMPLING
    assert run.job.warnings == []


def test_it_is_told_who_asks_and_nothing_that_was_said_of_another_question(
    asked: Callable[..., Asked], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import os, json, sys\njson.dump(dict(os.environ), open(sys.argv[1], 'w'))"
    monkeypatch.setenv("MCPTASK_TASK", "an older one")
    monkeypatch.setenv("MCPTASK_SERVER", "prod")
    run = asked(source)
    run(who=Who("stu\0dio", "re\ud800flow"), key="summary")
    told = json.loads(run.notes.read_text())
    assert {name: told[name] for name in told if name.startswith("MCPTASK_")} == {
        "MCPTASK_KEY": "summary",
        "MCPTASK_METHOD": "sampling/createMessage",
        "MCPTASK_SERVER": "prod",
    }
    run(FORM, key="room")
    told = json.loads(run.notes.read_text())
    assert told["MCPTASK_SERVER_NAME"] == "studio"
    assert (told["MCPTASK_TOOL"], told["MCPTASK_TASK"]) == ("reflow_month", "7")
    assert (told["MCPTASK_KEY"], told["MCPTASK_METHOD"]) == ("room", "elicitation/create")
    assert told["PATH"] == os.environ["PATH"]


def test_any_request_may_be_answered_a12_10(asked: Callable[..., Asked]) -> None:
    accepted = {"action": "accept", "content": {"room": "b"}}
    assert asked(says(accepted))(FORM) == accepted
    odd = {"method": "weather/now", "params": {}}
    assert asked(says({"rain": True}))(odd) == {"rain": True}


def test_roots_are_asked_of_the_program_only_where_no_option_names_them_a12_14(
    asked: Callable[..., Asked], tmp_path: Path
) -> None:
    request, response = {"method": "roots/list"}, {"roots": [{"uri": "file:///srv"}]}
    assert asked(says(response))(request) == response
    assert asked(says(response), root=(str(tmp_path),))(request) is None
    assert asked(says(GOOD), root=(str(tmp_path),))(SAMPLING) == GOOD


def test_what_is_sampled_is_shown_before_it_is_answered_a12_14(
    asked: Callable[..., Asked],
) -> None:
    run = asked(says(GOOD))
    run()
    (line,) = run.err.getvalue().splitlines()
    assert line.startswith(
        "mcptask: studio asks for sampling/createMessage (summary of task 7): "
        "Sum it up, please\\x1b[2J; asking "
    )
    assert os.path.basename(sys.executable) in line
    run(who=Who("studio", "reflow_month"))
    assert "(summary of reflow_month): Sum it up" in run.err.getvalue()


def test_what_has_no_text_is_shown_as_such_a12_14(asked: Callable[..., Asked]) -> None:
    image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    for messages in ([{"role": "user", "content": image}], [1], "odd", [{"content": [2]}]):
        run = asked(says(GOOD))
        run({"method": "sampling/createMessage", "params": {"messages": messages}})
        assert "(summary of task 7): (no text); asking " in run.err.getvalue()


def test_other_questions_are_shown_by_whoever_shows_events(asked: Callable[..., Asked]) -> None:
    run = asked("")
    assert (run(FORM), run.err.getvalue()) == (None, "")


@pytest.mark.parametrize("options", [{"quiet": True}, {"jsonl": True}])
def test_where_nobody_reads_nothing_is_shown(
    asked: Callable[..., Asked], options: dict[str, bool]
) -> None:
    run = asked(says(GOOD), **options)
    assert (run(), run.err.getvalue()) == (GOOD, "")


def test_a_secret_of_the_command_is_not_shown(asked: Callable[..., Asked]) -> None:
    run = asked("import sys\nsys.exit(1)")
    run.job.answerer = (sys.executable, "-c", "raise SystemExit(1)", "--token", "canary")
    run()
    assert "--token ***" in run.err.getvalue()
    assert "canary" not in run.err.getvalue() + str(run.job.warnings)


def test_nothing_printed_is_no_answer_and_no_fault(asked: Callable[..., Asked]) -> None:
    run = asked("print(' ')", verbose=True)
    assert (run(), run.job.warnings) == (None, [])
    assert "it has no answer" in run.err.getvalue()


FAILING = {
    "import sys\nprint('one\\n\\x1b[1mno such model\\n', file=sys.stderr)\nsys.exit(3)": (
        "it exited with code 3: \x1b[1mno such model"
    ),
    f"import sys\n{says(GOOD)}\nsys.exit(1)": "it exited with code 1",
    "import os\nos.kill(os.getpid(), 9)": "it was killed by signal 9",
    "print('Sure! Here it is.')": "its answer: not valid JSON: Expecting value (line 1, column 1)",
    "print('[1]')": "its answer is no JSON object",
    "print('{\"a\": NaN}')": "its answer: not valid JSON: NaN is no JSON number",
    "import sys\nsys.stdout.buffer.write(b'\\xff')": "its answer is not UTF-8 text",
    "print('{\"a\":' + '[' * 128 + ']' * 128 + '}')": (
        "its answer is nested more than 128 levels deep"
    ),
    says({"role": "assistant"}): "its answer does not fit: content must be a block",
    "while True: print('x' * 9999)": "it printed over 10 MiB",
}


@pytest.mark.parametrize(("source", "why"), FAILING.items(), ids=FAILING.values())
def test_what_cannot_be_sent_is_no_answer_and_a_warning_says_why_a12_14(
    asked: Callable[..., Asked], source: str, why: str
) -> None:
    run = asked(source)
    assert run() is None
    (warning,) = run.job.warnings
    assert warning.startswith("--answer-with (")
    assert f") did not answer summary of task 7: {why}" in warning
    shown = run.err.getvalue()
    assert "warning: --answer-with" in shown
    assert "\x1b" not in shown


def test_before_there_is_a_task_the_tool_is_named_a8_4(asked: Callable[..., Asked]) -> None:
    run = asked("print('?')")
    run(who=Who("studio", "close_room"))
    assert "did not answer summary of close_room: " in run.job.warnings[0]


def test_a_line_meant_for_a_shell_is_told_as_such(asked: Callable[..., Asked]) -> None:
    run = asked("import sys\nsys.exit(1)")
    run.job.answerer = (*(run.job.answerer or ()), "|", "jq")
    run()
    assert "a line for a shell needs one: --answer-with \"sh -c '…'\"" in run.job.warnings[0]


def test_a_program_that_is_gone_meanwhile_is_a_warning(asked: Callable[..., Asked]) -> None:
    run = asked("")
    run.job.answerer = ("/nowhere/at/all",)
    assert run() is None
    assert "it could not be run: No such file or directory" in run.job.warnings[0]


def test_its_remarks_are_for_whoever_wants_to_know(asked: Callable[..., Asked]) -> None:
    source = f"import sys\nprint('load\\x1bing', file=sys.stderr)\n{says(GOOD)}"
    run = asked(source, verbose=True)
    assert run() == GOOD
    assert "--answer-with (summary of task 7): load\\x1bing\n" in run.err.getvalue()
    quiet = asked(source)
    assert quiet() == GOOD
    assert "load" not in quiet.err.getvalue()
