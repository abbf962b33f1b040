"""interview: questions of every kind, as a client sees them."""

from typing import Any

import jsonschema
import pytest

from mcptask.demo.catalog import TOOLS
from mcptask.demo.jsonrpc import Json
from tests.demo.interviewed import (
    ANSWERS,
    EVERY_KIND,
    SESSION,
    accept,
    answer,
    asked,
    begin,
    go_through,
)
from tests.demo.wire import EVERYTHING, TASKS_ONLY, Bench

ROUNDS = TOOLS["interview"].input_schema["properties"]["only"]["enum"]
DECLINED: Json = {"action": "decline"}
CANCELLED: Json = {"action": "cancel"}


def result_of(bench: Bench, task_id: str) -> Json:
    got = bench.get(task_id)
    assert got["status"] == "completed", got
    result: Json = got["result"]
    schema = TOOLS["interview"].output_schema
    assert schema
    jsonschema.validate(result["structuredContent"], schema)
    return result


def outcomes(bench: Bench, task_id: str) -> dict[str, str]:
    told = result_of(bench, task_id)["structuredContent"]["questions"]
    return {each["key"]: each["outcome"] for each in told}


def test_it_asks_everything_in_turn_and_tells_what_was_answered(bench: Bench) -> None:
    questions, result = go_through(bench, ANSWERS)
    assert list(questions) == list(ANSWERS)
    told = {each["key"]: each for each in result["structuredContent"]["questions"]}
    assert list(told) == list(ANSWERS)
    assert told["session"] == {"key": "session", "outcome": "accepted", "answer": SESSION}
    assert told["terms"] == {"key": "terms", "outcome": "accepted"}
    assert told["slogan"]["answer"] == ANSWERS["slogan"]
    assert told["folders"] == {
        "key": "folders",
        "outcome": "answered",
        "answer": ANSWERS["folders"],
    }
    lines = result["content"][0]["text"].splitlines()
    assert lines[0] == 'name: accepted {"name": "Ada"}'
    assert "letters: declined" in lines
    assert len(lines) == len(ANSWERS)


@pytest.mark.parametrize("only", ROUNDS)
def test_one_kind_can_be_tried_alone(bench: Bench, only: str) -> None:
    questions, _ = go_through(bench, ANSWERS, only=only, seconds=1)
    everything, _ = go_through(bench, ANSWERS)
    assert 0 < len(questions) <= 3
    assert questions.keys() < everything.keys()


def test_refused_throughout_it_comes_to_its_end(bench: Bench) -> None:
    refusals = {key: CANCELLED if "action" in value else value for key, value in ANSWERS.items()}
    questions, result = go_through(bench, refusals)
    assert "letters-again" not in questions, "only a decline is asked about once more"
    told = result["structuredContent"]["questions"]
    assert {each["outcome"] for each in told} == {"cancelled", "answered"}


def test_the_second_question_depends_on_the_first(bench: Bench) -> None:
    task_id = begin(bench, only="one-by-one")
    assert list(asked(bench, task_id)) == ["name"]
    answer(bench, task_id, name=accept(name="Grace"))
    second = asked(bench, task_id)
    assert list(second) == ["purpose"]
    assert "Grace" in second["purpose"]["params"]["message"]


def test_the_second_question_makes_do_without_the_first(bench: Bench) -> None:
    task_id = begin(bench, only="one-by-one")
    answer(bench, task_id, name=DECLINED)
    assert asked(bench, task_id)["purpose"]["params"]["message"] == "What brings you here?"


def test_of_several_questions_what_is_answered_is_applied_and_the_others_stay(bench: Bench) -> None:
    task_id = begin(bench, only="several")
    assert set(asked(bench, task_id)) == {"day", "room", "people"}
    answer(bench, task_id, room=accept(room="studio-a"))
    assert set(asked(bench, task_id)) == {"day", "people"}
    answer(bench, task_id, people=DECLINED, room=DECLINED, day=accept(day="2026-09-14"))
    told = outcomes(bench, task_id)
    assert told == {"day": "accepted", "room": "accepted", "people": "declined"}


WRONG: list[tuple[str, Any]] = [
    ("title", "É"),
    ("title", "x" * 41),
    ("email", "ada"),
    ("website", "example.com"),
    ("release", "2026-02-30"),
    ("start", "2026-09-14T10:00:00"),
    ("takes", 0),
    ("takes", 2.5),
    ("gain", 12.5),
    ("video", "false"),
    ("format", "FLAC"),
    ("mood", "Odd"),
    ("payment", "In cash, at the door"),
    ("instruments", []),
    ("instruments", ["piano", "bass", "organ", "drums"]),
    ("instruments", "piano"),
    ("extras", ["A pot of tea"]),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_field_that_does_not_fit_is_refused_by_name(
    bench: Bench, field: str, value: object
) -> None:
    task_id = begin(bench, only="fields")
    wrong = {"session": accept(**SESSION | {field: value})}
    error = bench.error("tasks/update", taskId=task_id, inputResponses=wrong)
    assert error["code"] == -32602
    assert f"'{field}" in error["message"]
    assert list(asked(bench, task_id)) == ["session"]
    answer(bench, task_id, session=accept(**SESSION))
    assert outcomes(bench, task_id) == {"session": "accepted"}


def test_only_the_required_fields_are_needed(bench: Bench) -> None:
    task_id = begin(bench, only="fields")
    required = asked(bench, task_id)["session"]["params"]["requestedSchema"]["required"]
    answer(bench, task_id, session=accept(**{key: SESSION[key] for key in required}))
    assert outcomes(bench, task_id) == {"session": "accepted"}
    assert len(required) < len(SESSION)


def test_every_default_fits_and_no_and_nothing_are_among_them(bench: Bench) -> None:
    questions, _ = go_through(bench, ANSWERS)
    schemas = [asked["params"].get("requestedSchema", {}) for asked in _forms(questions)]
    fields = [field for schema in schemas for field in schema.get("properties", {}).values()]
    with_default = [field for field in fields if "default" in field]
    for field in with_default:
        jsonschema.validate(field["default"], field)
    # By their looks, for 0 is equal to False.
    assert {"False", "0", "[]"} <= {repr(field["default"]) for field in with_default}


def _forms(questions: Json) -> list[Json]:
    return [each for each in questions.values() if each["method"] == "elicitation/create"]


@pytest.mark.parametrize(
    "content",
    [
        {"band": {"members": 3}, "songs": [{"title": "a"}]},
        {"band": {"name": "a"}, "songs": []},
        {"band": {"name": "a"}, "songs": [{"minutes": 3}]},
    ],
)
def test_fields_in_fields_are_checked_too(bench: Bench, content: Json) -> None:
    task_id = begin(bench, only="nested")
    wrong = {"band": accept(**content)}
    error = bench.error("tasks/update", taskId=task_id, inputResponses=wrong)
    assert error["code"] == -32602


def test_agreeing_to_a_page_is_consent_and_the_browser_takes_its_time(bench: Bench) -> None:
    task_id = begin(bench, only="url", seconds=4)
    answer(bench, task_id, terms={"action": "accept"})
    bench.wait(3.9)
    got = bench.get(task_id)
    assert (got["status"], got["statusMessage"]) == ("working", "Waiting for the browser")
    bench.wait(0.2)
    assert outcomes(bench, task_id) == {"terms": "accepted"}


def test_a_page_that_is_refused_is_not_waited_for(bench: Bench) -> None:
    task_id = begin(bench, only="url", seconds=4)
    answer(bench, task_id, terms=DECLINED)
    assert outcomes(bench, task_id) == {"terms": "declined"}


FORMS_ALONE = EVERYTHING
SKIPPED = [
    ("url", FORMS_ALONE, "terms", "elicitation.url"),
    ("sampling", FORMS_ALONE, "slogan", "model (--answer-with)"),
    ("roots", FORMS_ALONE, "folders", "folders (--root)"),
    ("fields", TASKS_ONLY, "session", "elicitation.form"),
]


@pytest.mark.parametrize(("only", "capabilities", "key", "lacking"), SKIPPED)
def test_what_the_call_did_not_declare_is_not_asked_and_said_so(
    bench: Bench, only: str, capabilities: Json, key: str, lacking: str
) -> None:
    task_id = begin(bench, capabilities, only=only)
    assert outcomes(bench, task_id) == {key: "skipped"}
    said = f"{key}: skipped: the call offers no {lacking}"
    assert result_of(bench, task_id)["content"][0]["text"] == said
    assert list(asked(bench, begin(bench, EVERY_KIND, only=only))) == [key]


def test_a_decline_is_asked_about_once_more_and_only_once(bench: Bench) -> None:
    task_id = begin(bench, only="declined")
    assert list(asked(bench, task_id)) == ["letters"]
    answer(bench, task_id, letters=DECLINED)
    assert list(asked(bench, task_id)) == ["letters-again"]
    answer(bench, task_id, **{"letters-again": DECLINED})
    assert outcomes(bench, task_id) == {"letters": "declined", "letters-again": "declined"}
